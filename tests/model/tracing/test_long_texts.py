"""A long text is walked a few queries at a time, or left to fused attention, and nothing of that can be seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import model.nn.attention
from model.config import Config
from model.errors import EditError
from model.nn.attention_functions import ATTENTION_FUNCTIONS
from model.nn.hooks import Hook, no_hook
from model.nn.positional_encodings import POSITIONAL_ENCODINGS
from model.nn.transformer import Transformer
from model.tracing.interventions import Intervention, InterventionHook
from model.tracing.run import RecordingHook

IDS = torch.arange(3, 16)[None]
SIZES: dict[str, Any] = {
    "vocabulary_size": 20,
    "context_length": 24,
    "d_model": 24,
    "layers": 2,
    "heads": 4,
    "key_value_heads": 2,
}


def made(**choices: Any) -> Transformer:
    torch.manual_seed(0)
    model = Transformer(Config(**{**SIZES, **choices})).eval().requires_grad_(False)
    for parameter in model.parameters():
        parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def hidden(model: Transformer, tap: Hook = no_hook) -> np.ndarray:
    return np.asarray(model.encode_hidden(IDS, hook=tap))


def both(
    model_: Transformer, monkeypatch: pytest.MonkeyPatch, edits: tuple[str, ...] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """What comes out at usual length, and what does where everything is long."""

    def tap() -> Hook:
        return InterventionHook([Intervention.parse(edit) for edit in edits]) if edits else no_hook

    usual = hidden(model_, tap())
    monkeypatch.setattr(model.nn.attention, "CELLS_AT_ONCE", 130)  # two queries at a time
    return usual, hidden(model_, tap())


@pytest.mark.parametrize("position", POSITIONAL_ENCODINGS)
@pytest.mark.parametrize("kernel", ATTENTION_FUNCTIONS)
def test_every_kernel_and_scheme_gives_the_same(kernel: str, position: str, monkeypatch: pytest.MonkeyPatch) -> None:
    np.testing.assert_allclose(
        *both(made(attention_function=kernel, positional_encoding=position), monkeypatch), atol=2e-5
    )


@pytest.mark.parametrize("masks", [(), ("causal",), ("window:3",), ("causal", "window:2")])
def test_every_mask_gives_the_same(masks: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    np.testing.assert_allclose(*both(made(masks=masks), monkeypatch), atol=2e-5)


def test_a_query_that_may_attend_to_nothing_stays_at_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "/".join("0" * 13 if row == 4 else "1" * 13 for row in range(13))
    usual, walked = both(made(masks=(f"custom:{rows}",)), monkeypatch)
    assert np.isfinite(walked).all()
    np.testing.assert_allclose(usual, walked, atol=2e-5)


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
def test_an_edit_is_never_lost(edit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model_ = made()
    plain = hidden(model_)
    usual, walked = both(model_, monkeypatch, (edit,))
    assert np.abs(usual - plain).max() > 1e-3
    np.testing.assert_allclose(usual, walked, atol=2e-5)


def test_an_edit_past_the_end_is_refused_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model.nn.attention, "CELLS_AT_ONCE", 130)  # two queries at a time
    with pytest.raises(EditError, match=r"asks for query 13, but decoder\.0\.self\.weights has 13"):
        hidden(made(), InterventionHook([Intervention.parse("decoder.0.self.weights[0,13]=set:0")]))


def test_what_is_asked_for_is_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    model_, asked = made(), ("decoder.1.self.weights",)
    usual, walked = RecordingHook(no_hook, asked), RecordingHook(no_hook, asked)
    hidden(model_, usual)
    monkeypatch.setattr(model.nn.attention, "CELLS_AT_ONCE", 130)  # two queries at a time
    hidden(model_, walked)
    np.testing.assert_allclose(usual.arrays()[asked[0]], walked.arrays()[asked[0]], atol=1e-6)
