"""What can be seen: taps, the catalogue of sites, and the frozen Trace of one run.

A value's name is its path: `decoder.3.self.weights` is what the self-attention of the decoder's fourth layer gives as
weights. The last part of a path is its site, and SITES says what axes a site has and what it means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from model.array_types import Float, Shaped
from model.config import Config
from model.errors import EditError
from model.text.tokenizer import Encoded
from model.tracing.indices import position_index

if TYPE_CHECKING:
    from model.rendering.html import HtmlView


@dataclass(frozen=True, eq=False)  # itself and no other: comparing all its numbers means nothing
class Trace:
    """All that one run did, as read-only NumPy arrays without a batch axis; safe to keep and to share.

    `text` is what the traced stack read (for an encoder-decoder the decoder's text, and `source` the encoder's); of a
    picture it is Patched, and tells where its patches lie.
    `values` maps a path to its array; which paths are there is what `run` was asked to keep.
    """

    config: Config
    text: Encoded
    source: Encoded | None
    values: Mapping[str, np.ndarray]
    interventions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for value in self.values.values():
            value.flags.writeable = False
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))

    def __getitem__(self, path: str) -> np.ndarray:
        if path not in self.values:
            known = ", ".join(sorted({name.rpartition(".")[2] for name in self.values}))
            raise EditError(f"This trace holds no {path!r}. It holds these sites: {known}.")
        return self.values[path]

    def stack_layers(
        self, hook_point: str, kind: str = "self", stack: str | None = None
    ) -> Shaped[np.ndarray, "layer head query key"]:
        """One attention site of every layer of a stack, by default the stack that gives the answer."""
        name = stack or self.config.stacks[-1]
        paths = [f"{name}.{layer}.{kind}.{hook_point}" for layer in range(self.config.num_layers(name))]
        if not paths:
            raise EditError(f"The {name} has no layers, so there is no attention to show.")
        return np.stack([self[path] for path in paths])

    def attention(self, kind: str = "self", stack: str | None = None) -> Float[np.ndarray, "layer head query key"]:
        """The weights of every layer and head; rows sum to one, or to zero where nothing may be attended to."""
        return self.stack_layers("weights", kind, stack).astype(np.float32, copy=False)

    def text_of_stack(self, stack: str) -> Encoded:
        """The text that a stack reads."""
        return self.source if stack == "encoder" and self.source is not None else self.text

    def show(self, layer: int | None = None, head: int | None = None) -> HtmlView:
        """All heads in a notebook: thumbnails, the chosen head as map, lines, text and table; `save` makes a file.

        It begins with the head that is named, or else with one that is plain to see (`model.habits.plainest`).
        Raises EditError where the trace holds no weights: of a long text `run` keeps them only if told to, by
        `keep=("*.weights", "*.mask")`. Without masks a head may look wherever any head does.
        """
        from model.rendering.html import show_trace  # rendering stands above tracing: only who asks pays for it

        return show_trace(self, layer, head)

    @property
    def logits(self) -> np.ndarray | None:
        """Scores of the model's top, [pos token] for a language head; None without a output_head."""
        return self.values.get("logits")

    def probabilities(self, position: int = -1) -> Float[np.ndarray, " token"]:
        """The whole vocabulary's probabilities at one position: softmax of the logits."""
        rows = self["logits"]
        return softmax(rows[position_index(position, len(rows))])


def softmax(logits: Float[np.ndarray, " token"]) -> Float[np.ndarray, " token"]:
    """Softmax: logits as probabilities."""
    exponentials = np.exp(logits.astype(np.float64) - logits.max())
    return np.asarray(exponentials / exponentials.sum(), dtype=np.float32)
