"""HOW_TO_ADD.md, taken literally: one temporary row per registry appears everywhere in the page's choices."""

import json
from dataclasses import replace
from typing import ClassVar

import pytest
import torch

from headlight import UnknownNameError, candidates, run, variant
from headlight.cli.main import main
from headlight.nn.hooks import HOOK_POINTS, EditSentence, HookPoint
from headlight.nn.masks import MASKS, Mask, MaskArgument, QueryKeyPositions
from headlight.nn.output_heads import OUTPUT_HEADS, LanguageModelHead
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS, PositionalEncoding
from headlight.rendering.html import show_trace
from headlight.rendering.plots import PLOTS, Plot
from headlight.tasks import TASKS, Example
from headlight.tracing.interventions import EDIT_OPERATIONS, EditOperation
from headlight_app.contract.question import Variant
from headlight_app.contract.state import State
from headlight_app.explore.answers.head_view import head_view
from headlight_app.explore.answers.quantities import QUANTITIES, Expression, HeadArrays, Quantity, QuantityRequest
from headlight_app.explore.tabs import ANALYSES, TABS, Analysis, Tab
from headlight_app.inference.attention_payload import predictions
from headlight_app.inference.resolved_question import resolve
from headlight_app.inference.source_code import code_sections
from headlight_app.state.url import decode_state, encode_state
from tests.app.asking import make_question
from tests.app.pages import alone, component_data, open_app
from tests.model import toys

TEXT = "the cat sat on the mat"


def allow_every(positions: QueryKeyPositions, step: int) -> torch.Tensor:
    """Keys at a multiple of `step` from the query."""
    return (positions.distance % step == 0)[None, None]


