"""Hand-ins: marks are recomputed, a changed digit is reported, and a bad file does not stop the others."""

import csv
import io
import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.checkpoints import save
from headlight.cli.main import main
from headlight.lessons.asks import question_of
from headlight.lessons.hand_in import CHANGED, Grade, cell, collect, grade_of, hand_in
from headlight.lessons.hand_in_file import HandIn
from headlight.lessons.lesson_file import lessons
from headlight.lessons.place import Place
from headlight.questions.marking import GIVE_UP, HINT
from tests.model import toys
from tests.model.lessons.conftest import open_shipped
from tests.sampling import examples

LESSON = lessons()["attention-with-a-pencil"]  # without a model: fast, different for each seed
STUDENTS = 30


def right_answers(seed: int) -> list[str]:
    places = [Place(LESSON, step, "", seed, open_shipped) for step in LESSON.steps]
    return [question.right for place in places if (question := question_of(place, place.scope()))]


def handed(seed: int, name: str, *answers: tuple[str, ...]) -> HandIn:
    return hand_in(LESSON, seed, "", name, answers)


def grades_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_marks_are_computed_from_the_answers_and_the_seed() -> None:
    one, other = right_answers(1), right_answers(2)
    tries = [(one[0],), (HINT, one[1]), ("99", one[2]), (GIVE_UP,)]
    [found] = grade_all(handed(1, "Ada", *tries))
    assert (found.name, found.points, found.of, found.at_once, found.problem) == ("Ada", "3", "4", "1", "")
    [neighbour] = grade_all(handed(1, "Bob", *((each,) for each in other)))
    assert int(neighbour.points) < 4, "a neighbour's answers are wrong"


def grade_all(*files: HandIn) -> list[Grade]:
    seen: dict[tuple[str, int], str] = {}
    return [grade_of(f"{at}.json", each.encode(), open_shipped, seen) for at, each in enumerate(files)]


def test_thirty_hand_in_and_one_has_a_changed_digit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(STUDENTS):
        answers = tuple((each,) for each in right_answers(seed))
        (tmp_path / f"{seed:02}.json").write_bytes(handed(seed, f"Student {seed}", *answers).encode())
    changed = tmp_path / "17.json"
    text = changed.read_text("utf-8")
    place = re.search(r'"answers": \[\s*\[\s*"-?\d', text)
    assert place
    digit = str((int(text[place.end() - 1]) + 1) % 10)
    changed.write_text(text[: place.end() - 1] + digit + text[place.end() :], "utf-8")
    files = sorted(map(str, tmp_path.iterdir()))
    assert main(["lesson", "collect", *files]) == 1
    rows = grades_of(capsys.readouterr().out)
    assert [row["file"] for row in rows if row["problem"]] == ["17.json"] and rows[17]["problem"] == CHANGED
    assert [row["points"] for row in rows] == ["3" if at == 17 else "4" for at in range(STUDENTS)]


def test_a_version_a_model_or_a_seed_that_does_not_fit_is_said() -> None:
    answers = tuple((each,) for each in right_answers(1))
    good = handed(1, "Ada", *answers)
    changes = {"version": 9, "lesson": "no-such-lesson", "answers": answers[:2]}
    others = [
        HandIn(**{**json.loads(good.encode()), "answers": good.answers, name: value}).with_digest()
        for name, value in changes.items()
    ]
    own = lessons()["heads-of-your-checkpoint"]
    mine = hand_in(own, 1, "a-model-of-mine", "Bob", ((),) * len(own.steps))
    path = hand_in(own, 2, "../../etc", "Eve", ((),) * len(own.steps))
    found = grade_all(good, *others, mine, path)
    said = [
        "",
        "version 9 of the lesson",
        "no lesson 'no-such-lesson'",
        "answers to 2 steps",
        "a-model-of-mine",
        "by a path",
    ]
    assert all(words in grade.problem for words, grade in zip(said, found, strict=True)), found
    assert [bool(grade.points) for grade in found] == [True, *[False] * 5]
    copied = grade_all(good, handed(1, "Eve", *answers))[1]
    assert "same seed as 0.json" in copied.problem and copied.points == "4"


