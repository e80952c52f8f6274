"""Fitting a tuned lens: its gradient equals autograd's, it learns, and a stopped fit resumes exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from headlight.analysis.lenses.tuned_lens import TunedLens
from headlight.data.corpus import TextSource, TokenizedText, tokenize_source
from headlight.nn.transformer import Transformer
from headlight.text.tokenizer import Tokenizer
from headlight.training.objectives import TEXT_OBJECTIVES, TextObjective
from headlight.training.tuned_lens import LensFit, LensOptions, measure_lens, read_depth, residual_streams
from tests.model import toys

KINDS = ("causal", "masked")


def toy(kind: str) -> tuple[Transformer, Tokenizer]:
    return (toys.encoder(), toys.masked()) if kind == "masked" else (toys.decoder(), toys.causal())


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(toys.LINES))
    return path


def objective(kind: str, file: Path) -> tuple[TextObjective, TokenizedText]:
    tokenizer = toy(kind)[1]
    text = tokenize_source(TextSource(file), tokenizer, tokenizer.start_id if kind == "causal" else None)
    return TEXT_OBJECTIVES[kind](tokenizer, [text], {}), text


def fit(kind: str, file: Path, steps: int = 20) -> LensFit:
    """A fit in float32; by itself it chooses the precision that is faster at the moment, so two may differ."""
    options = LensOptions(steps=steps, tokens=96, context=24, learning_rate=0.01)
    made = LensFit(toy(kind)[0], objective(kind, file)[0], options)
    made.precision = torch.float32
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_follows_the_gradient_of_the_divergence(
    kind: str, text_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = fit(kind, text_file)
    batch = made.objective.batch(np.random.default_rng((0, 0)), 4, 24)
    streams, final = residual_streams(made.model, batch)
    wanted = made.model.output_head(final).log_softmax(-1)
    weight, bias = (torch.zeros_like(each, requires_grad=True) for each in made.maps.values())
    divergences = [
        torch.nn.functional.kl_div(
            read_depth(made.model, TunedLens(weight, bias)(depth, stream)).log_softmax(-1),
            wanted, reduction="batchmean", log_target=True,
        )
        for depth, stream in enumerate(streams)
    ]  # fmt: skip
    loss = torch.stack(divergences).mean()
    loss.backward()  # type: ignore[no-untyped-call]
    monkeypatch.setattr(made.optimizer, "zero_grad", lambda: None)
    assert made.fit_step() == pytest.approx(loss.item(), rel=1e-4)
    for own, plain in zip(made.maps.values(), (weight, bias), strict=True):
        assert own.grad is not None and plain.grad is not None
        assert torch.allclose(own.grad, plain.grad, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_it_loses_less_than_the_logit_lens(kind: str, text_file: Path, tmp_path: Path) -> None:
    made = fit(kind, text_file, steps=40)
    assert made.run(tmp_path / "lens.pt", lambda line: None)
    asked, text = objective(kind, text_file)
    found = measure_lens(made.model, made.lens, asked, [text], rows=4)
    assert sum(found["tuned_lens"]) < sum(found["logit_lens"])


def test_a_stopped_fit_goes_on_from_where_it_was(text_file: Path, tmp_path: Path) -> None:
    """All that a step reads is restored exactly, and the next step reads the same texts.

    The maps at the end are not compared: Adam divides by the size of a gradient, so the rounding of one near 0, which
    depends on the alignment of memory, may turn into a step of the whole learning rate.
    """
    stopped = fit("causal", text_file)
    for _ in range(7):
        stopped.fit_step()
    stopped.save(tmp_path / "part.pt")
    resumed = fit("causal", text_file)
    assert not resumed.run(tmp_path / "part.pt", lambda line: None, should_stop=lambda: True)
    assert resumed.step == stopped.step == 7
    for name, each in stopped.maps.items():
        assert torch.equal(resumed.maps[name], each)
        for moment, state in stopped.optimizer.state[each].items():
            assert torch.equal(resumed.optimizer.state[resumed.maps[name]][moment], state)
    assert resumed.fit_step() == pytest.approx(stopped.fit_step(), rel=1e-5)
    assert resumed.run(tmp_path / "part.pt", lambda line: None) and resumed.step == 20
