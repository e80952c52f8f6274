"""Where to read on: the papers behind the course, and explanations by others."""

from __future__ import annotations

from dataclasses import dataclass

from headlight.course.pictures import Row, TablePicture, row
from headlight.course.screen import Answer


@dataclass(frozen=True)
class Source:
    """What one may read: what it is about, by whom, its title, and where it is found."""

    subject: str
    authors: str
    title: str
    place: str
    address: str


def _arxiv(subject: str, authors: str, title: str, number: str) -> Source:
    return Source(subject, authors, title, f"arXiv {number}", f"https://arxiv.org/abs/{number}")


PAPERS = (
    _arxiv("Transformer", "Vaswani et al. 2017", "Attention Is All You Need", "1706.03762"),
    _arxiv(
        "attention before it",
        "Bahdanau et al. 2015",
        "Neural Machine Translation by Jointly Learning to Align and Translate",
        "1409.0473",
    ),
    _arxiv("BPE", "Sennrich et al. 2016", "Neural Machine Translation of Rare Words with Subword Units", "1508.07909"),
    _arxiv("CBOW", "Mikolov et al. 2013", "Efficient Estimation of Word Representations in Vector Space", "1301.3781"),
    Source(
        "GloVe",
        "Pennington et al. 2014",
        "GloVe: Global Vectors for Word Representation",
        "ACL D14-1162",
        "https://aclanthology.org/D14-1162/",
    ),
    _arxiv("FastText", "Bojanowski et al. 2017", "Enriching Word Vectors with Subword Information", "1607.04606"),
    Source(
        "GPT",
        "Radford et al. 2018",
        "Improving Language Understanding by Generative Pre-Training",
        "openai.com",
        "https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf",
    ),
    Source(
        "GPT-2",
        "Radford et al. 2019",
        "Language Models are Unsupervised Multitask Learners",
        "openai.com",
        "https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf",
    ),
    _arxiv("BERT", "Devlin et al. 2019", "BERT: Pre-training of Deep Bidirectional Transformers", "1810.04805"),
    _arxiv("T5", "Raffel et al. 2020", "Exploring the Limits of Transfer Learning", "1910.10683"),
    _arxiv("ViT", "Dosovitskiy et al. 2021", "An Image is Worth 16x16 Words", "2010.11929"),
    _arxiv("RoPE", "Su et al. 2021", "RoFormer: Enhanced Transformer with Rotary Position Embedding", "2104.09864"),
    _arxiv("ALiBi", "Press et al. 2022", "Train Short, Test Long", "2108.12409"),
    _arxiv("linear attention", "Katharopoulos et al. 2020", "Transformers are RNNs", "2006.16236"),
    _arxiv("layer norm", "Ba et al. 2016", "Layer Normalization", "1607.06450"),
    _arxiv("pre-norm", "Xiong et al. 2020", "On Layer Normalization in the Transformer Architecture", "2002.04745"),
    _arxiv("induction heads", "Olsson et al. 2022", "In-context Learning and Induction Heads", "2209.11895"),
)
EXPLANATIONS = (
    Source(
        "in pictures",
        "Alammar 2018",
        "The Illustrated Transformer",
        "jalammar.github.io",
        "https://jalammar.github.io/illustrated-transformer/",
    ),
    Source(
        "in code",
        "Rush 2018",
        "The Annotated Transformer",
        "nlp.seas.harvard.edu",
        "https://nlp.seas.harvard.edu/annotated-transformer/",
    ),
    Source(
        "as a film",
        "Sanderson 2024",
        "Attention in transformers (3Blue1Brown)",
        "3blue1brown.com",
        "https://www.3blue1brown.com/lessons/attention",
    ),
    Source(
        "as a film",
        "Karpathy 2023",
        "Let's build GPT: from scratch, in code",
        "karpathy.ai",
        "https://karpathy.ai/zero-to-hero.html",
    ),
    Source(
        "as an essay",
        "Wolfe 2023",
        "Decoder-Only Transformers: The Workhorse of Generative LLMs",
        "cameronrwolfe.substack.com",
        "https://cameronrwolfe.substack.com/p/decoder-only-transformers-the-workhorse",
    ),
    Source(
        "sinusoids as rotations",
        "Denk 2019",
        "Linear Relationships in the Transformer's Positional Encoding",
        "blog.timodenk.com",
        "https://blog.timodenk.com/linear-relationships-in-the-transformers-positional-encoding/",
    ),
    Source(
        "as a course",
        "Manning and others",
        "CS224N: Natural Language Processing with Deep Learning",
        "web.stanford.edu",
        "https://web.stanford.edu/class/cs224n/",
    ),
    Source(
        "as a book",
        "Jurafsky and Martin",
        "Speech and Language Processing",
        "web.stanford.edu",
        "https://web.stanford.edu/~jurafsky/slp3/",
    ),
)


def reading() -> Answer:
    """Papers and explanations, with what one needs to find them without a network, too."""
    return (
        _listed("Papers", ("on", "paper", "where"), PAPERS),
        _listed("Explanations", ("how", "by whom", "where"), EXPLANATIONS),
    )


def _listed(title: str, columns: tuple[str, ...], sources: tuple[Source, ...]) -> Row:
    rows = tuple((each.subject, f"{each.authors}: {each.title}", each.place) for each in sources)
    return row(TablePicture(title=title, columns=columns, rows=rows, addresses=tuple(each.address for each in sources)))
