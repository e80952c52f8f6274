"""Where to read on: the papers behind the course, and explanations by others."""

from __future__ import annotations

from model.course.pictures import TablePicture, row
from model.course.screen import Answer, Screen

PAPERS = (
    ("Transformer", "Vaswani et al. 2017", "Attention Is All You Need", "1706.03762"),
    (
        "attention before it",
        "Bahdanau et al. 2015",
        "Neural Machine Translation by Jointly Learning to Align and Translate",
        "1409.0473",
    ),
    ("BPE", "Sennrich et al. 2016", "Neural Machine Translation of Rare Words with Subword Units", "1508.07909"),
    ("CBOW", "Mikolov et al. 2013", "Efficient Estimation of Word Representations in Vector Space", "1301.3781"),
    ("FastText", "Bojanowski et al. 2017", "Enriching Word Vectors with Subword Information", "1607.04606"),
    ("BERT", "Devlin et al. 2019", "BERT: Pre-training of Deep Bidirectional Transformers", "1810.04805"),
    ("T5", "Raffel et al. 2020", "Exploring the Limits of Transfer Learning", "1910.10683"),
    ("ViT", "Dosovitskiy et al. 2021", "An Image is Worth 16x16 Words", "2010.11929"),
    ("RoPE", "Su et al. 2021", "RoFormer: Enhanced Transformer with Rotary Position Embedding", "2104.09864"),
    ("ALiBi", "Press et al. 2022", "Train Short, Test Long", "2108.12409"),
    ("linear attention", "Katharopoulos et al. 2020", "Transformers are RNNs", "2006.16236"),
    ("pre-norm", "Xiong et al. 2020", "On Layer Normalization in the Transformer Architecture", "2002.04745"),
)
EXPLANATIONS = (
    ("in pictures", "Alammar 2018", "The Illustrated Transformer", "jalammar.github.io"),
    ("in code", "Rush 2018", "The Annotated Transformer", "nlp.seas.harvard.edu"),
    ("as a film", "Sanderson 2024", "Attention in transformers (3Blue1Brown)", "3blue1brown.com"),
    ("as a film", "Karpathy 2023", "Let's build GPT: from scratch, in code", "karpathy.ai"),
    ("as a book", "Jurafsky and Martin", "Speech and Language Processing", "web.stanford.edu"),
)


def reading() -> Answer:
    """Papers and explanations, as plain text that can be cited without a network."""
    papers = tuple((subject, f"{authors}: {title}", number) for subject, authors, title, number in PAPERS)
    explanations = tuple((kind, f"{author}: {title}", place) for kind, author, title, place in EXPLANATIONS)
    return (
        row(TablePicture(title="Papers", columns=("on", "paper", "arXiv"), rows=papers)),
        row(TablePicture(title="Explanations", columns=("how", "by whom", "where"), rows=explanations)),
    )


READING = Screen(
    title="Where to read on",
    lesson="The papers that the chapters rest on, to be found by their arXiv number, and explanations by others: in "
    "pictures, in code, as a film or a book.",
    compute=reading,
    code=(reading,),
)
