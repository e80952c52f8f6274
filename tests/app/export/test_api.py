"""Exports of the pages other than Explore, requested over the routes as the browser does."""

import base64
import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import convert
from starlette.testclient import TestClient

from headlight.rendering.provenance import describe_provenance, provenance
from headlight_app.access.uploads import UploadStore
from headlight_app.contract.question import Question
from headlight_app.engine.client import ask
from headlight_app.engine.job import EngineRequest, VisitorFolder
from headlight_app.explore.answers.export.files import answer_export_page
from headlight_app.explore.answers.export.worksheet import worksheet
from headlight_app.explore.contract import ExportPageRequest, ExportWorksheetRequest
from headlight_app.export.answers.number_files import FILE_FORMATS, LabelledArray, inert
from headlight_app.export.contract import ExportOriginRequest, Side
from headlight_app.inference.context import answering
from headlight_app.inference.origin import question_provenance
from headlight_app.inference.resolved_question import resolve
from tests.app.asking import ask_route, body, make_question
from tests.app.explore.test_export_api import EDIT, TEXT

VALUES = np.array([[1.0, np.nan, 0.25], [0.5, 0.125, 3.0]], np.float32)
TABLE = {
    "name": "compare A layer1-head3",
    "axes": ["query", "key"],
    "labels": [["0 the", "1 =cat"], ["0 the", "1 =cat", "2 sat"]],
    "values": base64.b64encode(VALUES.tobytes()).decode(),
}
WRAPPING_TABLE = {
    "name": "none",
    "axes": ["a", "b", "c", "d"],
    "labels": [[""] * 2**16] * 4,
    "values": "",
}  # 2^64 cells
SIDE = {
    "question": {"model": "next", "text": TEXT, "edits": [EDIT]},
    "attention_group": "decoder.self",
    "heads": [[1, 3]],
}
OTHER = {"question": {"model": "masked", "text": "the dog", "variant": {"positional_encoding": "alibi"}}}


def fields_of(made: Any) -> set[str]:
    return set(made) - {"date"}


def test_the_origin_of_one_run_has_the_fields_of_a_trace(client: TestClient) -> None:
    meta, _ = ask_route(client, "export_origin", sides=[SIDE], shown="what each step attended to")
    found = meta["provenance"]
    traced = dict(provenance(resolve(Question(model="next", text=TEXT, edits=(EDIT,))).trace))
    assert list(found) == list(traced) and len(found["model_sha256"]) == 64
    same = fields_of(found) - {"model", "heads", "attention_group", "shown"}
    assert {name: found[name] for name in same} == {name: traced[name] for name in same}
    assert (found["heads"], found["attention_group"]) == ([[1, 3]], "decoder.self")
    assert found["shown"] == "what each step attended to"
    assert meta["sides"][0][0].startswith("next (SHA-256 ") and meta["hook_points"] and meta["operations"]


def test_two_runs_are_told_apart_field_by_field(client: TestClient) -> None:
    meta, _ = ask_route(client, "export_origin", sides=[SIDE, OTHER], shown="B − A")
    found = meta["provenance"]
    assert (found["side_a_model"], found["side_b_model"]) == ("next", "masked")
    assert (found["side_a_text"], found["side_b_text"]) == (TEXT, "the dog")
    assert (found["side_a_edits"], found["side_b_edits"]) == ([EDIT], [])
    assert (found["side_a_heads"], found["side_b_positional_encoding"]) == ([[1, 3]], "alibi")
    assert len(found) == 2 * 19 + 3 and found["shown"] == "B − A"
    assert [words[0].split()[0] for words in meta["sides"]] == ["next", "masked"]


def _worksheet_request(fields: dict[str, str]) -> ExportWorksheetRequest:
    return convert(body("export_worksheet", **fields), ExportWorksheetRequest)


def _page_request(fields: dict[str, str]) -> ExportPageRequest:
    return convert(body("export_page", **fields), ExportPageRequest)


@pytest.mark.parametrize("name", ["upload-tiny-Xy2", "{toys}/next"])
def test_what_a_visitor_brought_is_called_by_its_title(toys: Path, name: str) -> None:
    folder = str(toys / "next")
    own = VisitorFolder(name.format(toys=toys), "tiny (2)", folder)
    with answering(EngineRequest("", b"", (own,))):
        asked = {"model": own.name, "text": TEXT}
        fields = question_provenance(resolve(make_question(**asked)), "attention weight")
        parts = {"figure": "<svg/>", "link": "http://room/", "line": "line"}
        sheet = worksheet(resolve(make_question(**asked)), _worksheet_request(asked | parts))
        page = answer_export_page(_page_request(asked))
    words = describe_provenance(fields)[0]
    assert fields["model"] == "tiny (2)" and words.startswith("tiny (2) (SHA-256 "), "uploads have all fields"
    assert "What does tiny (2) look at?" in sheet
    document = page.numbers.decode()
    assert "<title>Headlight: tiny (2)</title>" in document
    assert folder not in sheet + words and own.name not in sheet + words


