"""The Positions page: charts of the positional encoding, with its formula and code."""

import json
import math

import pytest
from msgspec.structs import replace

from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.paths import assets_dir
from headlight_app.contract.question import Question
from headlight_app.positions.contract import LossRow, LossTable, MeasuredLoss
from headlight_app.positions.losses import table_html
from tests.app.pages import alone
from tests.sampling import each_once

MODELS = ("next", "masked", "both")


@pytest.mark.parametrize(("model", "encoding"), each_once(MODELS, sorted(POSITIONAL_ENCODINGS)))
def test_every_positional_encoding_is_explained_and_drawn(model: str, encoding: str) -> None:
    at = alone("positions", model=model, positional_encoding=encoding)
    assert not at.exception
    row = POSITIONAL_ENCODINGS[encoding]
    assert row.description in [markdown.value for markdown in at.markdown]
    assert [latex.value.strip("$\n") for latex in at.latex] == ([row.formula] if row.formula else [])
    assert any(code.value.startswith(f"class {row.__name__}(") for code in at.code)
    assert at.get("bidi_component")


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("learned", "a vector for each position"),
        ("relative", "a number for each head"),
        ("disentangled", "a vector for each range of distances"),
    ],
)
def test_what_was_never_learned_is_explained(encoding: str, words: str) -> None:
    """The model was trained with rotations: any table that replaces them is untrained."""
    at = alone("positions", model="next", positional_encoding=encoding)
    (said,) = [info.value for info in at.info]
    assert words in said and "without positional encoding" in said and f'positional_encoding = "{encoding}"' in said


def test_what_was_measured_is_shown_as_it_stands_in_the_files() -> None:
    at = alone("positions", model="next")
    assert not at.exception
    tables = [each.proto.body for each in at.get("html") if "<table" in each.proto.body]
    files = sorted((assets_dir() / "positions").glob("*.json"))
    assert len(tables) == len(files) > 0
    for table, file in zip(tables, files, strict=True):
        measured = json.loads(file.read_text())
        for row in measured["models"]:
            assert POSITIONAL_ENCODINGS[row["positional_encoding"]].title in table
            for loss in (*row["losses"], row["shuffled"]):
                assert (bits(loss) if loss else "no such positions") in table
        assert measured["command"] in [code.value for code in at.code]


def test_the_losses_of_encoders_are_said_to_be_of_masked_tokens() -> None:
    told = [caption.value for caption in alone("positions", model="next").caption if "are predicted" in caption.value]
    of_encoders = [said for said in told if "masked tokens are predicted" in said]
    assert len(told) == 2 and len(of_encoders) == 1 and "Do not compare them with a decoder's" in of_encoders[0]


def bits(loss: dict[str, float]) -> str:
    """A loss given in nats, as the page shows it in bits."""
    mean, error = (loss[name] / math.log(2) for name in ("mean", "standard_error"))
    return f"{mean:.3f}<small>± {error:.3f}"


def test_the_open_model_is_marked_and_a_table_that_ends_says_so() -> None:
    loss = MeasuredLoss(mean=3.25, standard_error=0.01)
    row = LossRow(question=Question(model="positions-decoder-learned"), title="<b>", losses=(loss, None), shuffled=loss)
    table = LossTable(
        architecture="decoder",
        lengths=(128, 256),
        rows=(row, replace(row, question=Question(model="other"))),
        target_count=1,
        seed_spread=(),
        command="",
    )
    html = table_html(table, "positions-decoder-learned")
    assert html.count('class="open"') == 1 and html.count("no such positions") == 2 and "undefined" not in html
    assert "&lt;b&gt;" in html and "2 × as long" in html and "3.250<small>± 0.010" in html
