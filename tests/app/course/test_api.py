"""The routes of the Course."""

from typing import Any
from urllib.parse import parse_qsl

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from headlight.course.chapters import CHAPTERS
from headlight.questions.kinds import KINDS, Goal
from headlight.questions.marking import GIVE_UP
from headlight.views.encoding import plain
from headlight_app.course.answers.screens import answer_screen
from headlight_app.course.contract import RunRequest, ScreenRequest
from headlight_app.engine.job import EngineRequest
from headlight_app.frame.main import PAGES
from headlight_app.inference.context import answering
from headlight_app.state.url import (
    decode_sampling,
    decode_side_b,
    decode_state,
    encode_sampling,
    encode_side_b,
    encode_state,
)
from tests.app.asking import ask_route
from tests.app.pages import alone, component_data
from tests.sampling import first_of_each

FREE = {
    f"{chapter}/{name}": screen.rows(**screen.parse({}))
    for chapter, row in CHAPTERS.items()
    for name, screen in row.screens.items()
    if not (screen.model_controls or screen.is_long)
}
LONG = [f"{chapter}/{name}" for chapter, row in CHAPTERS.items() for name in row.screens if row.screens[name].is_long]
# The initial rows of screens without a model that ask a question.
QUESTIONS = {path: rows for path, rows in FREE.items() if any(row.question for row in rows)}


def ask(client: TestClient, route: str, **fields: Any) -> dict[str, Any]:
    """The answer of a route as JSON."""
    return ask_route(client, route, **fields)[0]


def test_the_course_begins_with_its_first_chapter(client: TestClient) -> None:
    answer = ask(client, "course_chapter", chapter="")
    assert answer["chapter"] == next(iter(CHAPTERS))
    assert [entry["name"] for entry in answer["contents"]] == list(CHAPTERS)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_has_all_that_its_rows_say(client: TestClient, chapter: str) -> None:
    answer = ask(client, "course_chapter", chapter=chapter)
    assert [screen["name"] for screen in answer["screens"]] == list(CHAPTERS[chapter].screens)
    for sent, row in zip(answer["screens"], CHAPTERS[chapter].screens.values(), strict=True):
        assert (sent["title"], sent["lesson"]) == (row.title, row.lesson)
        assert {control["name"]: control["default"] for control in sent["controls"]} == {
            name: control.default for name, control in row.controls.items()
        }
        assert all(each["code"] for each in sent["code"])


def test_numbers_on_the_page_are_those_of_the_backend(client: TestClient) -> None:
    inputs = {"sharpness": "3", "keys": "1,2;3,4"} | {"values": "1;2"}
    screen = CHAPTERS["attention"].screens["look-up"]
    answer = ask(client, "course_screen", chapter="attention", screen="look-up", inputs=inputs)
    rows = plain(screen.rows(**screen.parse(inputs)))
    assert answer["rows"] == [row | {"question": None} for row in rows]
    assert answer["can_ask"] and answer["question"] is None, "without a question all rows are visible"


def kind_of_question(path: str) -> str:
    """The kind of the first question of a screen."""
    return next(row.question.kind for row in QUESTIONS[path] if row.question)


@pytest.mark.parametrize("path", first_of_each(QUESTIONS, kind_of_question))
def test_nothing_that_tells_the_answer_is_sent_before_it_is_given(client: TestClient, path: str) -> None:
    chapter, name = path.split("/")
    rows = QUESTIONS[path]
    place = next(place for place, row in enumerate(rows) if row.question)
    question = rows[place].question
    assert question

    def tried(*tries: str, **inputs: str) -> dict[str, Any]:
        fields = {"chapter": chapter, "screen": name, "inputs": inputs, "asks": True, "tries": tries}
        return ask(client, "course_screen", **fields)

    answer = tried()
    assert answer["rows"] == [row | {"question": None} for row in plain(rows[: place + question.shows_row])]
    sent = answer["question"]
    assert set(sent) == {"place", "kind", "text", "options", "rows", "columns", "ruled_out", "hints", "more_hints",
                         "given", "said", "mistake", "is_settled", "is_right"}  # fmt: skip
    assert (sent["said"], sent["mistake"], sent["hints"], sent["is_settled"]) == ("", "", [], False)
    answer = tried(question.right, **(question.solution if isinstance(question, Goal) else {}))
    assert [*answer["answered"], answer["question"]][0]["is_right"]
    assert KINDS[sent["kind"]] is type(question)
    wrong = question.right if isinstance(question, Goal) else next((each for each, _ in question.mistakes), "987654")
    assert not tried(wrong)["question"]["is_right"]
    given_up = [GIVE_UP] * sum(row.question is not None for row in rows)
    assert len(tried(*given_up)["rows"]) == len(rows) and not tried(*given_up[1:])["question"]["is_settled"]


