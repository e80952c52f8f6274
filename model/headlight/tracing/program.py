"""export_program(): the forward pass as one graph of torch operations, for inputs of any length that the model reads.

The graph is traced from the model's own forward pass, so it computes the same numbers; a runtime without Python can
execute it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram, export

from headlight.array_types import Float, Int
from headlight.config import Config, SoundConfig
from headlight.errors import ConfigError
from headlight.nn.hooks import no_hook
from headlight.nn.transformer import Signal, Transformer
from headlight.tracing.recording import RecordingHook

RESULTS = ("*.weights",)  # besides the logits
EXAMPLE_LENGTH, EXAMPLE_SOURCE_LENGTH = 5, 7  # of the inputs that the graph is traced with
Example = tuple[Tensor, dict[int, Dim] | None]  # an input, and its axes that may have any length


class WeightsAndLogits(nn.Module):
    """A model as a function from tensors to tensors."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        ids: Int[Tensor, "batch token_pos"],
        source: Int[Tensor, "batch source"] | None = None,
        signal: Signal | None = None,
    ) -> tuple[dict[str, Float[Tensor, "batch head query key"]], Float[Tensor, "*shape token"] | None]:
        """The weights of every attention by path, and the logits (None without an output head)."""
        record = RecordingHook(no_hook, RESULTS)
        logits = self.model(ids, source=source, signal=signal, hook=record)
        return record.values, logits


def export_program(model: Transformer) -> ExportedProgram:
    """The program that computes `WeightsAndLogits` for one text, image or sound.

    Texts may have any length up to the context; all tokens are in the first segment, so a pair is not read. Sounds have
    any number of frames from two on, and as many steps as `SoundConfig.step_count` says, unless the model reads a fixed
    length. Call the program's `module()` with the keywords `ids`, `source` for a text that an encoder reads, and
    `signal` for an image or a sound.
    Raises ConfigError for a model with a custom mask, which is a matrix for texts of one length.
    """
    require_any_length(model.config)
    examples = _examples(model)
    inputs, lengths = ({name: example[part] for name, example in examples.items()} for part in (0, 1))
    with torch.no_grad():
        return export(WeightsAndLogits(model), (), inputs, dynamic_shapes=lengths)


def require_any_length(config: Config) -> None:
    """Raise ConfigError for a model with a custom mask, which is a matrix for texts of one length."""
    if "custom:" in "+".join((*config.masks, *config.per_layer.masks)):
        raise ConfigError("A custom mask is for texts of one length; a program is for all. Choose another mask.")


def _examples(model: Transformer) -> dict[str, Example]:
    """The inputs that the model's graph is traced with, by keyword."""
    config, examples = model.config, dict[str, Example]()
    if config.has_cross_attention or not config.reads_signal:
        examples["ids"] = _text("length", EXAMPLE_LENGTH, config.context_length, model.device)
    else:
        first_tokens = config.image.first_tokens if config.reads_image else 0
        examples["ids"] = torch.zeros(1, first_tokens, dtype=torch.long, device=model.device), None
    if config.has_cross_attention and not config.reads_signal:
        limit = config.for_stack("encoder").context_length
        examples["source"] = _text("source_length", EXAMPLE_SOURCE_LENGTH, limit, model.device)
    if config.reads_image:
        image = config.image
        examples["signal"] = torch.zeros(1, image.channels, image.height, image.width, device=model.device), None
    if config.reads_sound:
        examples["signal"] = _sound(config.sound, config.for_stack("encoder").context_length, model.device)
    return examples


def _text(name: str, length: int, limit: int, device: torch.device) -> Example:
    ids = torch.zeros(1, min(length, limit), dtype=torch.long, device=device)
    return ids, {1: Dim(name, max=limit)} if limit > 1 else None


def _sound(sound: SoundConfig, most_frames: int, device: torch.device) -> Example:
    steps = sound.sample_count // sound.hop if sound.frames else sound.step_count(EXAMPLE_LENGTH)
    signal = torch.zeros(1, sound.mel_bins or 1, steps, device=device)
    if sound.frames:
        return signal, None
    first, each = sound.step_count(1), sound.step_count(2) - sound.step_count(1)
    return signal, {2: each * Dim("frames", min=2, max=most_frames) + (first - each)}