@pytest.mark.parametrize("begins", ["", "\r", "\n", " \t", "Eve\r", "Eve\u2028", "Eve,", 'Eve"\r\n"'])
def test_a_name_is_no_formula(begins: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "eve.json"
    file.write_bytes(handed(1, f"{begins}=HYPERLINK(1)", *((),) * 4).encode())
    main(["lesson", "collect", str(file)])
    out = capsys.readouterr().out
    [grade] = grades_of(out)
    assert grade["name"].endswith("=HYPERLINK(1)") and not grade["name"].startswith("=")
    assert len(out.splitlines()) == 2, "a program that ends rows at any line break sees two"
    assert all(line.startswith('"') and line.endswith('"') for line in out.splitlines())


def test_wide_signs_begin_a_formula_as_well() -> None:
    assert all(cell(f" {sign}1") == f"'{sign}1" for sign in "\uff1d\uff0b\uff0d\uff20")


@pytest.mark.parametrize("model", ["evil", "..", "."])
def test_a_hand_in_opens_no_folder_beside_it(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = lessons()["heads-of-your-checkpoint"]
    (tmp_path / "evil").mkdir()
    monkeypatch.chdir(tmp_path / "evil")
    save(tmp_path, toys.decoder(layers=1, heads=2, context_length=64), toys.causal())
    save(tmp_path / "evil" / "evil", toys.decoder(layers=1, heads=2, context_length=64), toys.causal())
    file = tmp_path / "bob.json"
    file.write_bytes(hand_in(own, 1, model, "Bob", (("2",), (GIVE_UP,), (), ())).encode())
    assert main(["lesson", "collect", str(file)]) == 1
    assert "There is no model" in grades_of(capsys.readouterr().out)[0]["problem"]


def test_a_checkpoint_of_a_learners_choice_is_opened_from_the_teachers_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = lessons()["heads-of-your-checkpoint"]
    save(tmp_path / "models" / "mine", toys.decoder(layers=1, heads=2, context_length=64), toys.causal())
    file = tmp_path / "bob.json"
    file.write_bytes(hand_in(own, 1, "mine", "Bob", (("2",), (GIVE_UP,), (), ())).encode())
    assert main(["lesson", "collect", str(file)]) == 1
    assert "mine" in grades_of(capsys.readouterr().out)[0]["problem"]
    assert main(["lesson", "collect", "--models", str(tmp_path / "models"), str(file)]) == 0
    [found] = grades_of(capsys.readouterr().out)
    assert (found["model"], found["points"], found["of"]) == ("mine", "1", "4")


WHOLE = handed(1, "Zoë “Z” 🙂", *((each,) for each in right_answers(1))).encode()


@examples(60)
@given(st.randoms(use_true_random=False), st.integers(1, 20))
def test_a_damaged_file_gets_a_sentence(randomly: random.Random, times: int) -> None:
    damaged = bytearray(WHOLE)
    for _ in range(times):
        at = randomly.randrange(len(damaged))
        match randomly.choice(["change", "cut", "insert"]):
            case "change":
                damaged[at] = randomly.randrange(256)
            case "cut":
                del damaged[at : at + randomly.randrange(1, 9)]
            case _:
                damaged[at:at] = randomly.randbytes(randomly.randrange(1, 9))
    grade = grade_of("it.json", bytes(damaged), open_shipped, {})
    same = json_or_none(bytes(damaged)) == json_or_none(WHOLE)
    assert bool(grade.problem) != same and (same or grade.problem.endswith((".", "?")))


def json_or_none(raw: bytes) -> object:
    try:
        return json.loads(raw)
    except ValueError:
        return None


@examples(30)
@given(st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
def test_no_file_stops_the_others(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "any.json").write_bytes(raw)
    (tmp_path / "good.json").write_bytes(WHOLE)
    files = [tmp_path / "any.json", tmp_path / "missing.json", tmp_path, tmp_path / "good.json"]
    *bad, good = collect(files, open_shipped)
    assert all(grade.problem for grade in bad) and good.points == "4" and not good.problem


def test_the_command_checks_lessons(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    right, wrong = tmp_path / "right.md", tmp_path / "wrong.md"
    right.write_text(text, "utf-8")
    wrong.write_text(text.replace("weights(L, 1)[-1, 0]\n", "wieghts(L, 1)[-1, 0]\n"), "utf-8")
    assert main(["lesson", "check", str(right)]) == 0
    assert "nothing is wrong" in capsys.readouterr().out
    assert main(["lesson", "check", "--device", "cpu", str(wrong), str(tmp_path / "none.md")]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{wrong}:18: ") and "Did you mean 'weights'" in first
    assert "none.md cannot be read" in second
    assert main(["lesson", "grade"]) == 2
    assert main(["lesson", "check", "--model", "induction", str(right)]) == 0
