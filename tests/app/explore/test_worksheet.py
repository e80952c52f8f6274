"""A worksheet over the route, and the choice of exercises for the current view."""

import base64
import re
from collections.abc import Callable
from html import unescape
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from headlight.analysis.head_metrics import HEAD_METRICS, IMAGE_HEAD_METRICS
from headlight.course.exercises import ATTENTION_FUNCTION_EXERCISES, MASK_EXERCISES, POSITIONAL_ENCODING_EXERCISES
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.nn.masks import MASKS
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.tasks import TASKS, task_exercise
from headlight.views.words import percent
from headlight_app.contract.state import State
from headlight_app.explore.answers.export import worksheet as worksheets
from headlight_app.explore.answers.export.worksheet import (
    MAX_CODE,
    MAX_EXERCISES,
    choose_exercises,
    head_exercise,
    link_code,
)
from headlight_app.explore.answers.head_view import SHOWN, head_view
from headlight_app.inference.resolved_question import resolve
from tests.app.asking import ask_route, make_question
from tests.app.explore.test_export_api import HOSTILE, TEXT

PARTS = {
    "figure": "<svg xmlns='http://www.w3.org/2000/svg'/>",
    "link": "http://room:8501/?text=a&layer=1",
    "line": "next · today",
}


def made(client: TestClient, **choices: Any) -> str:
    meta, content = ask_route(
        client, "export_worksheet", **({"model": "next", "text": TEXT, "layer": 1, "head": 2} | PARTS | choices)
    )
    assert meta == {"name": "headlight-worksheet.html", "type": "text/html"}, meta
    return content.decode()


def test_a_worksheet_has_picture_sentence_questions_link_code_and_origin(client: TestClient) -> None:
    page = made(client)
    picture = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert picture and base64.b64decode(picture[1]).decode() == PARTS["figure"]
    assert f'dir="auto">{TEXT}</p>' in page and "next · today" in page
    assert 'href="http://room:8501/?text=a&amp;layer=1"' in page and page.count("<path") >= 1
    questions, answers = page.split("Answers, for the teacher")
    shown = list(choose_exercises(resolve(make_question("next", TEXT)), State(layer=1, head=2)))[:MAX_EXERCISES]
    assert 1 <= len(shown) <= MAX_EXERCISES and questions.count("<li>") == answers.count("<li contenteditable>") == len(
        shown
    )
    for exercise in shown:
        assert exercise.question in unescape(questions) and exercise.answer in unescape(answers)
        assert exercise.answer not in unescape(questions)
    likeliest = re.search(r"What the model finds likeliest \(next token\): “.*?” (\S+ %)", answers)
    logits = np.exp(np.float64(resolve(make_question("next", TEXT)).trace_of("logits")["logits"][-1]))
    assert likeliest and unescape(likeliest[1]) == percent(logits.max() / logits.sum(), 0)
    assert "$" not in re.sub(r"(?s)<script>.*</script>", "", page), "every placeholder is filled"


def test_a_worksheet_asks_for_nothing_and_its_text_is_no_markup(client: TestClient) -> None:
    page = made(client, text=HOSTILE, line=HOSTILE, link=f"http://room/?text={HOSTILE}", omitted=HOSTILE)
    assert page.count("<script>") == page.count("</script>") == 1 and "<b>x" not in page
    assert not re.search(r"""(?:src)\s*=\s*["']?(?:https?:)?//|@import|\burl\(""", page)


@pytest.mark.parametrize("link", ["javascript:alert(1)", " http://room", "data:text/html,x", "//room", "file:///etc"])
def test_the_link_of_a_worksheet_leads_to_a_web_page(client: TestClient, link: str) -> None:
    meta, _ = ask_route(client, "export_worksheet", **{"model": "next", "text": TEXT} | PARTS | {"link": link})
    assert "link" in meta["error"] and "a web address" in meta["error"]


