"""The tuned lens: affine maps before the logit lens, stored in files beside a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from headlight import CheckpointError, find_checkpoint, load, run
from headlight.analysis.lenses.logit_lens import lens_at, logit_lens
from headlight.analysis.lenses.tuned_lens import (
    LensLosses,
    TunedLens,
    lens_shape,
    loss_unit,
    read_tuned_lens,
    write_tuned_lens,
)
from headlight.checkpoints.catalog import weight_bytes
from headlight.nn.transformer import Transformer
from headlight.paths import assets_dir
from tests.model import toys

LANGUAGE_MODELS = ("stories-causal", "stories-masked")
LOSSES = LensLosses("headlight lens toy", ("text",), 1.0, (3.0, 2.0), (2.0, 1.0))


def lens(model: Transformer, scale: float) -> TunedLens:
    depths, width = lens_shape(model.config)

    def drawn(*shape: int) -> Tensor:
        return scale * torch.randn(shape, generator=torch.Generator().manual_seed(1))

    return TunedLens(drawn(depths, width, width), drawn(depths, width), LOSSES)


@pytest.mark.parametrize("placement", toys.NORMED_PLACEMENTS)
def test_without_its_maps_it_is_the_logit_lens(placement: str) -> None:
    model = toys.decoder(norm_placement=placement)
    trace = toys.traced(model)
    assert np.array_equal(logit_lens(model, trace, 3, lens(model, 0.0)), logit_lens(model, trace, 3))


@pytest.mark.parametrize("placement", toys.NORMED_PLACEMENTS)
def test_each_depth_goes_through_its_own_map(placement: str) -> None:
    model = toys.decoder(norm_placement=placement)
    trace, tuned = toys.traced(model), lens(model, 0.3)
    found, stack = logit_lens(model, trace, 3, tuned), model.stack("decoder")
    for depth in range(2):
        stream = torch.from_numpy(trace[f"decoder.{depth}.residual"][3].copy())
        mapped = stream + tuned.weight[depth] @ stream + tuned.bias[depth]
        wanted = model.output_head(stack.project_out(stack.final_norm(mapped))).softmax(-1)
        assert np.allclose(found[depth], wanted, atol=1e-6)
        one = lens_at(model, trace, depth, [-1] * len(trace.text.ids), 1, slice(3, 4), tuned)
        assert one.answers[0, 0] == int(wanted.argmax())
    assert np.array_equal(found[2], logit_lens(model, trace, 3)[2]), "the last depth is the model's own answer"


def test_bits_of_masked_tokens_are_never_called_those_of_a_whole_text() -> None:
    assert loss_unit(toys.decoder().config) == "bits per byte"
    assert loss_unit(toys.encoder().config).startswith("bits per byte of masked tokens alone")


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    model = toys.decoder()
    written = lens(model, 0.1)
    write_tuned_lens(tmp_path, written)
    read = read_tuned_lens(tmp_path, model.config)
    assert read is not None and read.losses == LOSSES
    assert torch.allclose(read.weight, written.weight, atol=1e-3) and torch.allclose(read.bias, written.bias, atol=1e-3)
    assert weight_bytes(tmp_path) == 0, "it does not count as model weights"


def test_a_folder_without_one_has_none_and_another_models_is_refused(tmp_path: Path) -> None:
    model = toys.decoder()
    assert read_tuned_lens(tmp_path, model.config) is None
    write_tuned_lens(tmp_path, lens(model, 0.1))
    with pytest.raises(CheckpointError, match="another model"):
        read_tuned_lens(tmp_path, toys.config(layers=3))
    (tmp_path / "tuned_lens.json").write_text("{}")
    with pytest.raises(CheckpointError):
        read_tuned_lens(tmp_path, model.config)


def test_the_shipped_ones_lose_less_than_the_logit_lens_at_every_layer() -> None:
    sizes = 0
    for name in LANGUAGE_MODELS:
        folder = find_checkpoint(name)
        tuned = read_tuned_lens(folder, load(folder).model.config)
        assert tuned is not None and tuned.losses is not None
        assert all(ours < theirs for ours, theirs in zip(tuned.losses.tuned_lens, tuned.losses.logit_lens, strict=True))
        sizes += sum((folder / file).stat().st_size for file in ("tuned_lens.safetensors", "tuned_lens.json"))
    assert sizes < 3e6


def test_a_shipped_one_knows_the_answer_earlier() -> None:
    """As on held-out text, it diverges less from the model's answer than the logit lens, here for our own sentence."""
    opened = load(assets_dir() / "models" / "stories-causal")
    trace = run(opened.model, opened.tokenizer, "Once upon a time there was a little girl who loved her dog.")
    tuned = read_tuned_lens(find_checkpoint("stories-causal"), opened.model.config)

    def divergence(lens: TunedLens | None) -> np.ndarray:
        each = np.stack([logit_lens(opened.model, trace, place, lens) for place in range(len(trace.text.ids))])
        return np.asarray((each[:, -1:] * np.log(each[:, -1:] / each)).sum(-1).mean(0))[:-1]

    assert (divergence(tuned) < divergence(None)).all()
