"""Every route with every kind of model name: right lane, right answer, and no access to other visitors' uploads."""

import base64
import json
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headlight.errors import HeadlightError
from headlight_app.access.images import image_store
from headlight_app.access.uploads import UploadStore, upload_store
from headlight_app.access.visitor import CURRENT_VISITOR
from headlight_app.contract.request import Lane
from headlight_app.engine import client
from headlight_app.engine.client import submit
from headlight_app.engine.job import EngineRequest, Job, Stream
from headlight_app.engine.requests import decode_request
from headlight_app.worker.table import ANSWERS
from tests.app.asking import body, unpack
from tests.app.conftest import LocalEngine
from tests.sampling import parameter_set

OWNER, STRANGER = "anna", "stranger"
TEXT = "the cat sat on the mat"
TABLE = {"name": "table", "axes": ["query"], "labels": [["0", "1"]], "values": base64.b64encode(bytes(8)).decode()}
# The fields of each request besides a model, which is named in its question, in each of two, or in a field of its own.
QUESTIONS: dict[str, dict[str, Any]] = {
    "trace": {},
    "head_matrix": {"path": "decoder.1.self.weights"},
    "head_view": {},
    "thumbnails": {},
    "qk_projection": {},
    "head_metrics": {},
    "query_key_weights": {"query": 2, "key": 1},
    "walkthrough": {"attention": "decoder.1.self"},
    "step_code": {"attention": "decoder.1.self"},
    "layer_numbers": {},
    "analysis": {"analysis": "logit_attribution"},
    "logit_attribution": {},
    "analysis_step": {"analysis": "head_ablation"},
    "long_analysis": {"analysis": "token_rankings"},
    "input_vectors": {},
    "explore_charts": {},
    "source_code": {},
    "export_numbers": {"format": "csv"},
    "export_page": {},
    "export_worksheet": {"figure": "<svg/>", "link": "http://room/?layer=1", "line": "next"},
    "export_code": {},
    "generate": {},
    "copying": {"position": 7, "token": 20},
    "views": {"page": "positions"},
    "encoding_code": {},
}
SIDES: dict[str, dict[str, Any]] = {
    "compare": {},
    "export_origin": {},
    "export_table": {"table": TABLE, "format": "csv"},
    "export_program": {},
}
LESSON = {"lesson": "heads-of-your-checkpoint", "seed": 1}
NAMED: dict[str, dict[str, Any]] = {
    "explore_page": {},
    "tasks_page": {"task": "classify"},
    "compare_page": {},
    "generate_page": {},
    "model_card": {},
    "weight_report": {},
    "open_checkpoint": {},
    "lesson_step": LESSON | {"step": 0},
    "lesson_notes": LESSON | {"step": 0},
    "lesson_hand_in": LESSON | {"answers": [["8"], [], [], []]},
}
INPUTS: dict[str, dict[str, Any]] = {
    "course_screen": {"chapter": "training", "screen": "shifted-targets"},
    "course_run": {"chapter": "training", "screen": "shifted-targets"},
}
WITHOUT_A_MODEL = (
    *("link", "course_chapter", "lessons", "lesson_collect", "export_pdf", "frame", "models", "own_models", "warm_up"),
    *("check_image", "extract_upload", "download"),
)
TOYS = {
    "analysis": "tags",
    "tasks_page": "mood",
}
# Their answers contain the folder, the date, or the progress within a time limit.
VARY = (
    *("compare", "generate", "analysis_step", "compare_page", "model_card", "weight_report"),
    *("export_origin", "export_code", "export_page", "export_program", "lesson_step"),
)
ROUTES = (*QUESTIONS, *SIDES, *NAMED, *INPUTS)
FIRST_OF_EACH_KIND = {next(iter(kind)) for kind in (QUESTIONS, SIDES, NAMED, INPUTS)}


class RememberingEngine(LocalEngine):
    """The engine of this process; it records its requests and their lanes."""

    def __init__(self) -> None:
        self.lanes: list[Lane] = []
        self.requests: list[EngineRequest] = []

    def submit(
        self,
        visitor: str,
        request: EngineRequest,
        *,
        lane: Lane,
        seconds: float,
        stream: Stream | None = None,
        **of: object,
    ) -> Job:
        self.lanes.append(lane)
        self.requests.append(request)
        return super().submit(visitor, request, lane=lane, seconds=seconds, stream=stream)


@pytest.fixture
def engine(anna: UploadStore, monkeypatch: pytest.MonkeyPatch) -> RememberingEngine:
    """An engine that receives the owner's requests."""
    remembering = RememberingEngine()
    monkeypatch.setattr(client, "engine", lambda: remembering)
    return remembering