class Reversed(PositionalEncoding):
    """Counts positions from the end."""

    title: ClassVar = "Reversed"
    description: ClassVar = "Adds how far a token is from the last position."
    formula: ClassVar = r"T - i"

    def bias(self, queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        return (self.context_length - keys).float().expand(self.heads, len(queries), len(keys))


@pytest.fixture
def every_third(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Mask(
        title="Every n-th",
        description="Each token attends to every n-th before it.",
        formula=r"m_{ij} = [\,n \mid i - j\,]",
        allowed=allow_every,
        argument=MaskArgument("Step", "3", parse=int, limits=(2, 9)),
    )
    monkeypatch.setitem(MASKS, "every", row)


@pytest.mark.usefixtures("every_third")
def test_a_mask_with_an_argument_is_everywhere() -> None:
    weights = run(variant(toys.decoder(), masks="causal+every:2"), toys.causal(), TEXT).attention()
    assert (weights[..., 1::2, 0::2] == 0).all() and (weights[..., 0::2, 0::2].sum(-1) > 0.99).all()
    sidebar = component_data(open_app(model="next").sidebar)
    (masks,) = (field for field in sidebar["fields"] if field["field"] == "masks")
    assert ["every", "Every n-th"] in masks["options"]
    assert sidebar["mask_arguments"]["every"] == {
        "title": "Step",
        "default": "3",
        "control": "number",
        "limits": [2, 9],
    }
    compare = component_data(alone("compare", model="next").main)
    assert compare["parts"]["masks"]["names"]["every"] == "Every n-th"
    assert compare["mask_arguments"]["every"]["default"] == "3"
    state = State(model="next", variant=Variant(masks="every:3"))
    assert decode_state(encode_state(state)) == state
    sections = code_sections(resolve(state.question(TEXT)).config)
    assert any("allow_every" in section.code and section.formula == MASKS["every"].formula for section in sections)
    with pytest.raises(UnknownNameError, match="every"):
        variant(toys.decoder(), masks="nothing")


def test_a_positional_encoding_is_everywhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(POSITIONAL_ENCODINGS, "reversed", Reversed)
    trace = run(variant(toys.decoder(), positional_encoding="reversed"), toys.causal(), TEXT)
    assert (trace["decoder.0.self.bias"][0, 5] == trace.config.context_length - torch.arange(7).numpy()).all()
    sidebar = component_data(open_app(model="next").sidebar)
    assert json.dumps(["reversed", "Reversed"]) in json.dumps(sidebar["fields"])
    compare = component_data(alone("compare", model="next").main)
    assert compare["parts"]["positional_encoding"]["names"]["reversed"] == "Reversed"
    positions = alone("positions", model="next", positional_encoding="reversed")
    assert not positions.exception
    shown = json.dumps([element.value for element in (*positions.markdown, *positions.latex, *positions.code)])
    assert Reversed.description in shown and "T - i" in shown
    with pytest.raises(SystemExit):
        main(["trace", "--help"])
    assert "reversed" in capsys.readouterr().out


def test_an_edit_operation_is_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    row = EditOperation(lambda selection, number: selection.values.clamp(max=number), "at most", "at most {number}")
    monkeypatch.setitem(EDIT_OPERATIONS, "clip", row)
    trace = run(toys.decoder(), toys.causal(), TEXT, ["decoder.1.self.weights[0]=clip:0.25"])
    assert trace["decoder.1.self.weights"][0].max() <= 0.25 < trace["decoder.1.self.weights"][1].max()
    (row_data,) = (
        row for row in component_data(alone("explore", model="next").main)["operations"] if row["name"] == "clip"
    )
    assert (row_data["title"], row_data["description"]) == ("at most", "at most {number}")
    state = State(model="next", edits=("decoder.1.self.weights[0]=clip:0.25",))
    assert decode_state(encode_state(state)) == state


def test_a_hook_point_is_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = EditSentence("{place} is heated to {number}", "set", ("pos",))
    monkeypatch.setitem(HOOK_POINTS, "heat", HookPoint(("pos",), "Heat", ("layer",), (sentence,)))
    assert component_data(alone("explore", model="next").main)["hook_points"]["heat"] == {
        "axes": ["pos"],
        "title": "Heat",
        "edited_in": ["layer"],
        "edit_sentences": [
            {"text": "{place} is heated to {number}", "operation": "set", "indices": ["pos"], "number": None}
        ],
    }


def test_a_quantity_is_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def doubled(request: QuantityRequest, layer: int) -> HeadArrays:
        weights, allowed = QUANTITIES["weights"].compute(request, layer)
        return 2 * weights, allowed

    row = Quantity("Doubled", "twice the weight", doubled, Expression('2 * trace[f"{path}.weights"][head]'))
    monkeypatch.setitem(QUANTITIES, "doubled", row)
    menu = component_data(alone("explore", model="next", quantity="doubled").main)
    assert menu["state"]["quantity"] == "doubled"
    assert ("doubled", "Doubled") in {(kind["name"], kind["title"]) for kind in menu["quantities"]}
    resolved = resolve(make_question("next", TEXT))
    plain, twice = (head_view(resolved, State(quantity=name)).values for name in ("weights", "doubled"))
    assert plain[0, 0] > 0 and twice[0, 0] == 2 * plain[0, 0]


def test_a_plot_is_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PLOTS, "bars", Plot("Bars", "A bar for each key", reads="text"))
    row = {"name": "bars", "title": "Bars", "description": "A bar for each key", "reads": "text"}
    assert row in component_data(alone("explore", model="next").main)["plots"]
    trace = run(toys.decoder(), toys.causal(), TEXT)
    assert row in show_trace(trace).meta["plots"]


def test_a_tab_is_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TABS, "words", Tab("Words", TABS["layers"].html, TABS["layers"].module))
    data = component_data(alone("explore", model="next", tab="words").main)
    assert data["state"]["tab"] == "words"
    assert {"name": "words", "title": "Words", "module": TABS["layers"].module} in data["tabs"]


def test_an_analysis_is_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    known = ANALYSES["logit_lens"]
    monkeypatch.setitem(ANALYSES, "words", Analysis("Words", known.html, known.module, has_target=True))
    data = component_data(alone("explore", model="next", tab="layers", analysis="words").main)
    assert data["state"]["analysis"] == "words"
    row = {"name": "words", "title": "Words", "module": known.module, "has_target": True}
    assert row | {"of_likeliest": False, "has_attention": False, "of_experts": False} in data["analyses"]


def test_a_task_is_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new output head; its row sets the prediction title and the examples."""
    row = replace(
        TASKS["language-model"], title="rhymes", prediction_title="Next rhyme", examples=(Example("moon and June"),)
    )
    monkeypatch.setitem(OUTPUT_HEADS, "rhyme", LanguageModelHead)
    monkeypatch.setitem(TASKS, "rhyme", row)
    trace = run(toys.decoder(output_head="rhyme"), toys.causal(), TEXT)
    assert trace.logits is not None and candidates(trace, toys.causal())[0].probability > 0
    monkeypatch.setitem(TASKS, "language-model", row)
    (prediction,) = predictions(resolve(make_question("next", TEXT)), -1)
    assert prediction.title == "Next rhyme"
    assert "moon and June" in [
        example["text"] for example in component_data(alone("explore", model="next").main)["examples"]
    ]
