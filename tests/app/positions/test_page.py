"""The Positions page: the positional encoding in charts, with its formula and code."""

import json
import math
from typing import Any

import pytest
from msgspec.structs import replace
from streamlit.testing.v1 import AppTest

from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.paths import assets_dir
from headlight_app.contract.question import Question
from headlight_app.positions.contract import LossRow, LossTable, MeasuredLoss
from headlight_app.positions.losses import table_html
from headlight_app.ui import charts
from tests.app.pages import alone

MODELS = ("next", "masked", "both")
OF_LOSSES = {"Decoders", "Encoders", "Loss over the length of the text"}  # of what was measured, on every page


def headings_of_the_encoding(at: AppTest) -> list[str]:
    """The headings above charts of the encoding that is shown."""
    return [heading.value for heading in at.subheader if heading.value not in OF_LOSSES]


@pytest.mark.parametrize("encoding", sorted(POSITIONAL_ENCODINGS))
@pytest.mark.parametrize("model", MODELS)
def test_every_positional_encoding_is_explained_and_drawn(model: str, encoding: str) -> None:
    at = alone("positions", model=model, positional_encoding=encoding)
    assert not at.exception
    row = POSITIONAL_ENCODINGS[encoding]
    assert row.description in [markdown.value for markdown in at.markdown]
    assert [latex.value.strip("$\n") for latex in at.latex] == ([row.formula] if row.formula else [])
    assert any(code.value.startswith(f"class {row.__name__}(") for code in at.code)
    assert at.get("plotly_chart") or at.info or encoding == "none"


@pytest.mark.parametrize(
    ("encoding", "words", "headings"),
    [
        ("learned", "a vector for each position", []),
        ("relative", "a number for each head", ["Distances that share what is learned"]),
        ("disentangled", "a vector for each range of distances", ["Distances that share what is learned"]),
    ],
)
def test_what_was_never_learned_is_explained_in_place_of_charts_of_zeros(
    encoding: str, words: str, headings: list[str]
) -> None:
    """The model was trained with rotations: whatever table it gets instead is new."""
    at = alone("positions", model="next", positional_encoding=encoding)
    (said,) = [info.value for info in at.info]
    assert words in said and "no positional encoding" in said and f'positional_encoding = "{encoding}"' in said
    assert headings_of_the_encoding(at) == headings


def test_a_trained_bias_is_drawn() -> None:
    at = alone("positions", model="both")
    assert not at.info
    headings = {"Bias over distance", "Bias of one head", "Distances that share what is learned"}
    assert set(headings_of_the_encoding(at)) == headings


def test_a_projector_shows_large_letters() -> None:
    def layout(**query: str) -> dict[str, Any]:
        chart = alone("positions", model="next", **query).get("plotly_chart")[0]
        found: dict[str, Any] = json.loads(chart.proto.spec)["layout"]
        return found

    usual, large = layout(), layout(presenter="1")
    assert "font" not in usual and large["font"]["size"] == charts.PRESENTER_SIZE
    assert large["height"] > usual["height"]


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
                assert (bits(loss) if loss else "undefined") in table
        assert measured["command"] in [code.value for code in at.code]


def bits(loss: dict[str, float]) -> str:
    """A loss in nats as the page shows it."""
    mean, error = (loss[name] / math.log(2) for name in ("mean", "standard_error"))
    return f"{mean:.3f}<small>± {error:.3f}"


def test_the_open_model_is_marked_and_a_table_that_ends_is_undefined() -> None:
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
    assert html.count('class="open"') == 1 and html.count("undefined") == 2
    assert "&lt;b&gt;" in html and "2 × as long" in html and "3.250<small>± 0.010" in html