def upload(folder: Path) -> str:
    """Add an upload of the owner; returns its name."""

    def lay(root: Path, max_bytes: int) -> Path:
        return Path(shutil.copytree(folder, root / "model"))

    return upload_store().add_upload(OWNER, "mine", lay).name


def opened_path(folder: Path) -> str:
    """Open a folder by its path for the owner; returns its name."""
    return upload_store().add_folder(OWNER, folder).name


def about(route: str, model: str) -> dict[str, Any]:
    """The JSON of a route's request about a model."""
    if route in QUESTIONS:
        return body(route, model=model, text=TEXT, **QUESTIONS[route])
    if route in SIDES:
        sides = [{"model": name, "text": TEXT} for name in ("next", model)]
        is_export = route != "compare"
        return {**SIDES[route], "sides": [{"question": side} for side in sides] if is_export else sides}
    if route in INPUTS:
        return {**INPUTS[route], "inputs": {"model": model, "text": TEXT}, "model_inputs": ["model"]}
    return {"model": model, **NAMED[route]}


def send(route: str, fields: dict[str, Any]) -> bytes:
    """The engine's answer to the JSON of a request, submitted as the server does."""
    content = json.dumps(fields).encode()
    return submit(decode_request(msgspec.json.Decoder(ANSWERS[route][0]), content), content).future.result()


def ask_about(route: str, model: str, *names: str) -> tuple[str, bytes]:
    """A route's answer about a model without its run time; `names` are replaced by MODEL."""
    told, numbers = unpack(send(route, about(route, model)))
    text = re.sub(r'"milliseconds": [\d.e-]+', "", json.dumps(told))
    for name in names:
        text = text.replace(name, "MODEL")
    return re.sub(r"\d+\.\d+(e-\d+)?", lambda number: f"{float(number[0]):.3g}", text), numbers


def toy(route: str) -> str:
    return TOYS.get(route, "next")


def test_every_route_is_walked_over() -> None:
    assert {*ROUTES, *WITHOUT_A_MODEL} == set(ANSWERS)


@pytest.mark.parametrize(
    ("bring", "route"),
    [parameter_set(upload, route, full=False) for route in ROUTES]
    + [parameter_set(opened_path, route, full=route not in FIRST_OF_EACH_KIND) for route in ROUTES],
)
def test_the_owner_gets_the_answer_and_a_stranger_nothing(
    route: str, bring: Callable[[Path], str], engine: RememberingEngine, toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if route == "thumbnails":  # requested for long texts only
        monkeypatch.setattr("headlight_app.inference.resolved_question.MAX_WEIGHTS_BYTES", 0)
    mine = bring(toys / toy(route))
    names = mine, "mine", toy(route)
    shipped = ask_about(route, toy(route), *names)
    assert engine.lanes == [ANSWERS[route][0].lane]
    own = ask_about(route, mine, *names)
    assert engine.lanes[-1] is Lane.PRIVATE
    assert own[0] == shipped[0] or route in VARY
    assert len(own[1]) == len(shipped[1]) or route.startswith("export")
    CURRENT_VISITOR.set(STRANGER)
    engine.requests.clear()
    if route == "model_card" and bring is opened_path:
        assert ask_about(route, mine) == ('{"text": ""}', b"")
    else:
        with pytest.raises(HeadlightError, match=r"uploads belong to the browser|There is no model"):
            ask_about(route, mine)
    assert not any(request.checkpoints for request in engine.requests)


@pytest.mark.parametrize("route", WITHOUT_A_MODEL)
def test_a_request_without_a_model_has_no_way_to_name_one(route: str) -> None:
    fields = set(ANSWERS[route][0].__struct_fields__)
    assert not fields & {"model", "question", "sides", "inputs"}


NAMES_A_PICTURE = ("trace", "head_matrix", "export_page", "generate", "compare", "export_origin", "explore_page")


@pytest.mark.parametrize("route", (*NAMES_A_PICTURE, *INPUTS))
def test_a_picture_or_recording_travels_with_the_request_of_its_owner_alone(
    route: str, engine: RememberingEngine
) -> None:
    name = image_store().add(OWNER, b"\x89PNG of the owner")
    fields = about(route, "next")
    if route in INPUTS:
        fields |= {"inputs": {"sound": name}, "model_inputs": [], "file_inputs": ["sound"]}
    else:
        holder = fields["sides"][1] if "sides" in fields else fields
        holder.get("question", holder)["image"] = name
    for visitor, files, lane in ((OWNER, {name: b"\x89PNG of the owner"}, Lane.PRIVATE), (STRANGER, {}, None)):
        CURRENT_VISITOR.set(visitor)
        with suppress(HeadlightError):  # workers cannot read this file
            send(route, fields)
        assert engine.requests[-1].images == files and engine.lanes[-1] is (lane or ANSWERS[route][0].lane)
