"""The views of the Tasks page get what the model computes."""

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from headlight import run
from headlight.errors import ConfigError, HeadlightError, TextError
from headlight.generation.generate import beam_search
from headlight.nn.output_heads import SequenceClassifier
from headlight.tasks import label_text
from headlight_app.contract.state import MAX_BEAMS
from headlight_app.engine.requests import decode_request
from headlight_app.inference.open_models import open_checkpoint
from headlight_app.inference.resolved_question import resolve
from headlight_app.tasks.contract import BeamSearchRequest
from tests.app.asking import ask_worker, body, make_question

NUMBERS, OFF = "17 4 99 4", "encoder.2.self.weights=set:0"


def ask(route: str, **fields: Any) -> dict[str, Any]:
    return ask_worker(route, **fields)[0]


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


def effects(model: str = "mood", **fields: Any) -> tuple[dict[str, Any], np.ndarray]:
    meta, numbers = ask_worker("label_effects", model=model, text="the cat sat", **fields)
    return meta, np.frombuffer(numbers, "<f4")


def log_odds(logits: np.ndarray, label: int) -> float:
    others = np.delete(logits.astype(np.float64), label)
    return float(logits[label] - np.logaddexp.reduce(others))


def test_a_label_loses_what_it_loses_without_each_token_and_each_head() -> None:
    meta, numbers = effects(token=1)
    checkpoint = open_checkpoint("mood")
    model, tokenizer = checkpoint.model, checkpoint.tokenizer

    def without(*edits: str) -> float:
        return log_odds(run(model, tokenizer, "the cat sat", edits)["logits"], 1)

    count = len(meta["positions"])
    assert (meta["text"], meta["layers"], meta["heads"]) == ("sad", 2, 4)
    assert len(numbers) == 1 + count + meta["layers"] * meta["heads"]
    assert numbers[0] == pytest.approx(without(), abs=1e-4)
    for position, number in zip(meta["positions"], numbers[1:], strict=False):
        # With first-token pooling, hiding a token means masking it for all others.
        assert number == pytest.approx(without(f"encoder.*.self.mask[:,:,{position}]=set:0"), abs=1e-4)
    for head, number in enumerate(numbers[1 + count :]):
        edit = f"encoder.{head // 4}.self.weights[{head % 4}]=set:0"
        assert number == pytest.approx(without(edit), abs=1e-4)


def test_the_likeliest_label_is_meant_where_none_is_chosen_and_edits_hold() -> None:
    edit = "encoder.0.self.weights[1]=set:0"
    meta, numbers = effects(edits=[edit])
    checkpoint = open_checkpoint("mood")
    logits = run(checkpoint.model, checkpoint.tokenizer, "the cat sat", [edit])["logits"]
    assert meta["label"] == logits.argmax()
    assert numbers[0] == pytest.approx(log_odds(logits, meta["label"]), abs=1e-4)


def test_a_certain_label_still_loses_something_without_each_token() -> None:
    """Its probability rounds to 1, with and without any token."""
    _, numbers = effects(token=1, edits=["logits=scale:1000"])
    assert np.abs(numbers).max() > 40
    assert len(set(numbers.round(3).tolist())) == len(numbers)


def test_another_pooling_is_another_label_and_means_nothing_to_a_model_without_one() -> None:
    resolved = resolve(make_question("mood", "the cat sat", pooling="mean"))
    hidden = resolved.value("encoder.final_residual").mean(0)
    head = resolved.model.output_head
    assert isinstance(head, SequenceClassifier)
    expected = hidden @ head.projection.weight.numpy().T + head.projection.bias.numpy()
    assert resolved.logits(0) == pytest.approx(expected, abs=1e-5)
    assert resolved.is_changed and resolved.as_trained.logits(0) != pytest.approx(expected, abs=1e-5)
    assert not resolve(make_question("next", "the cat sat", pooling="mean")).is_changed


def test_only_a_label_of_the_whole_text_rests_on_tokens() -> None:
    with pytest.raises(ConfigError, match="does not label whole texts"):
        effects(model="tags")


