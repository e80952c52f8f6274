"""Exports over the routes, as the browser requests them."""

import base64
import io
import json
import re
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest
from msgspec import to_builtins
from starlette.testclient import TestClient

from headlight.rendering.plots import COLOUR_RANGES, PLOTS
from headlight_app.contract.question import Variant
from headlight_app.contract.state import MAX_ADDRESS_LENGTH, State
from headlight_app.explore.answers.head_view import head_view
from headlight_app.inference.resolved_question import resolve
from headlight_app.state.url import decode_state
from tests.app.asking import ask_route, make_question, unpack
from tests.app.export.test_pdf import ALL, figure

TEXT = "the cat sat on the mat"
EDIT = "decoder.1.self.weights[3]=set:0"
HOSTILE = "</script><b>x</b> & \u2028 שלום 😀"


def test_a_link_holds_the_whole_state(client: TestClient) -> None:
    state = State(
        model="next",
        text=TEXT,
        variant=Variant(masks="none"),
        layer=1,
        heads=("0.1", "1.2"),
        quantity="scores",
        masked_positions=(2,),
        edits=("a=b",),
    )
    meta, _ = ask_route(client, "link", state=to_builtins(state))
    read = {name: values[0] for name, values in parse_qs(meta["query"], keep_blank_values=True).items()}
    assert decode_state(read) == state
    assert meta["omitted"] == []


def test_a_link_has_a_source_only_where_the_model_reads_one(client: TestClient) -> None:
    for model, source, said in (("next", "", False), ("both", "", True), ("both", "a", True)):
        meta, _ = ask_route(client, "link", state=to_builtins(State(model=model, source=source)))
        assert ("source" in parse_qs(meta["query"], keep_blank_values=True)) == said


def test_a_link_says_what_is_too_long_for_it(client: TestClient) -> None:
    meta, _ = ask_route(client, "link", model="next", text="x" * (MAX_ADDRESS_LENGTH + 1), layer=1)
    assert meta["omitted"] == ["text"] and "layer=1" in meta["query"]


@pytest.mark.parametrize("form", ["csv", "json", "npz"])
def test_numbers_come_as_a_file(client: TestClient, form: str) -> None:
    meta, content = ask_route(
        client, "export_numbers", model="next", text=TEXT, format=form, path="decoder.1.self.weights[3]"
    )
    assert meta["name"] == f"decoder-1-self-weights-3.{form}"
    made = head_view(resolve(make_question("next", TEXT)), State(layer=1, head=3))
    if form == "npz":
        with np.load(io.BytesIO(content)) as file:
            np.testing.assert_array_equal(file["values"], np.nan_to_num(made.values))
    picture, content = ask_route(client, "export_numbers", model="next", text=TEXT, format=form, layer=1, head=3)
    assert picture["name"] == f"layer1-head3-weights.{form}"
    if form == "json":
        read = np.array(json.loads(content)["values"], dtype=np.float32)
        np.testing.assert_array_equal(read, made.values)


def test_numbers_say_what_made_them(client: TestClient) -> None:
    choices = {"edits": [EDIT], "positional_encoding": "alibi", "layer": 1, "head": 3}
    _, content = ask_route(client, "export_numbers", model="next", text=TEXT, format="json", **choices)
    fields = json.loads(content)["provenance"]
    assert (fields["model"], fields["text"], len(fields["model_sha256"])) == ("next", TEXT, 64)
    assert (fields["edits"], fields["heads"]) == ([EDIT], [[1, 3]])
    assert (fields["mask"], fields["positional_encoding"], fields["shown"]) == ("causal", "alibi", "attention weight")
    _, content = ask_route(client, "export_numbers", model="next", text=TEXT, format="csv", **choices)
    lines = content.decode().splitlines()
    assert lines[: len(fields)] == [line for line in lines if line.startswith("# ")]


def test_what_cannot_be_taken_away_gets_a_sentence(client: TestClient) -> None:
    for route, body, said in (
        ("export_numbers", {"format": "xls"}, "xls"),
        ("export_numbers", {"format": "csv", "path": 3}, "path"),
        ("export_numbers", {"format": "csv", "path": "a b"}, "is not a value"),
        ("export_page", {"quantity": "minus_trained"}, "Nothing is changed"),
        ("export_code", {"quantity": "minus_text"}, "Type the text"),
    ):
        meta, content = ask_route(client, route, model="next", text=TEXT, **body)
        assert said in meta["error"] and not content
    assert ask_route(client, "export_pdf")[0]["error"] == "The question lacks a field: figure."


def test_a_figure_comes_as_pdf(client: TestClient) -> None:
    meta, content = ask_route(client, "export_pdf", figure=figure(*ALL))
    assert meta == {"name": "headlight.pdf", "type": "application/pdf"}
    assert content.startswith(b"%PDF-")


def test_the_program_is_there_in_both_languages(client: TestClient) -> None:
    meta, _ = ask_route(client, "export_code", model="next", text=TEXT, layer=1)
    assert 'path = f"decoder.{layer}.self"' in meta["python"]
    assert meta["shell"].startswith("headlight trace --model next")


def saved(client: TestClient, **body: Any) -> str:
    meta, content = ask_route(client, "export_page", model="next", **body)
    assert meta == {"name": "headlight.html", "type": "text/html"}
    return content.decode("utf-8")


def test_a_saved_page_holds_the_picture_with_exact_numbers(client: TestClient) -> None:
    view_key = json.dumps({"quantity": "scores", "layer": 1, "head": 2})
    page = saved(client, text=TEXT, layer=1, head=2, quantity="scores", view_key=view_key)
    found = re.search(r"const META = (.*);\n", page)
    assert found
    meta = json.loads(found[1])
    assert [kind["name"] for kind in meta["quantities"]] == ["weights", "scores"]
    assert {plot["name"] for plot in meta["plots"]} == set(PLOTS) and meta["metrics"]
    assert [row["name"] for row in meta["colour_ranges"]] == list(COLOUR_RANGES)
    assert meta["state"]["layer"] == 1 and meta["state"]["text"] == TEXT
    assert meta["predictions"][0]["candidates"]
    shape, numbers = unpack(base64.b64decode(meta["saved_views"][f"view {view_key}"]))
    made = head_view(resolve(make_question("next", TEXT)), State(layer=1, head=2, quantity="scores"))
    read = np.frombuffer(numbers, "<f4", made.values.size).reshape(made.values.shape)
    np.testing.assert_array_equal(read, made.values)
    assert shape["per_head"] == 1


def test_a_saved_page_says_what_was_changed(client: TestClient) -> None:
    page = saved(client, text=TEXT, edits=["decoder.1.self.weights[3]=set:0"], attention_function="hardmax")
    assert '"edits": ["decoder.1.self.weights[3]=set:0"]' in page and "Hard (argmax) instead of Softmax" in page


def test_a_saved_page_asks_for_nothing_and_its_text_is_no_markup(client: TestClient) -> None:
    page = saved(client, text=HOSTILE, view_key=HOSTILE)
    assert page.count("<script>") == page.count("</script>") == 1
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//|@import|\burl\((?!["']?(?:data:|#))""", page)