def test_questions_begin_with_the_pattern_of_the_head(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = {name: np.full((2, 4), 0.1) for name in HEAD_METRICS}
    shares["induction"] = np.full((2, 4), np.nan)
    shares["first"][1, 2] = 0.72
    monkeypatch.setattr(worksheets, "head_metrics", lambda *_: shares)
    resolved = resolve(make_question("next", TEXT))
    found = head_exercise(resolved, State(layer=1, head=2))
    assert found and found.answer.startswith("A bright first column")
    count = len(resolved.trace.text.ids)
    assert found.answer.endswith(
        "Here layer 1, head 2 gives 72 % of its attention to the first token: the mean of the "
        f"{count - 1} rows of {count} that can look there."
    )
    assert next(choose_exercises(resolved, State(layer=1, head=2))) == found
    assert head_exercise(resolved, State(layer=0, head=2)) is None, "no pattern stands out"
    assert head_exercise(resolved, State(layer=1, head=2, quantity="scores")) is None


def test_a_pattern_that_few_rows_can_show_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = {name: np.full((2, 4), 0.1) for name in HEAD_METRICS}
    shares["first"][1, 2] = shares["induction"][1, 2] = 0.9
    monkeypatch.setattr(worksheets, "head_metrics", lambda *_: shares)
    chosen = State(layer=1, head=2)
    narrow = resolve(make_question("next", "the cat sat on the mat near the dog", masks="causal+window:2"))
    assert head_exercise(narrow, chosen) is None, "only two rows see the first token, only three a repeated word"
    assert worksheets.LEAST_ROWS == 3
    repeated = resolve(make_question("next", "dog the cat sat on mat near dog the cat sat"))
    shares["first"][1, 2] = 0.1
    for name, words in (("induction", "Bright cells one column to the right"), ("same-word", "a word is repeated")):
        shares[name][1, 2] += 0.5
        found = head_exercise(repeated, chosen)
        assert found and words in found.answer, "three rows are enough for patterns of repeated words"
        shares[name][1, 2] = 0.1


@given(data=st.data())
def test_every_answer_about_a_column_follows_from_the_exported_numbers(data: st.DataObject) -> None:
    name, text, source = data.draw(
        st.sampled_from(
            [("next", TEXT, ""), ("masked", TEXT, ""), ("both", "the dog", "the cat sat"), ("mood", TEXT, "")]
        )
    )
    attention = data.draw(st.sampled_from(["encoder.self", "decoder.cross"])) if name == "both" else ""
    chosen = State(layer=data.draw(st.integers(0, 1)), head=data.draw(st.integers(0, 3)), attention=attention)
    resolved = resolve(make_question(name, text, source=source))
    found = worksheets.column_exercise(resolved, chosen)
    assert found
    view = head_view(resolved, chosen)
    weights = np.nan_to_num(view.values)
    told = re.match(r"“(.*)”: (\d+) % of each row on average\. Of (\d+) rows (\d+) look there most", found.answer)
    assert told
    label, share, rows, most = told.groups()
    columns = [place for place, each in enumerate(view.columns.labels) if each.strip() == label]
    means = weights.mean(0)
    assert int(rows) == len(weights) and means.argmax() in columns and f"{means.max():.0%}" == f"{share}%"
    assert int(most) == (weights.argmax(1) == means.argmax()).sum()


@given(data=st.data())
def test_every_answer_about_a_pattern_follows_from_the_exported_numbers(data: st.DataObject) -> None:
    words = data.draw(st.lists(st.sampled_from(["the", "cat", "dog", "sat"]), min_size=2, max_size=9))
    chosen = State(layer=data.draw(st.integers(0, 1)), head=data.draw(st.integers(0, 3)))
    resolved = resolve(make_question(data.draw(st.sampled_from(["next", "masked"])), " ".join(words)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worksheets, "LARGE_SHARE", 0.0)
        found = head_exercise(resolved, chosen)
    told = found and re.search(
        r"gives (\d+) % of its attention to (.*): the mean of the (\d+) rows of (\d+) that", found.answer
    )
    assert told
    share, pattern, rows, count = told.groups()
    view, text = head_view(resolved, chosen), resolved.trace.text
    allowed, ids, special = view.cell_states == SHOWN, text.ids, text.special_mask
    spelt = [piece.strip() for piece in text.token_texts]
    counts: dict[str, Callable[[int, int], bool]] = {
        "the token before": lambda q, k: k == q - 1,
        "the token after": lambda q, k: k == q + 1,
        "the token itself": lambda q, k: k == q,
        "the first token": lambda q, k: k == 0 != q,
        "other occurrences of the same word": lambda q, k: q != k and spelt[q] == spelt[k],
        "the token after an earlier occurrence": lambda q, k: 0 < k <= q and ids[k - 1] == ids[q],
        "special tokens": lambda q, k: q != k and special[k],
    }
    places = range(len(ids))
    cells = [[k for k in places if allowed[q, k] and counts[pattern](q, k)] for q in places if allowed[q].sum() > 1]
    shares = [
        view.values[q, own].sum() for q, own in zip(np.flatnonzero(allowed.sum(1) > 1), cells, strict=True) if own
    ]
    assert (f"{np.mean(shares):.0%}", len(shares), len(ids)) == (f"{share}%", int(rows), int(count))


def test_attention_to_a_source_is_asked_about_its_columns_and_neither_mask_nor_positions() -> None:
    resolved = resolve(make_question("both", "the dog", source="the cat sat"))
    first, *rest = choose_exercises(resolved, State(attention="decoder.cross"))
    assert "Which column gets most attention" in first.question
    wiring = {MASK_EXERCISES["causal"], *POSITIONAL_ENCODING_EXERCISES.values()}
    assert wiring.isdisjoint(rest)
    of_encoder = {*choose_exercises(resolved, State(attention="encoder.self"))}
    assert MASK_EXERCISES["causal"] not in of_encoder, "its encoder has no mask"
    assert MASK_EXERCISES["causal"] in {*choose_exercises(resolved, State(attention="decoder.self"))}


def test_who_sorts_is_asked_for_numbers() -> None:
    config = resolve(make_question("mood", TEXT)).config
    sorting = config.replace(labels=tuple(map(str, range(len(config.labels)))), output_head="token-classifier")
    assert "Which number" in getattr(task_exercise(sorting), "question", "")
    assert task_exercise(config) == TASKS["sequence-classifier"].exercise


def test_what_is_wired_otherwise_is_asked_before_what_is_as_it_was_trained() -> None:
    resolved = resolve(make_question("next", TEXT, positional_encoding="alibi", attention_function="hardmax"))
    first, second, *rest = choose_exercises(resolved, State(quantity="scores"))
    assert first == POSITIONAL_ENCODING_EXERCISES["alibi"] and second == ATTENTION_FUNCTION_EXERCISES["hardmax"]
    assert TASKS["language-model"].exercise in rest and MASK_EXERCISES["causal"] in rest
    assert len({first, second, *rest}) == 2 + len(rest), "no question is repeated"


def test_exercises_are_on_parts_that_exist_and_ask_one_question_and_answer_it() -> None:
    assert MASK_EXERCISES.keys() <= MASKS.keys()
    assert POSITIONAL_ENCODING_EXERCISES.keys() <= POSITIONAL_ENCODINGS.keys()
    assert ATTENTION_FUNCTION_EXERCISES.keys() <= ATTENTION_FUNCTIONS.keys()
    tables = (MASK_EXERCISES, POSITIONAL_ENCODING_EXERCISES, ATTENTION_FUNCTION_EXERCISES)
    exercises = [exercise for table in tables for exercise in table.values()]
    exercises += [row.exercise for row in (HEAD_METRICS | IMAGE_HEAD_METRICS).values() if row.exercise]
    exercises += [task.exercise for task in TASKS.values() if task.exercise]
    assert len(exercises) > 20
    for text in chain.from_iterable((one.question, one.answer) for one in exercises):
        assert text == text.strip() and text[-1] in ".?" and "  " not in text


def test_a_link_that_no_camera_could_read_has_no_code() -> None:
    assert link_code("http://room:8501/").startswith("<svg")
    assert "too long" in link_code("http://room:8501/?text=" + "x" * MAX_CODE)
