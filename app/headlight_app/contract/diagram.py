"""A model's diagram as an answer: its parts in the order in which a text passes through them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from headlight_app.contract.request import Answer


class DiagramPart(Struct, frozen=True, kw_only=True):
    """A box: its title, short lines of details, and the shape of its output. Its kind sets what a click opens."""

    kind: str
    title: str
    details: tuple[str, ...]
    shape: tuple[int, ...]


class SublayerDiagram(Struct, frozen=True, kw_only=True):
    """A branch of the residual stream; its output is `added` to the stream or replaces it."""

    kind: str
    parts: tuple[DiagramPart, ...]
    added: bool
    norm: DiagramPart | None
    norm_on_stream: Literal["", "before", "after"]


class StackDiagram(Struct, frozen=True, kw_only=True):
    """An encoder or a decoder, shown with the block of one `layer`."""

    name: str
    title: str
    inputs: tuple[DiagramPart, ...]
    positions: DiagramPart | None
    after_positions: tuple[DiagramPart, ...]
    layers: int
    layer: int
    sublayers: tuple[SublayerDiagram, ...]
    parallel: bool
    outputs: tuple[DiagramPart, ...]
    residual_shape: tuple[int, ...]


class ModelDiagramAnswer(Answer, frozen=True, kw_only=True):
    """The stacks in running order, and the output head of the last one."""

    stacks: tuple[StackDiagram, ...]
    head: tuple[DiagramPart, ...]
