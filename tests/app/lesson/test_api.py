"""The routes of the Lessons page, and what they must not reveal."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl
from zipfile import ZipFile

import pytest
from starlette.testclient import TestClient

from headlight.analysis.head_metrics import HEAD_METRICS
from headlight.lessons.asks import question_of
from headlight.lessons.hand_in import collect, grade_of, head_of_grades, line_of_grade
from headlight.lessons.lesson_file import lessons
from headlight.lessons.place import Place
from headlight.questions.kinds import Question
from headlight.questions.marking import GIVE_UP, HINT
from headlight_app.contract.state import DEFAULT_STATE
from headlight_app.explore.answers.analyses.table import ANALYSES
from headlight_app.explore.answers.quantities import QUANTITIES
from headlight_app.explore.tabs import TABS
from headlight_app.frame.main import PAGES
from headlight_app.state.url import decode_state, encode_state
from tests.app.asking import ask_route
from tests.app.pages import alone, component_data
from tests.model.lessons.conftest import open_shipped

HEADS, PENCIL, OWN = "heads-that-look-back", "attention-with-a-pencil", "heads-of-your-checkpoint"


def ask(client: TestClient, route: str, **fields: Any) -> dict[str, Any]:
    """The answer of a route as JSON."""
    return ask_route(client, route, **fields)[0]


def question(name: str, step: int, seed: int) -> Question:
    """A question with its answer, which only the server has."""
    lesson = lessons()[name]
    place = Place(lesson, lesson.steps[step], lesson.first_model, seed, open_shipped)
    found = question_of(place, place.scope())
    assert found
    return found


def test_the_list_has_all_lessons_in_their_order(client: TestClient) -> None:
    rows = ask(client, "lessons")["lessons"]
    assert [row["name"] for row in rows] == list(lessons())
    assert [row["chooses_model"] for row in rows][-3:] == [True] * 3
    assert all(len(row["steps"]) == len(row["asks"]) for row in rows)


def test_a_step_tells_its_answer_only_once_it_is_settled(client: TestClient) -> None:
    place = {"lesson": PENCIL, "seed": 5, "step": 3}
    asked = question(PENCIL, 3, 5)
    first = ask(client, "lesson_step", **place)
    assert first["view"] == "" and first["opens_after"] and not first["question"]["is_settled"]
    assert asked.right[:6] not in json.dumps(first) and asked.because not in json.dumps(first)
    hinted = ask(client, "lesson_step", **place, tries=[HINT, "1234"])["question"]
    assert hinted["hints"] == [asked.hints[0]] and not hinted["is_right"]
    right = ask(client, "lesson_step", **place, tries=[HINT, "1234", asked.right])
    assert right["question"]["is_right"] and asked.because in right["question"]["said"]
    assert right["view"].startswith("course?chapter=attention&screen=steps&course_inputs=")
    given_up = ask(client, "lesson_step", **place, tries=[GIVE_UP])["question"]
    assert given_up["is_settled"] and not given_up["is_right"]


def test_a_students_answers_hold_no_notes(client: TestClient) -> None:
    for name, lesson in list(lessons().items())[:2]:
        for step, row in enumerate(lesson.steps):
            told = json.dumps(ask(client, "lesson_step", lesson=name, seed=1, step=step, tries=[GIVE_UP]))
            notes = ask(client, "lesson_notes", lesson=name, seed=0, step=step)
            assert notes["notes"] and all(json.dumps(note)[1:-1] not in told for note in notes["notes"]), row.title
    assert len(notes["answers"]) == len(lesson.all("text"))


def test_another_seed_has_another_text_and_another_answer(client: TestClient) -> None:
    texts = {ask(client, "lesson_step", lesson=HEADS, seed=seed, step=1)["text"] for seed in range(8)}
    assert texts == {line.text for line in lessons()[HEADS].all("text")}
    assert len({question(HEADS, 1, seed).right for seed in range(4)}) == 4


def test_every_view_is_an_address_that_its_page_reads(client: TestClient) -> None:
    paths = {page.PATH for page in PAGES}
    sorts = {"layer", *HEAD_METRICS}
    for name, lesson in lessons().items():
        for step in range(len(lesson.steps)):
            view = ask(client, "lesson_step", lesson=name, seed=2, step=step, tries=[GIVE_UP])["view"]
            page, _, query = view.partition("?")
            fields = dict(parse_qsl(query))
            state = decode_state(fields)
            assert (page or "explore") in paths
            read = encode_state(state)
            assert all(text in (read.get(key), str(getattr(DEFAULT_STATE, key, ""))) for key, text in fields.items()), (
                view
            )
            assert (
                state.tab in TABS
                and state.analysis in ANALYSES
                and state.sort in sorts
                and state.quantity in QUANTITIES
            )


def test_what_is_handed_in_can_be_graded(client: TestClient) -> None:
    answers = [[question(PENCIL, step, 7).right] for step in range(4)]
    meta, raw = ask_route(client, "lesson_hand_in", lesson=PENCIL, seed=7, name=" Ada Lovelace ", answers=answers)
    grade = grade_of("x.json", raw, open_shipped, {})
    assert meta["name"] == f"{PENCIL}-Ada-Lovelace.json"
    assert (grade.name, grade.points, grade.problem) == ("Ada Lovelace", "4", "")


def test_the_hand_ins_of_a_room_are_graded_as_by_the_command(client: TestClient, tmp_path: Path) -> None:
    files = {f"{PENCIL}-3.json": "no hand-in"}
    for number, seed in ((1, 7), (2, 7)):
        answers = [[question(PENCIL, 0, seed).right], ["1234", "?"], [], []]
        made = ask_route(client, "lesson_hand_in", lesson=PENCIL, seed=seed, name="=Ada", answers=answers)[1]
        files[f"{PENCIL}-{number}.json"] = made.decode()
    for name, file in files.items():
        (tmp_path / name).write_text(file, encoding="utf-8")
    grades = collect((tmp_path / name for name in files), open_shipped)
    expected = "".join((head_of_grades(), *map(line_of_grade, grades)))
    sent = [{"name": name, "file": file} for name, file in files.items()]
    assert ask_route(client, "lesson_collect", files=sent, format="csv")[1].decode() == expected
    assert expected.count('"1","4","1","') == 2 and expected.count("the same seed as") == 1
    head, *lines = [
        ask_route(client, "lesson_collect", files=sent, format="csv", start=start, count=count, has_head=not count)[1]
        for start, count in ((0, 0), (0, 1), (1, 9))
    ]
    assert head.decode() == head_of_grades() and b"".join((head, *lines)).decode() == expected
    archive = ZipFile(BytesIO(ask_route(client, "lesson_collect", files=sent, format="zip")[1]))
    assert {name: archive.read(name).decode() for name in archive.namelist()} == files
    for name in ("../x.json", "x.csv", "/x.json"):
        assert "error" in ask(client, "lesson_collect", files=[{"name": name, "file": ""}], format="csv")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"lesson": "nothing", "seed": 1, "step": 0}, "no lesson 'nothing'"),
        ({"lesson": HEADS, "seed": 1, "step": 9}, "4 steps, so there is no step 10"),
        ({"lesson": HEADS, "seed": -1, "step": 0}, "seed"),
        ({"lesson": OWN, "seed": 1, "step": 0, "model": "sentiment"}, "needs a model that predicts the next token"),
        ({"lesson": OWN, "seed": 1, "step": 0, "model": "nobody"}, "no model 'nobody'"),
    ],
)
def test_what_cannot_be_asked_is_a_sentence(client: TestClient, fields: dict[str, Any], sentence: str) -> None:
    assert sentence in ask(client, "lesson_step", **fields)["error"]


def test_the_model_of_a_lesson_cannot_be_exchanged_unless_it_is_the_learners(client: TestClient) -> None:
    heads = {
        name: ask(client, "lesson_step", lesson=OWN, seed=1, step=1, model=name)["question"]
        for name in ("ladder-7-depth", "")
    }
    assert len(heads["ladder-7-depth"]["rows"]) == 4 and len(heads[""]["rows"]) == 6
    fixed = ask(client, "lesson_step", lesson=HEADS, seed=1, step=0, model="ladder-7-depth")
    assert len(fixed["question"]["rows"]) == 6


def test_the_page_knows_which_models_suit(client: TestClient) -> None:
    data = component_data(alone("lesson", model="next", lesson=OWN, notes="1").main)
    state = {"lesson": OWN, "notes": "1", "lesson_step": "", "lesson_work": ""}
    assert data["state"] == state and data["pages"].endswith("/")
    assert any("causal" in model["suits"] for model in data["models"])
