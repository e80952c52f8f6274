"""A second text on the page: read with the first, in every answer, program and address."""

from pathlib import Path

import numpy as np
import pytest

from headlight import TextPair, load, run
from headlight_app.contract.state import MAX_ADDRESS_LENGTH, State
from headlight_app.explore.answers import exchanged_word
from headlight_app.explore.answers.export.code import python_code, shell_code
from headlight_app.explore.answers.head_view import head_view
from headlight_app.inference.resolved_question import resolve
from headlight_app.state.url import decode_state, encode_state
from headlight_app.state.variants import readable_question
from tests.app.asking import ask_worker, make_question
from tests.app.explore.test_export_code import agree, run_shell

ONE, OTHER = "the cat sat on the mat", "the dog lay"


def test_the_answer_is_that_of_the_pair(toys: Path) -> None:
    meta, _ = ask_worker("trace", model="mood", text=ONE, text_pair=OTHER)
    opened = load(toys / "mood")
    expected = run(opened.model, opened.tokenizer, TextPair(ONE, OTHER))
    assert [token["text"] for token in meta["tokens"]] == list(expected.text.token_texts)
    assert meta["question"]["text_pair"] == OTHER
    after = {each["text"]: each["after"] for each in meta["predictions"][0]["candidates"]}
    assert list(after.values()) == pytest.approx(sorted(expected.probabilities(), reverse=True), abs=1e-5)
    alone, _ = ask_worker("trace", model="mood", text=ONE)
    assert alone["predictions"] != meta["predictions"]
    where = [shown["predictions"][0]["preposition"] for shown in (meta, alone)]
    assert where == ["of both texts", "of the whole text"]


def test_programs_read_the_pair(toys: Path, tmp_path: Path) -> None:
    question, state = make_question("mood", ONE, text_pair=OTHER), State(layer=1, head=2)
    agree(question, state, toys)
    assert "TextPair" in python_code(resolve(question), state)
    numbers = run_shell(shell_code(resolve(question), state), toys, tmp_path)
    np.testing.assert_allclose(numbers["attention"][1, 2], head_view(resolve(question), state).values, rtol=1e-5)
    assert (str(numbers["text"]), str(numbers["text_pair"])) == (ONE, OTHER)


def test_a_patch_takes_values_from_another_first_text_with_the_same_second(toys: Path) -> None:
    patched = make_question(
        "mood", ONE, text_pair=OTHER, edits=("encoder.1.residual[1]=from:B[1]",), patch_from="a dog sat"
    )
    donor = resolve(patched).patched_from
    assert donor is not None
    assert donor.model_input == TextPair("a dog sat", OTHER)
    agree(patched, State(layer=1, head=2), toys)


def test_an_exchanged_word_is_one_of_the_first_text(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchanged_word, "_example_words", lambda resolved: ["boy"])
    resolved = resolve(make_question("mood", ONE, text_pair=OTHER))
    found = list(exchanged_word._exchanged_texts(resolved, 0))
    assert {"the boy sat on the mat", "the cat sat on the boy"} <= set(found)
    assert not any("\n" in text or OTHER in text for text in found)


@pytest.mark.parametrize(("model", "read"), [("mood", OTHER), ("tags", OTHER), ("next", ""), ("both", "")])
def test_a_model_that_is_not_made_for_pairs_reads_one_text(model: str, read: str, toys: Path) -> None:
    asked = make_question(model, ONE, text_pair=OTHER)
    assert readable_question(asked, load(toys / model).model.config).text_pair == read
    shown, _ = ask_worker("explore_page", model=model)
    assert shown["reads_pair"] == bool(read)


def test_an_address_holds_the_second_text_unless_it_is_too_long() -> None:
    state = State(model="mood", text=ONE, text_pair=OTHER)
    assert decode_state(encode_state(state)) == state
    assert "text_pair" not in encode_state(state.change(text_pair="a" * (MAX_ADDRESS_LENGTH + 1)))
