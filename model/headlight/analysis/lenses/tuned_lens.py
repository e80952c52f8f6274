"""Tuned lens: the logit lens with an affine map for each depth, fitted to the model's own answer (Belrose et al. 2023).

The logit lens reads an early residual stream as if it were the last one. But early layers may write in another basis,
and the mean of what later layers add is missing; `TunedLens` corrects both: h + A_l h + b_l goes through final norm and
output head. It shows what one linear map can read about the model's answer at a depth, not that the model uses this
there; and it is valid for the weights and the kind of text that it was fitted on.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from safetensors.torch import load_file, save
from torch import Tensor

from headlight.analysis.residual_stream import require_one_stream
from headlight.array_types import Float
from headlight.checkpoints.file_rules import LENS_FILES
from headlight.config import Config
from headlight.errors import CheckpointError, wrap_errors
from headlight.file_writing import json_bytes, write_files
from headlight.tasks import task_of
from headlight.validation import from_plain

WEIGHTS_FILE, LOSSES_FILE = LENS_FILES


@dataclass(frozen=True)
class LensLosses:
    """The additional loss from reading the model at a depth instead of at its end, in bits per byte of held-out text.

    `bits_per_byte` is the loss of the model itself; for a masked language model, of the masked tokens. `command` fitted
    the lens, `texts` names the held-out texts.
    """

    command: str
    texts: tuple[str, ...]
    bits_per_byte: float
    logit_lens: tuple[float, ...]
    tuned_lens: tuple[float, ...]


@dataclass(frozen=True)
class TunedLens:
    """The affine maps of all depths except the last (depth 0 is the embedding), and their measured losses."""

    weight: Float[Tensor, "depth d_model d_model"]
    bias: Float[Tensor, "depth d_model"]
    losses: LensLosses | None = None

    def __call__(self, depth: int, stream: Float[Tensor, "*row d_model"]) -> Float[Tensor, "*row d_model"]:
        """The residual stream of a depth, mapped to the input of the final norm."""
        weight, bias = (each[depth].to(stream) for each in (self.weight, self.bias))
        return stream + stream @ weight.T + bias


def loss_unit(config: Config) -> str:
    """The unit of a model's LensLosses."""
    only = " of masked tokens alone, which no next-token model's compare with" if task_of(config).fills_masks else ""
    return f"bits per byte{only}"


def lens_shape(config: Config) -> tuple[int, int]:
    """The depths and the width of a model's lens. Raises ConfigError for a model of several residual streams."""
    require_one_stream(config, "a tuned lens")
    stack = config.stacks[-1]
    return config.num_layers(stack), config.d_model


def read_tuned_lens(folder: str | Path, config: Config) -> TunedLens | None:
    """The lens in a checkpoint's folder; None without one. Raises CheckpointError if it does not fit."""
    folder = Path(folder)
    if not (folder / WEIGHTS_FILE).is_file():
        return None
    with wrap_errors(CheckpointError, f"The tuned lens of {folder.name} cannot be read"):
        tensors = load_file(folder / WEIGHTS_FILE)
        losses = json.loads((folder / LOSSES_FILE).read_text(encoding="utf-8"))
        lens = TunedLens(
            tensors["weight"].float(),
            tensors["bias"].float(),
            from_plain(LensLosses, losses, "table", CheckpointError),
        )
    depths, width = lens_shape(config)
    if lens.weight.shape != (depths, width, width) or lens.bias.shape != (depths, width):
        raise CheckpointError(
            f"The tuned lens of {folder.name} is for another model: it has maps {list(lens.weight.shape)}, the model "
            f"{depths} layers of width {width}."
        )
    return lens


def write_tuned_lens(folder: Path, lens: TunedLens) -> None:
    """Write a lens beside the checkpoint that it was fitted to, its numbers in half precision."""
    assert lens.losses is not None
    half = {"weight": lens.weight.half().contiguous(), "bias": lens.bias.half().contiguous()}
    write_files(folder, {WEIGHTS_FILE: save(half), LOSSES_FILE: json_bytes(asdict(lens.losses))})
