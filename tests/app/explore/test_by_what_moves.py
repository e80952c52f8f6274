"""Every attention picture shows weights or moved values: one switch for thumbnails, maps, rows and files."""

from __future__ import annotations

import numpy as np
import pytest

from headlight.analysis.moved_values import KEEP, moved_values
from headlight.rendering.html import quantize_weights
from headlight_app.contract.state import State
from headlight_app.explore.answers.export.code import python_code, shell_code
from headlight_app.explore.answers.head_view import SHOWN, head_view
from headlight_app.explore.answers.heads import trace_reply
from headlight_app.inference.attention_payload import notes
from headlight_app.inference.resolved_question import resolve
from headlight_app.state.url import decode_state, encode_state
from tests.app.asking import ask_worker, make_question

TEXT = "the cat sat on the mat"
MODELS = {"next": "decoder.1.self", "masked": "encoder.1.self"}


def shares(model: str, path: str) -> np.ndarray:
    resolved = resolve(make_question(model, TEXT))
    return moved_values(resolved.model, resolved.trace_of(*KEEP), path).length


@pytest.mark.parametrize("model", MODELS)
def test_thumbnails_and_map_show_the_shares_of_the_output(model: str) -> None:
    path, resolved = MODELS[model], resolve(make_question(model, TEXT, measure="moved"))
    made = head_view(resolved, State(layer=1, head=2))
    shown, wanted = made.cell_states == SHOWN, shares(model, path)
    assert np.allclose(made.values[shown], wanted[2][shown], atol=1e-6)
    assert np.where(shown, made.values, 0).sum(-1) == pytest.approx(np.ones(len(shown)), abs=1e-5)
    reply = trace_reply(resolved)
    group = reply.answer.attention_groups[0]
    codes = np.frombuffer(reply.numbers, np.uint8)[group.offset :]
    layers = codes[: group.layers * group.heads * shown.size].reshape(group.layers, group.heads, *shown.shape)
    assert np.array_equal(layers[1], quantize_weights(wanted, np.broadcast_to(shown, wanted.shape)))
    assert "share of the head's output" in group.shows


def test_metrics_and_predictions_stay_those_of_the_weights() -> None:
    plain, moved = (trace_reply(resolve(make_question("next", TEXT, measure=measure))) for measure in ("", "moved"))
    assert plain.answer.predictions == moved.answer.predictions
    assert plain.answer.attention_groups[0].metrics == moved.answer.attention_groups[0].metrics


def test_compare_and_generate_show_it_too() -> None:
    question = {"model": "next", "text": TEXT, "measure": "moved"}
    _, numbers = ask_worker("head_matrix", path="decoder.1.self.weights", head=2, **question)
    wanted = shares("next", "decoder.1.self")[2]
    assert np.allclose(np.frombuffer(numbers, "<f4").reshape(wanted.shape), wanted, atol=1e-6)
    meta, numbers = ask_worker("generate", **question)
    group = meta["step"]["attention_groups"][0]
    rows = np.frombuffer(numbers, "<f4").reshape(group["layers"], group["heads"], -1)
    assert np.allclose(rows[1, 2], wanted[-1], atol=1e-6) and group["shows"]


def test_its_address_its_program_and_its_command() -> None:
    state = State(model="next", text=TEXT, measure="moved")
    assert encode_state(state)["measure"] == "moved" and decode_state(encode_state(state)) == state
    assert decode_state({"measure": "abacus"}).measure == ""
    resolved = resolve(make_question("next", TEXT, measure="moved"))
    assert "moved_values(model, trace, path).length[head]" in python_code(resolved, state)
    assert "headlight sinks" in shell_code(resolved, state)
    rewired = resolve(make_question("next", TEXT, measure="moved", positional_encoding="none"))
    assert "headlight sinks" not in shell_code(rewired, state)  # the command opens models without changes


def test_sinks_are_named_where_they_matter() -> None:
    said = " ".join(notes(resolve(make_question("next", TEXT, measure="moved"))))
    assert "sink in this text" in said
    assert "sink in this text" not in " ".join(notes(resolve(make_question("next", TEXT))))
