"""Generate shows the sources of a token, for growing texts and for filled masks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headlight.analysis.faithfulness.copying import Copy, Copying
from headlight.errors import HeadlightError
from headlight_app.generate.answers.copying import source_words
from tests.app.asking import ask_worker

PROMPT = "the cat sat.\nthe dog ran.\nthe cat"


def ask(**body: Any) -> dict[str, Any]:
    meta: dict[str, Any] = ask_worker("copying", **{"model": "next", "text": PROMPT, **body})[0]
    return meta


def tables(meta: dict[str, Any]) -> dict[str, Any]:
    """The numbers to be saved; they belong to the sentence."""
    found: dict[str, Any] = meta["rows"][0]["views"][0]["tables"]
    return found


def words(meta: dict[str, Any]) -> str:
    said: str = meta["rows"][0]["views"][0]["text"]
    return said


def test_passages_and_heads_of_the_token_that_comes_next() -> None:
    step = ask_worker("generate", model="next", text=PROMPT, with_tokens=True)[0]
    dog = next(place for place, token in enumerate(step["tokens"]["text"]) if token["text"].strip() == "dog")
    token = step["tokens"]["text"][dog]["id"]
    meta = ask(position=step["step"]["position"], token=token)
    assert meta["rows"][0]["title"] == "Where \u2068“dog”\u2069 comes from" and " occurs once " in words(meta)
    passages = tables(meta)["Passages of the prompt"]
    assert passages["axes"]["passage"] == ["the cat sat.", "the dog ran.", "the cat"]
    (bars,) = meta["rows"][-1]["views"]
    assert (
        bars["picks"][1] == {"text": "the cat sat.\nthe cat", "passage": "the dog ran."} and bars["action"] == "Delete"
    )
    assert bars["marked"] in (None, 1) and bars["labels"][1] == "2: the dog ran."
    heads = tables(meta).get("Heads that copied", {"values": []})["values"]
    assert sum(passages["values"][row][0] for row in range(3)) == pytest.approx(
        sum(logit for _, logit in heads), abs=0.05 * 8
    )


def test_even_a_single_passage_has_its_bars_with_the_whole_of_its_text() -> None:
    text = " ".join(["the cat sat"] * 10)
    step = ask_worker("generate", model="next", text=text)[0]["step"]
    (bars,) = ask(text=text, position=step["position"], token=step["chosen"])["rows"][-1]["views"]
    assert bars["kind"] == "bars" and bars["labels"] == [f"1: {text}"]


def test_generated_tokens_are_read_too() -> None:
    first = ask_worker("generate", model="next", text=PROMPT)[0]["step"]
    generated = [[first["position"], first["chosen"]]]
    meta = ask(position=first["position"] + 1, token=first["chosen"], generated=generated)
    assert " occurs " in words(meta), "the predicting token itself may be copied"


def test_a_filled_mask_may_be_copied_from_either_side() -> None:
    text = "the cat sat [MASK] the cat sat"
    tokens = ask_worker("generate", model="masked", text=text, with_tokens=True)[0]["tokens"]["text"]
    (mask,) = (place for place, token in enumerate(tokens) if token["text"] == "[MASK]")
    meta = ask(model="masked", text=text, position=mask, token=tokens[mask - 1]["id"])
    assert " occurs 2 times " in words(meta)


FOUND = Copying(
    (3,), (Copy("decoder.1.self", head=2, key=3, weight=0.9, logit=4.0),), copied=(4.0, 0.0), moved=(5.0, 0.5), rest=0.0
)
PASSAGES = ("cat sun key", "dog pan")


def test_the_source_passage_of_a_copying_head_is_named() -> None:
    said = source_words(" key", FOUND, PASSAGES)
    assert " occurs once " in said and said.endswith("comes from passage 1: \u2068“cat sun key”\u2069.")
    assert " occurs 2 times " in source_words(" key", replace(FOUND, occurrences=(3, 6)), PASSAGES)


def test_no_passage_is_named_if_nothing_was_copied() -> None:
    nothing = replace(FOUND, copied=(0.0, 0.0))
    assert "does not occur in the text" in source_words(" key", replace(nothing, occurrences=()), PASSAGES)
    suppressor = replace(nothing, heads=(replace(FOUND.heads[0], logit=-1.0),))
    assert "no head adds 0.05 or more to its logit from there" in source_words(" key", suppressor, PASSAGES)
    assert "passage" not in source_words(" key", nothing, PASSAGES)


def test_a_model_of_two_texts_gets_a_sentence() -> None:
    with pytest.raises(HeadlightError, match="two"):
        ask(model="both", text="", source="the dog lay", position=1, token=5)
