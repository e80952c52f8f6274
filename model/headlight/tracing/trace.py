"""Trace: the recorded values of one forward pass, frozen.

A value's name is its path: `decoder.3.self.weights` are the self-attention weights of the decoder's fourth layer. The
last part of a path is its hook point; HOOK_POINTS lists its axes and meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from headlight.array_types import Float, Shaped
from headlight.config import Config
from headlight.errors import EditError, TextError
from headlight.origin import Origin
from headlight.problem_types import problem_type_of
from headlight.text.tokenizer import Encoded
from headlight.tracing.live_edits import LiveEdit
from headlight.tracing.transformer_lens import transformer_lens_value

if TYPE_CHECKING:
    from headlight.rendering.html import HtmlView


def position_index(position: int, length: int) -> int:
    """A position counted from 0, or from the end if negative. Raises TextError for one outside the text."""
    if not -length <= position < length:
        raise TextError(f"There is no token {position}: the text has {length}, counted from 0.")
    return position % length


def require_position(position: int, length: int) -> None:
    """Raise TextError unless a text of `length` tokens has a position counted from 0."""
    if not 0 <= position < length:
        raise TextError(f"There is no token {position}: the text has {length}, counted from 0.")


def require_head(head: int, heads: int) -> None:
    """Raise EditError unless a layer of `heads` heads has a head counted from 0."""
    if not 0 <= head < heads:
        raise EditError(f"There is no head {head}; this layer has {heads}, counted from 0.")


NOT_FINITE = "The output of this model is not a number (NaN or infinite), so it predicts nothing."
OVERFLOW = "At {path} the numbers are NaN, infinite or too large to compute with. All later values are meaningless."


@dataclass(frozen=True, eq=False)  # compared by identity: two runs with equal numbers are not the same run
class Trace:
    """The recorded values of one forward pass as read-only NumPy arrays without a batch axis; safe to keep and share.

    `text` is the input of the predicting stack (the decoder's text of an encoder-decoder, whose encoder read `source`);
    for an image it is an EncodedImage with the positions of the patches. `values` maps each recorded path to its array;
    `interventions` are the applied edits in their text form; `origin` names the files of the weights, None if they were
    not read from files. `live_edits` are hooks and patches, which changed the values at `live_paths`.
    """

    config: Config
    text: Encoded
    source: Encoded | None
    values: Mapping[str, np.ndarray]
    interventions: tuple[str, ...] = ()
    origin: Origin | None = None
    live_edits: tuple[LiveEdit, ...] = ()
    live_paths: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for value in self.values.values():
            value.flags.writeable = False
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))

    def __getitem__(self, path: str) -> np.ndarray:
        if path not in self.values and (found := transformer_lens_value(self.values, self.config, path)) is not None:
            return found
        if path not in self.values:
            known = ", ".join(sorted({name.rpartition(".")[2] for name in self.values}))
            raise EditError(f"This trace holds no {path!r}. It holds these hook points: {known}.")
        return self.values[path]

    def stack_layers(
        self, hook_point: str, kind: str = "self", stack: str | None = None
    ) -> Shaped[np.ndarray, "layer head query key"]:
        """One hook point of attention in every layer of a stack, by default the stack that makes the prediction."""
        name = stack or self.config.stacks[-1]
        paths = [f"{name}.{layer}.{kind}.{hook_point}" for layer in range(self.config.num_layers(name))]
        if not paths:
            raise EditError(f"The {name} has no layers, so there is no attention to show.")
        return np.stack([self[path] for path in paths])

    def attention(self, kind: str = "self", stack: str | None = None) -> Float[np.ndarray, "layer head query key"]:
        """The attention weights of every layer and head; a row sums to one, or to zero if no key is allowed."""
        return self.stack_layers("weights", kind, stack).astype(np.float32, copy=False)

    def text_of_stack(self, stack: str) -> Encoded:
        """The text that a stack reads: the source for the encoder of an encoder-decoder."""
        return self.source if stack == "encoder" and self.source is not None else self.text

    @property
    def logits(self) -> np.ndarray | None:
        """The logits: [pos token], [pos label], or [label] of the whole text; None if not recorded."""
        return self.values.get("logits")

    @property
    def overflow_note(self) -> str:
        """A sentence if numbers are NaN, infinite or too large, for example because of huge weights; else empty.

        It names the first such value recorded on the residual stream.
        """
        stream = ((path, value) for path, value in self.values.items() if is_on_residual_stream(path))
        first = next((path for path, value in stream if not _can_be_normalized(value)), None)
        return "" if first is None else OVERFLOW.format(path=first)

    def probabilities(self, position: int = -1) -> Float[np.ndarray, " token"]:
        """The probability of every token (or label) at one position, or of the whole text's labels.

        For a model whose answers are scores, these are the scores (`headlight.problem_types`).
        """
        return problem_type_of(self.config).values(self.logits_at(position))

    def logits_at(self, position: int = -1) -> Float[np.ndarray, " token"]:
        """The logits of one position, or of the whole text's labels."""
        logits = self["logits"]
        return logits if logits.ndim == 1 else np.asarray(logits[position_index(position, len(logits))])

    def show(self, layer: int | None = None, head: int | None = None) -> HtmlView:
        """All heads as interactive HTML in a notebook: thumbnails, and one head as heatmap, lines, text and table.

        The named head is shown first, or else `strongest_local_head`; `save` writes a file. Raises EditError if the
        trace has no weights: for a long text `run` keeps them only with `keep=("*.weights", "*.mask")`. Without masks,
        cells that any head attends to count as allowed.
        """
        from headlight.rendering.html import show_trace  # the one import upwards: see pyproject.toml

        return show_trace(self, layer, head)


def is_on_residual_stream(path: str) -> bool:
    """Whether a path is on the residual stream, from the embedding to the logits."""
    hook_point = path.rpartition(".")[2]
    return hook_point.startswith("residual") or hook_point in ("embedding", "final_residual", "logits")


def _can_be_normalized(value: np.ndarray) -> bool:
    """Whether the squares of each vector have a finite sum in 32 bits; otherwise RMSNorm gives zeros."""
    flat = value.astype(np.float32, copy=False).ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        # The sum over all vectors is fast to compute, and finite for nearly all models.
        return bool(np.isfinite(flat @ flat) or np.isfinite(np.square(value, dtype=np.float32).sum(-1)).all())
