"""Where to read on: the papers behind the course, and explanations by others."""

from __future__ import annotations

from model.course.pictures import TablePicture, row
from model.course.screen import Answer, Screen

PAPERS = (
    ("Vaswani et al. 2017", "Attention Is All You Need", "arXiv:1706.03762", "the Transformer"),
    (
        "Bahdanau et al. 2015",
        "Neural Machine Translation by Jointly Learning to Align and Translate",
        "arXiv:1409.0473",
        "attention before it",
    ),
    ("Sennrich et al. 2016", "Neural Machine Translation of Rare Words with Subword Units", "arXiv:1508.07909", "BPE"),
    ("Mikolov et al. 2013", "Efficient Estimation of Word Representations in Vector Space", "arXiv:1301.3781", "CBOW"),
    ("Bojanowski et al. 2017", "Enriching Word Vectors with Subword Information", "arXiv:1607.04606", "FastText"),
    ("Devlin et al. 2019", "BERT: Pre-training of Deep Bidirectional Transformers", "arXiv:1810.04805", "masking"),
    ("Raffel et al. 2020", "Exploring the Limits of Transfer Learning (T5)", "arXiv:1910.10683", "relative bias"),
    ("Dosovitskiy et al. 2021", "An Image is Worth 16x16 Words (ViT)", "arXiv:2010.11929", "patches"),
    ("Su et al. 2021", "RoFormer: Rotary Position Embedding", "arXiv:2104.09864", "RoPE"),
    ("Press et al. 2022", "Train Short, Test Long", "arXiv:2108.12409", "ALiBi"),
    ("Katharopoulos et al. 2020", "Transformers are RNNs", "arXiv:2006.16236", "linear attention"),
    ("Xiong et al. 2020", "On Layer Normalization in the Transformer Architecture", "arXiv:2002.04745", "pre-norm"),
)
EXPLANATIONS = (
    ("Alammar 2018", "The Illustrated Transformer", "jalammar.github.io", "pictures of every step"),
    ("Rush 2018", "The Annotated Transformer", "nlp.seas.harvard.edu", "the paper, line by line in code"),
    ("Sanderson 2024", "Attention in transformers (3Blue1Brown)", "3blue1brown.com", "an animated film"),
    ("Karpathy 2023", "Let's build GPT: from scratch, in code", "karpathy.ai", "a film in which a model is written"),
    ("Jurafsky and Martin", "Speech and Language Processing", "web.stanford.edu/~jurafsky/slp3", "a textbook"),
)


def reading() -> Answer:
    """Papers and explanations, as plain text that can be cited without a network."""
    return (
        row(TablePicture(title="Papers", columns=("authors", "title", "where", "on"), rows=PAPERS)),
        row(TablePicture(title="Explanations", columns=("by", "title", "where", "what it is"), rows=EXPLANATIONS)),
    )


READING = Screen(
    title="Where to read on",
    lesson="The papers that the chapters rest on, to be found by their arXiv number, and explanations by others: in "
    "pictures, in code, as a film or a book.",
    compute=reading,
    code=(reading,),
)
