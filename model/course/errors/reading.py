"""Where to read on: the papers behind the course."""

from __future__ import annotations

from model.course.pictures import TablePicture, row
from model.course.screen import Answer, Screen

PAPERS = (
    ("Vaswani et al. 2017", "Attention Is All You Need", "arXiv:1706.03762", "the Transformer"),
    (
        "Bahdanau et al. 2015",
        "Neural Machine Translation by Jointly Learning to Align and Translate",
        "arXiv:1409.0473",
        "before it",
    ),
    ("Devlin et al. 2019", "BERT: Pre-training of Deep Bidirectional Transformers", "arXiv:1810.04805", "masking"),
    ("Raffel et al. 2020", "Exploring the Limits of Transfer Learning (T5)", "arXiv:1910.10683", "relative bias"),
    ("Dosovitskiy et al. 2021", "An Image is Worth 16x16 Words (ViT)", "arXiv:2010.11929", "images as patches"),
    ("Su et al. 2021", "RoFormer: Rotary Position Embedding", "arXiv:2104.09864", "RoPE"),
    ("Press et al. 2022", "Train Short, Test Long (ALiBi)", "arXiv:2108.12409", "bias over distance"),
    ("Katharopoulos et al. 2020", "Transformers are RNNs", "arXiv:2006.16236", "linear attention"),
    ("Xiong et al. 2020", "On Layer Normalization in the Transformer Architecture", "arXiv:2002.04745", "pre-norm"),
    ("Mikolov et al. 2013", "Efficient Estimation of Word Representations in Vector Space", "arXiv:1301.3781", "CBOW"),
)


def reading() -> Answer:
    """The papers, as plain text that can be cited without a network."""
    return (row(TablePicture(columns=("authors", "title", "where", "on"), rows=PAPERS)),)


READING = Screen(
    title="Where to read on",
    lesson="The papers that the chapters rest on, to be found by their arXiv number.",
    compute=reading,
    code=(reading,),
)
