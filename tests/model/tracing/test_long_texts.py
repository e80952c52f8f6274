"""Attention over a long text runs in chunks of queries or fused, with the same result as in one pass."""

from typing import Any

import numpy as np
import pytest
import torch

import headlight.nn.attention
from headlight.errors import EditError
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.nn.hooks import Hook, no_hook
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.nn.transformer import Transformer
from headlight.tracing.interventions import Intervention, InterventionHook
from headlight.tracing.recording import RecordingHook
from tests.model import toys

IDS = torch.arange(3, 16)[None]


def make_model(**choices: Any) -> Transformer:
    return toys.model(key_value_heads=2, **choices)


def final_residual(model: Transformer, hook: Hook = no_hook) -> np.ndarray:
    return np.asarray(model.encode_hidden(IDS, hook=hook))


def at_once_and_chunked(
    model_: Transformer, monkeypatch: pytest.MonkeyPatch, edits: tuple[str, ...] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """The output in one pass, and in chunks as for long texts."""

    def make_hook() -> Hook:
        return InterventionHook([Intervention.parse(edit) for edit in edits]) if edits else no_hook

    at_once = final_residual(model_, make_hook())
    monkeypatch.setattr(headlight.nn.attention, "CELLS_AT_ONCE", 130)  # two queries at a time
    return at_once, final_residual(model_, make_hook())


@pytest.mark.parametrize("position", POSITIONAL_ENCODINGS)
@pytest.mark.parametrize("attention_function", ATTENTION_FUNCTIONS)
def test_chunks_equal_one_pass_for_every_attention_function_and_positional_encoding(
    attention_function: str, position: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.testing.assert_allclose(
        *at_once_and_chunked(
            make_model(attention_function=attention_function, positional_encoding=position), monkeypatch
        ),
        atol=2e-5,
    )


@pytest.mark.parametrize("masks", [(), ("causal",), ("window:3",), ("causal", "window:2")])
def test_chunks_equal_one_pass_for_every_mask(masks: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    np.testing.assert_allclose(*at_once_and_chunked(make_model(masks=masks), monkeypatch), atol=2e-5)


def test_a_query_without_allowed_keys_gets_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "/".join("0" * 13 if row == 4 else "1" * 13 for row in range(13))
    at_once, chunked = at_once_and_chunked(make_model(masks=(f"custom:{rows}",)), monkeypatch)
    assert np.isfinite(chunked).all()
    np.testing.assert_allclose(at_once, chunked, atol=2e-5)


EDITS = [
    "decoder.1.self.weights[3]=set:0",
    "decoder.*.self.weights[0]=uniform",
    "decoder.0.self.mask[:,7,2]=set:0",
    "decoder.1.self.scores[2,3:9,1]=add:2",
    "decoder.1.self.masked_scores[2]=mean",
    "decoder.0.self.bias[:,12,3]=set:1",
    "decoder.0.self.scale[2]=scale:3",
    "decoder.position_ids[3]=set:9",
    "decoder.1.self.weights[1,5:,2:4]=uniform",
]


@pytest.mark.parametrize("edit", EDITS)
def test_edits_act_in_chunks_too(edit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model_ = make_model()
    plain = final_residual(model_)
    at_once, chunked = at_once_and_chunked(model_, monkeypatch, (edit,))
    assert np.abs(at_once - plain).max() > 1e-3
    np.testing.assert_allclose(at_once, chunked, atol=2e-5)


def test_an_edit_out_of_range_is_refused_in_chunks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headlight.nn.attention, "CELLS_AT_ONCE", 130)  # two queries at a time
    with pytest.raises(EditError, match=r"asks for query 13, but decoder\.0\.self\.weights has 13"):
        final_residual(make_model(), InterventionHook([Intervention.parse("decoder.0.self.weights[0,13]=set:0")]))


def test_a_recorded_value_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    model_, paths = make_model(), ("decoder.1.self.weights",)
    at_once, chunked = RecordingHook(no_hook, paths), RecordingHook(no_hook, paths)
    final_residual(model_, at_once)
    monkeypatch.setattr(headlight.nn.attention, "CELLS_AT_ONCE", 130)  # two queries at a time
    final_residual(model_, chunked)
    np.testing.assert_allclose(at_once.arrays()[paths[0]], chunked.arrays()[paths[0]], atol=1e-6)