def test_a_try_does_not_run_long_work_again_and_a_new_run_does(client: TestClient) -> None:
    def asked(*tries: str) -> Any:
        fields = {"chapter": "variants", "screen": "cost", "inputs": {"longest": "512", "head_dim": "4"}, "asks": True}
        return ask(client, "course_run", tries=tries, **fields)["rows"]

    measured = asked(GIVE_UP)  # run times differ between runs
    assert asked("2", "4") == measured
    assert asked() == [] and asked("4") != measured


def test_what_one_learner_ran_answers_another_no_sooner() -> None:
    inputs = {"longest": "512", "head_dim": "4"}
    request = RunRequest(chapter="variants", screen="cost", inputs=inputs, asks=True, tries=(GIVE_UP,))

    def shown(visitor: str) -> Any:
        with answering(EngineRequest(request.route, b"", visitor=visitor)):
            return answer_screen(request).answer.rows

    measured = shown("anna")  # run times differ between runs
    assert shown("anna") == measured != shown("ben")
    assert shown("anna") == measured


@pytest.mark.parametrize("path", LONG)
def test_a_long_screen_is_refused_on_the_route_of_short_ones(client: TestClient, path: str) -> None:
    chapter, name = path.split("/")
    said = ask(client, "course_screen", chapter=chapter, screen=name, inputs={})["error"]
    assert said == f"The screen {name!r} runs for seconds. Press Run, or use the route course_run."


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"screen": "nothing"}, "no screen 'nothing'"),
        ({"chapter": "nothing"}, "no chapter 'nothing'"),
        ({"inputs": {"keys": "1,x;0,1"}}, "Row 0, column 1 of Keys is 'x'"),
        ({"inputs": {"keys": "1,2,3;0,1,1"}}, "2 channels and keys have 3"),
        (
            {"chapter": "masks", "screen": "added", "inputs": {"mask": "drawn", "cells": "1,1;1,1;1,0"}},
            "3 rows and 2 columns",
        ),
        ({"chapter": "tokens", "screen": "merges", "inputs": {"word": "\ud800"}}, "half a character"),
        ({"inputs": {"keys": 3}}, "texts by the names"),
        ({"inputs": ["keys"]}, "texts by the names"),
    ],
)
def test_what_cannot_be_computed_gets_a_sentence(client: TestClient, body: dict[str, Any], sentence: str) -> None:
    asked = {"chapter": "attention", "screen": "look-up", "inputs": {}} | body
    assert sentence in ask(client, "course_screen", **asked)["error"]


def test_what_a_learner_brought_is_found_among_the_inputs() -> None:
    request = ScreenRequest(
        chapter="heads",
        screen="compare",
        inputs={"model": "upload-mine", "other": "next", "recording": "own-sound", "text": "the cat"},
        model_inputs=("model", "other", "missing"),
        file_inputs=("recording",),
    )
    assert (request.models(), request.images()) == (("upload-mine", "next"), ("own-sound",))
    assert replace(request, inputs={"recording": ""}).images() == (), "no recording is chosen"


def test_links_to_other_pages_are_states_of_theirs() -> None:
    paths = {page.PATH for page in PAGES}
    for chapter in CHAPTERS.values():
        for screen in chapter.screens.values():
            for page, link in screen.links(screen.parse({})).items():
                assert page in paths and encode_state(decode_state(link)) == link
                difference = decode_side_b(link.get("side_b", ""))
                assert parse_qsl(encode_side_b(difference) if difference else "") == parse_qsl(link.get("side_b", ""))
                assert encode_sampling(decode_sampling(link.get("sampling", ""))) in link.get("sampling", "")


def test_the_component_is_given_the_address_and_the_models() -> None:
    data = component_data(alone("course", model="next", chapter="attention", course_inputs="look-up.sharpness=3").main)
    assert data["state"] == {"chapter": "attention", "screen": "", "course_inputs": "look-up.sharpness=3"}
    assert "next" in {model["name"] for model in data["models"]}
