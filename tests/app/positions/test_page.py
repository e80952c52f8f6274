"""The Positions page: the positional encoding in charts, with its formula and code."""

import pytest

from model.nn.positional_encodings import POSITIONAL_ENCODINGS
from tests.app.pages import alone

MODELS = ("next", "masked", "both")


@pytest.mark.parametrize("encoding", sorted(set(POSITIONAL_ENCODINGS) - {"disentangled"}))
@pytest.mark.parametrize("model", MODELS)
def test_every_positional_encoding_is_explained_and_drawn(model: str, encoding: str) -> None:
    at = alone("positions", model=model, positional_encoding=encoding)
    assert not at.exception
    row = POSITIONAL_ENCODINGS[encoding]
    assert row.description in [markdown.value for markdown in at.markdown]
    assert [latex.value.strip("$\n") for latex in at.latex] == ([row.formula] if row.formula else [])
    assert at.code[0].value.startswith(f"class {row.__name__}(")
    assert at.get("plotly_chart") or at.info or encoding == "none"


@pytest.mark.parametrize(
    ("encoding", "words"), [("learned", "no position embeddings"), ("relative", "no relative position biases")]
)
def test_a_new_table_is_called_by_its_name(encoding: str, words: str) -> None:
    """The model was trained with rotations: whatever table it gets instead is new."""
    said = [info.value for info in alone("positions", model="next", positional_encoding=encoding).info]
    assert sum(words in sentence for sentence in said) == 1
    assert not any("newly initialised" in sentence and words not in sentence for sentence in said)


def test_a_trained_bias_is_drawn() -> None:
    at = alone("positions", model="both")
    assert not at.info
    assert {heading.value for heading in at.subheader} >= {"Bias over distance", "Bias of one head"}
