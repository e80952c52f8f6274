"""Where a visitor meets the additions; `tests/test_how_to_add.py` runs these tests in a copy that has been added to."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
import torch
from starlette.testclient import TestClient

from headlight import UnknownNameError, candidates, head_metrics, run, variant
from headlight.checkpoints import save
from headlight.checkpoints.refusals import refusal
from headlight.nn.masks import MASKS
from headlight.questions.marking import GIVE_UP
from headlight.rendering.html import show_trace
from headlight_app.contract.question import Variant
from headlight_app.contract.state import State
from headlight_app.explore.answers.head_view import head_view
from headlight_app.frame.main import TITLES
from headlight_app.inference.attention_payload import predictions
from headlight_app.inference.resolved_question import resolve
from headlight_app.inference.source_code import code_sections
from headlight_app.state.url import decode_state, encode_state
from tests.app.asking import ask_page, ask_route, ask_views, ask_worker, make_question
from tests.app.pages import alone, component_data
from tests.model import toys
from tests.shell import Shell

TEXT = "the cat sat on the mat"


@pytest.fixture(scope="module")
def pages() -> dict[str, dict[str, Any]]:
    """The data of the pages Explore and Compare; filled by `data_of`, each opened once."""
    return {}


def data_of(page: str, pages: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The data of a page for the model "next"."""
    if page not in pages:
        pages[page] = component_data(alone(page, model="next").main)
    return pages[page]


def explore(**query: str) -> dict[str, Any]:
    """The data of Explore at an address."""
    return component_data(alone("explore", model="next", **query).main)


