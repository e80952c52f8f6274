"""The weights of a training run at some of its steps, kept beside the checkpoint; all else is the same.

`steps/00400.safetensors` are the weights after 400 steps.
"""

from __future__ import annotations

from pathlib import Path

from safetensors.torch import load_file

from headlight.checkpoints.load import Checkpoint, load, serialized_weights
from headlight.errors import CheckpointError, wrap_errors
from headlight.nn.transformer import Transformer

STEPS_FOLDER = "steps"


def kept_steps(folder: Path) -> tuple[int, ...]:
    """The steps whose weights lie in a checkpoint's folder, in order."""
    files = (folder / STEPS_FOLDER).glob("*.safetensors")
    return tuple(sorted(int(path.stem) for path in files if path.stem.isdecimal()))


def save_step(folder: Path, model: Transformer, step: int) -> None:
    """Write the weights as those of a step."""
    path = _path(folder, step)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(serialized_weights(model))


def load_step(folder: Path, step: int) -> Checkpoint:
    """The checkpoint as it was after a step. Raises CheckpointError for a step that was not kept."""
    checkpoint, path = load(folder), _path(folder, step)
    if not path.is_file():
        known = ", ".join(map(str, kept_steps(folder))) or "none"
        raise CheckpointError(f"{folder.name} has no weights of step {step}. Kept steps: {known}.")
    with wrap_errors(CheckpointError, f"{folder.name}: its weights of step {step} cannot be read"):
        tensors = load_file(path)
        for name, parameter in checkpoint.model.named_parameters():
            parameter.copy_(tensors[name])
    return checkpoint


def _path(folder: Path, step: int) -> Path:
    return folder / STEPS_FOLDER / f"{step:05}.safetensors"
