"""Generate shows the sources of a token, for growing texts and for filled masks."""

from __future__ import annotations

from typing import Any

import pytest

from headlight.errors import HeadlightError
from tests.app.asking import ask_worker

PROMPT = "the cat sat.\nthe dog ran.\nthe cat"


def ask(**body: Any) -> dict[str, Any]:
    meta: dict[str, Any] = ask_worker("copying", **{"model": "next", "text": PROMPT, **body})[0]
    return meta


def test_passages_and_heads_of_the_token_that_comes_next() -> None:
    step = ask_worker("generate", model="next", text=PROMPT, with_tokens=True)[0]
    dog = next(place for place, token in enumerate(step["tokens"]["text"]) if token["text"].strip() == "dog")
    token = step["tokens"]["text"][dog]["id"]
    meta = ask(position=step["step"]["position"], token=token)
    assert [passage["text"] for passage in meta["passages"]] == ["the cat sat.", "the dog ran.", "the cat"]
    assert meta["passages"][1]["without"] == "the cat sat.\nthe cat"
    assert meta["occurrences"] == [dog] and meta["source"] in (None, 1)
    assert sum(passage["copied"] for passage in meta["passages"]) == pytest.approx(
        sum(head["logit"] for head in meta["heads"]), abs=0.05 * 8
    )


def test_generated_tokens_are_read_too() -> None:
    first = ask_worker("generate", model="next", text=PROMPT)[0]["step"]
    generated = [[first["position"], first["chosen"]]]
    meta = ask(position=first["position"] + 1, token=first["chosen"], generated=generated)
    assert first["position"] in meta["occurrences"], "the predicting token itself may be copied"


def test_a_filled_mask_may_be_copied_from_either_side() -> None:
    step = ask_worker("generate", model="masked", text="the cat sat [MASK] the cat sat")[0]["step"]
    meta = ask(model="masked", text="the cat sat [MASK] the cat sat", position=step["position"], token=step["chosen"])
    assert step["position"] not in meta["occurrences"]


def test_a_model_of_two_texts_gets_a_sentence() -> None:
    with pytest.raises(HeadlightError, match="two"):
        ask(model="both", text="", source="the dog lay", position=1, token=5)