def named(rows: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """The only row of this name."""
    (row,) = (row for row in rows if row["name"] == name)
    return row


def is_written_in_the_address(**fields: Any) -> bool:
    """Whether the address of a state with these fields says them, and is understood."""
    state = State(model="next", **fields)
    return len(encode_state(state)) > 1 and decode_state(encode_state(state)) == state


def help_of(verb: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The help of a verb of the command."""
    with pytest.raises(SystemExit):
        Shell(capsys)([verb, "--help"])
    return capsys.readouterr().out


def test_a_mask_with_an_argument(pages: dict[str, dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
    weights = run(variant(toys.decoder(), masks="causal+every:2"), toys.causal(), TEXT).attention()
    assert (weights[..., 1::2, 0::2] == 0).all() and (weights[..., 0::2, 0::2].sum(-1) > 0.99).all()
    variants, compare = data_of("explore", pages)["variants"], data_of("compare", pages)
    (masks,) = (field for field in variants["fields"] if field["field"] == "masks")
    assert ["every", "Every n-th"] in masks["options"] and ["causal+every", "Causal + every n-th"] in masks["options"]
    argument = {"title": "Step", "default": "3", "control": "number", "limits": [2, 9]}
    assert variants["mask_arguments"]["every"] == argument
    assert compare["parts"]["masks"]["names"]["every"] == "Every n-th"
    assert compare["mask_arguments"]["every"]["default"] == "3"
    assert is_written_in_the_address(variant=Variant(masks="every:3"))
    config = resolve(State(model="next", variant=Variant(masks="every:3")).question(TEXT)).config
    sections = [section for section in code_sections(config) if "def every" in section.code]
    assert [section.formula for section in sections] == [MASKS["every"].formula]
    with pytest.raises(UnknownNameError, match="every"):
        variant(toys.decoder(), masks="nothing")
    assert "every:3" in help_of("trace", capsys)


def test_a_positional_encoding(pages: dict[str, dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
    trace = run(variant(toys.decoder(), positional_encoding="reversed"), toys.causal(), TEXT)
    assert (trace["decoder.0.self.bias"][0, 5] == trace.config.context_length - torch.arange(7).numpy()).all()
    assert json.dumps(["reversed", "Reversed"]) in json.dumps(data_of("explore", pages)["variants"]["fields"])
    assert data_of("compare", pages)["parts"]["positional_encoding"]["names"]["reversed"] == "Reversed"
    positions = alone("positions", model="next", positional_encoding="reversed")
    assert not positions.exception and "class Reversed(" in positions.code[-1].value
    shown, _ = ask_worker("views", page="positions", model="next", positional_encoding="reversed")
    assert "Adds how far a token is from the last position." in [row["text"] for row in shown["rows"]]
    assert ["T - i"] in [view.get("lines") for row in shown["rows"] for view in row["views"]]
    assert is_written_in_the_address(variant=Variant(positional_encoding="reversed"))
    with pytest.raises(UnknownNameError, match="reversed"):
        variant(toys.decoder(), positional_encoding="nothing")
    assert "reversed" in help_of("trace", capsys) and "reversed" in help_of("train", capsys)


def test_an_edit_operation(pages: dict[str, dict[str, Any]]) -> None:
    edit = "decoder.1.self.weights[0]=clip:0.25"
    trace = run(toys.decoder(), toys.causal(), TEXT, [edit])
    assert trace["decoder.1.self.weights"][0].max() <= 0.25 < trace["decoder.1.self.weights"][1].max()
    row = named(data_of("explore", pages)["operations"], "clip")
    assert (row["title"], row["description"]) == ("at most", "at most {number}")
    assert is_written_in_the_address(edits=(edit,))
    with pytest.raises(UnknownNameError, match="clip"):
        run(toys.decoder(), toys.causal(), TEXT, ["decoder.1.self.weights[0]=nothing:0.25"])


def test_a_hook_point(pages: dict[str, dict[str, Any]]) -> None:
    path = "decoder.embedding_sum"
    trace, edited = (run(toys.decoder(), toys.causal(), TEXT, edits) for edits in ([], [f"{path}[1]=set:2"]))
    parts = trace["decoder.embedding"] + trace["decoder.position_embedding"]
    np.testing.assert_array_equal(trace[path], parts)
    assert (edited[path][1] == 2).all() and (edited["logits"][1] != trace["logits"][1]).any()
    assert data_of("explore", pages)["hook_points"]["embedding_sum"] == {
        "axes": ["pos", "d_model"],
        "title": "Sum of the embeddings",
        "edited_in": ["stack"],
        "edit_sentences": [
            {
                "text": "The embeddings of token {pos} are {number}",
                "operation": "set",
                "indices": ["pos"],
                "number": None,
            }
        ],
    }
    assert is_written_in_the_address(edits=(f"{path}[1]=set:2",))
    with pytest.raises(UnknownNameError, match="embedding_sum"):
        run(toys.decoder(), toys.causal(), TEXT, ["decoder.nothing=set:2"])


def test_a_head_metric(pages: dict[str, dict[str, Any]], shell: Shell, client: TestClient) -> None:
    name = "two-tokens-before"
    trace = run(toys.decoder(), toys.causal(), TEXT)
    shares = trace.attention().diagonal(-2, -2, -1).mean(-1)
    np.testing.assert_allclose(head_metrics(trace)[name], shares, rtol=1e-5)
    assert named(data_of("explore", pages)["metrics"], name)["title"] == "Two tokens before"
    (group,) = ask_route(client, "trace", model="next", text=TEXT)[0]["attention_groups"]
    assert len(group["metrics"][name]) == 8
    rows = [row.split() for row in shell(["metrics", TEXT, "--model", "ladder-1-attention"]).splitlines()]
    assert name in [row[0] for row in rows if row]
    assert is_written_in_the_address(sort=name)


def test_a_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model with the new output head predicts, and its page has the task's own titles and examples."""
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))
    save(tmp_path / "rhymes", toys.decoder(output_head="rhyme"), toys.causal())
    resolved = resolve(make_question("rhymes", TEXT))
    trace = run(resolved.model, resolved.tokenizer, TEXT)
    assert candidates(trace, resolved.tokenizer)[0].probability > 0
    assert [prediction.title for prediction in predictions(resolved, -1)] == ["Next rhyme"]
    examples = component_data(alone("explore", model="rhymes").main)["examples"]
    assert [example["text"] for example in examples] == ["moon and June"]