def test_a_model_that_labels_no_tokens_says_so() -> None:
    with pytest.raises(TextError, match="does not label tokens"):
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
    asked = {"model": "dates", "source": "4/3/1987", "edits": ["decoder.*.cross.weights=set:0"]}
    edited = ask("beam_search", **asked, beam_width=MAX_BEAMS)
    assert len(edited["steps"][-1]) == MAX_BEAMS
    assert edited["texts"][0] != "1987-04-03"
    too_wide = msgspec.json.encode(body("beam_search", **asked, beam_width=MAX_BEAMS + 1))
    with pytest.raises(TextError, match="beam_width is 9; expected a number from 1 to 8"):
        decode_request(msgspec.json.Decoder(BeamSearchRequest), too_wide)


def test_a_model_that_writes_nothing_has_no_beams() -> None:
    with pytest.raises(TextError, match="does not continue a text"):
        ask("beam_search", model="mood", text="the dog", beam_width=2)


ONE, OTHER = "the cat sat on the mat", "the dog lay on the rug"


@pytest.mark.parametrize("edits", [[], ["encoder.0.self.weights[1]=set:0"]])
def test_pairs_of_tokens_sum_to_the_cosine_of_the_means(edits: list[str]) -> None:
    meta, numbers = ask_worker("sentence_similarity", model="masked", text=ONE, other_text=OTHER, edits=edits)
    one, other = (resolve(make_question("masked", text, edits=tuple(edits))).trace for text in (ONE, OTHER))
    assert (meta["tokens"], meta["other_tokens"]) == (list(one.text.token_texts), list(other.text.token_texts))
    means = [trace["encoder.final_residual"].astype(float).mean(0) for trace in (one, other)]
    assert meta["cosine"] == pytest.approx(means[0] @ means[1] / np.prod([np.linalg.norm(mean) for mean in means]))
    assert np.frombuffer(numbers, "<f4").sum(dtype=float) == pytest.approx(meta["cosine"], abs=1e-5)
    assert (meta["pooling"], meta["is_told"]) == ("mean", False)


def test_a_heads_effect_on_the_cosine_is_that_of_switching_it_off() -> None:
    texts = {"model": "masked", "text": ONE, "other_text": OTHER}
    meta, numbers = ask_worker("similarity_heads", **texts)
    assert (meta["layers"], meta["heads"]) == (2, 4)
    for place, without in enumerate(np.frombuffer(numbers, "<f4")):
        edit = f"encoder.{place // 4}.self.weights[{place % 4}]=set:0"
        assert without == pytest.approx(ask("sentence_similarity", **texts, edits=[edit])["cosine"], abs=1e-5)


def test_pooling_is_that_of_the_models_own_files(toys: Path) -> None:
    folder = toys / "masked"
    rows = [{"type": f"sentence_transformers.models.{kind}"} for kind in ("Transformer", "Pooling", "Normalize")]
    (folder / "1_Pooling").mkdir()
    try:
        (folder / "modules.json").write_text(json.dumps(rows))
        (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
        meta, numbers = ask_worker("sentence_similarity", model="masked", text=ONE, other_text=OTHER)
    finally:
        shutil.rmtree(folder / "1_Pooling")
        (folder / "modules.json").unlink()
    assert (meta["pooling"], meta["normalized"], meta["is_told"]) == ("cls", True, True)
    pairs = np.frombuffer(numbers, "<f4")
    assert pairs[0] == pytest.approx(meta["cosine"], abs=1e-5) and not pairs[1:].any()


@pytest.mark.parametrize(
    ("model", "other", "said"), [("masked", " ", "Type two sentences"), ("both", OTHER, "reads one text")]
)
def test_sentences_that_cannot_be_compared_get_a_sentence(model: str, other: str, said: str) -> None:
    with pytest.raises(HeadlightError, match=said):
        ask("sentence_similarity", model=model, text=ONE, source=ONE, other_text=other)