@pytest.mark.parametrize("sides", [[SIDE], [SIDE, OTHER]])
def test_numbers_of_a_page_come_in_every_format_with_their_origin(client: TestClient, sides: list[Any]) -> None:
    def made(form: str) -> bytes:
        meta, content = ask_route(client, "export_table", sides=sides, shown="weights of A", table=TABLE, format=form)
        assert meta["name"] == f"compare-A-layer1-head3.{form}"
        return content

    mine = "model" if len(sides) == 1 else "side_a_model"
    with np.load(io.BytesIO(made("npz")), allow_pickle=False) as file:
        np.testing.assert_array_equal(file["values"], VALUES)
        assert file["labels_key"].tolist() == TABLE["labels"][1] and str(file[mine]) == "next"
        heads = {name: file[name].shape for name in file.files if name.endswith("heads")}
        assert set(heads.values()) <= {(1, 2), (0, 2)}, "an array of pairs, even if empty"
    told = json.loads(made("json"))
    assert told["values"] == [[1.0, None, 0.25], [0.5, 0.125, 3.0]] and told["description"] == "weights of A"
    assert told["provenance"][mine] == "next"
    lines = made("csv").decode().splitlines()
    assert f"# {mine}: next" in lines and lines[-1] == '"1 =cat",0.5,0.125,3.0'


def test_a_checkpoint_that_somebody_brought_has_an_origin_with_its_title(toys: Path, anna: UploadStore) -> None:
    def extract(folder: Path, max_bytes: int) -> Path:
        return shutil.copytree(toys / "next", folder / "mine")

    brought = anna.add_upload("anna", "my tiny model", extract)
    sides = tuple(Side(question=Question(model=name, text=TEXT)) for name in ("next", brought.name))
    for request in (ExportOriginRequest(sides=sides), ExportOriginRequest(sides=sides[::-1])):
        told = ask(request).answer
        assert {words[0].partition(" (")[0] for words in told.sides} == {"next", "my tiny model"}
        assert brought.name not in str(told.provenance)


def test_positions_have_an_origin_without_a_text(client: TestClient) -> None:
    meta, _ = ask_route(client, "export_origin", sides=[{"question": {"model": "both"}}], shown="Bias")
    assert meta["provenance"]["text"] == "" and "relative" in meta["provenance"]["positional_encoding"]


@pytest.mark.parametrize(
    ("route", "body", "said"),
    [
        ("export_origin", {}, "lacks a field: sides"),
        ("export_origin", {"sides": []}, "expected the runs that a page shows, at most 8"),
        ("export_origin", {"sides": [SIDE] * 9}, "expected the runs that a page shows, at most 8"),
        ("export_origin", {"sides": [SIDE | {"heads": [[1]]}]}, "heads"),
        ("views", {"model": "both", "page": "nowhere"}, "nowhere"),
        ("views", {"model": "both", "page": "positions", "known": ["x"] * 1_001}, "known"),
        ("export_table", {"sides": [SIDE], "format": "csv"}, "lacks a field: table"),
        ("export_table", {"sides": [SIDE], "format": "xls", "table": TABLE}, "xls"),
        (
            "export_table",
            {"sides": [SIDE], "format": "csv", "table": TABLE | {"labels": [["a"], ["b"]]}},
            "a number for",
        ),
        ("export_table", {"sides": [SIDE], "format": "csv", "table": TABLE | {"name": "../x"}}, "name"),
        ("export_table", {"sides": [SIDE], "format": "csv", "table": WRAPPING_TABLE}, "a number for"),
        ("export_worksheet", {"model": "next", "text": "\ud800", "state": {}}, "half a character"),
        ("link", {"state": {"text": "\ud800"}}, "half a character"),
    ],
)
def test_what_makes_no_file_gets_a_sentence(client: TestClient, route: str, body: dict[str, Any], said: str) -> None:
    meta, content = ask_route(client, route, **body)
    assert said in meta["error"] and not content


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd|'/C calc'!A0", "@SUM(A1)", "-2+3", "\t=1", "\r=1", "\n=1", "\uff1d1", "\uff201"]
)
def test_a_token_is_no_formula_of_a_spreadsheet(text: str) -> None:
    assert inert(text) == f"'{text}"
    table = LabelledArray("t", "", ("query",), ((text,),), np.ones(1, np.float32))
    written = (
        FILE_FORMATS["csv"].write(table, question_provenance(resolve(make_question("next", "the")), "weights")).decode()
    )
    assert [row for row in csv.reader(io.StringIO(written))][-1] == [f"'{text}", "1.0"]


@pytest.mark.parametrize("text", ["", "=", "-", "-3", "+0.5", "-1e-05", "the", "a=b"])
def test_what_no_spreadsheet_runs_stays_as_it_is(text: str) -> None:
    assert inert(text) == text