def test_a_checkpoint_family(shell: Shell) -> None:
    assert "seed_oss" in shell(["models", "--families"]).splitlines()
    assert "The nearest family that opens is seed_oss." in refusal("my_own", "SeedOssForCausalLM")


def test_a_screen(client: TestClient) -> None:
    chapter = ask_route(client, "course_chapter", chapter="heads")[0]
    screen = named(chapter["screens"], "counted")
    assert (screen["title"], screen["formulas"]) == ("How many weights?", ["h\\,n^2"])
    rows = ask_route(client, "course_screen", chapter="heads", screen="counted", inputs={"heads": "2"})[0]["rows"]
    assert [picture["series"] for row in rows for picture in row["views"]] == [{"": [256, 512]}]
    place = {"chapter": "heads", "screen": "counted", "course_inputs": "counted.heads=2"}
    assert component_data(alone("course", model="next", **place).main)["state"] == place


def test_a_quantity() -> None:
    menu = explore(quantity="doubled")
    assert menu["state"]["quantity"] == "doubled" and named(menu["quantities"], "doubled")["title"] == "Doubled"
    resolved = resolve(make_question("next", TEXT))
    plain, twice = (head_view(resolved, State(quantity=name)).values for name in ("weights", "doubled"))
    assert plain[0, 0] > 0 and twice[0, 0] == 2 * plain[0, 0]


def test_a_plot(pages: dict[str, dict[str, Any]]) -> None:
    row = {"name": "bars", "title": "Bars", "description": "A bar for each key", "reads": "text"}
    assert row in data_of("explore", pages)["plots"]
    assert row in show_trace(run(toys.decoder(), toys.causal(), TEXT)).meta["plots"]
    assert is_written_in_the_address(plot="bars")


def test_an_analysis() -> None:
    data = explore(tab="layers", analysis="words")
    assert data["state"]["analysis"] == "words"
    row = named(data["analyses"], "words")
    assert (row["title"], row["lesson"], row["reads"]) == ("Words", "How long each token is.", ["query"])
    (shown,) = ask_views("words", model="next", text=TEXT)
    assert (shown["kind"], shown["series"]["letters"][0]) == ("bars", len(shown["labels"][0]))


def test_a_lesson_shows_an_analysis(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, client: TestClient) -> None:
    lines = ("---", "title: Letters", "minutes: 1", "version: 1", "model: next", f"text: {TEXT}", "---", "Letters.", "")
    step = ("## Count", "", "- view: explore?tab=layers&analysis=words", "- ask: number 3", "- question: How many?")
    (tmp_path / "letters.md").write_text("\n".join((*lines, *step, "- because: It has three.")), encoding="utf-8")
    monkeypatch.setenv("HEADLIGHT_LESSONS", str(tmp_path))
    place = {"lesson": "letters", "step": 0, "seed": 0}
    view = ask_route(client, "lesson_step", **place, tries=[GIVE_UP])[0]["view"]
    data = component_data(alone("explore", **dict(parse_qsl(view.partition("?")[2]))).main)
    assert data["state"]["analysis"] == "words" and named(data["analyses"], "words")


def test_a_task_of_the_page() -> None:
    data = component_data(alone("tasks", model="masked", task="letters").main)
    assert data["state"]["task"] == "letters"
    assert {"name": "letters", "title": "Letters"} in data["task_views"]
    assert named(data["task_analyses"], "letters")["routes"] == ["analysis"]
    (shown,) = ask_views("letters", model="masked", text=TEXT)
    assert shown["below"] == [str(len(token.strip())) for token in shown["tokens"]]


def test_a_page_of_views() -> None:
    data = component_data(alone("sizes", model="next", layer="1").main)
    assert (data["page"], data["state"]) == ("sizes", {"layer": 1})
    assert TITLES["sizes"] == "Sizes"
    (shown,) = ask_page("sizes", model="next")
    assert (shown["kind"], shown["labels"]) == ("bars", ["layers", "heads"])


def test_a_panel() -> None:
    data = explore(tab="notes")
    assert data["state"]["tab"] == "notes"
    assert {"name": "notes", "title": "Notes", "route": "head_view"} in data["tabs"]
