"""What the views of the Tasks page are told is what the model computes."""

from __future__ import annotations

from typing import Any

import pytest

from app.ui.wire_format import unpack
from app.worker.open_models import open_checkpoint
from app.worker.serve import answer
from model import run
from model.errors import TextError
from model.generation.beam_search import beam_search
from model.tasks import label_text

NUMBERS, OFF = "17 4 99 4", "encoder.2.self.weights=set:0"


def ask(route: str, **body: Any) -> dict[str, Any]:
    return unpack(answer(route, body))[0]


def test_every_token_of_sort_gets_its_number() -> None:
    found = ask("token_labels", model="sort", text=NUMBERS)
    assert [labels[0]["text"] for labels in found["labels"]] == ["4", "4", "17", "99"] == found["as_trained"]
    assert not found["changed"]


def test_labels_are_those_of_the_edited_model_beside_those_as_trained() -> None:
    found = ask("token_labels", model="sort", text=NUMBERS, edits=[OFF])
    checkpoint = open_checkpoint("sort")
    edited = run(checkpoint.model, checkpoint.tokenizer, NUMBERS, [OFF])["logits"].argmax(-1)
    expected = [label_text(checkpoint.model.config, int(label)) for label in edited]
    assert [labels[0]["text"] for labels in found["labels"]] == expected != found["as_trained"]
    assert found["changed"] and all(labels[0]["before"] != labels[0]["after"] for labels in found["labels"])


def test_a_model_that_labels_no_tokens_says_so() -> None:
    with pytest.raises(TextError, match="gives tokens no labels"):
        ask("token_labels", model="mood", text="the dog")


@pytest.mark.parametrize("width", [1, 3])
def test_the_beams_are_those_of_the_search(width: int) -> None:
    source = "third of March 2021"
    found = ask("beam_search", model="dates", source=source, text="ignored", beam_width=width)
    checkpoint = open_checkpoint("dates")
    expected = list(beam_search(checkpoint.model, checkpoint.tokenizer, "", source=source, beams=width, steps=64))
    assert found["texts"][0] == "2021-03-03"
    assert [len(beams) for beams in found["steps"]] == [len(beams) for beams in expected]
    for rank, beam in enumerate(expected[-1]):
        tokens, place = [], rank
        for beams in reversed(found["steps"]):
            tokens.append(beams[place]["token"])
            place = beams[place]["parent"]
        written = [token for token in reversed(tokens) if token]
        assert written == [checkpoint.tokenizer.token_text(token) for token in beam.tokens]


def test_a_search_writes_under_the_edits_and_keeps_to_its_limits() -> None:
    edited = ask(
        "beam_search", model="dates", source="4/3/1987", text="", beam_width=99, edits=["decoder.*.cross.weights=set:0"]
    )
    assert len(edited["steps"][-1]) == 8
    assert edited["texts"][0] != "1987-04-03"


def test_a_model_that_writes_nothing_has_no_beams() -> None:
    with pytest.raises(TextError, match="does not continue a text"):
        ask("beam_search", model="mood", text="the dog", beam_width=2)
