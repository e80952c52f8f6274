"""A model's diagram as it travels: what it is built of, in the order in which a text runs through it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from headlight_app.contract.request import Answer


class DiagramPart(Struct, frozen=True, kw_only=True):
    """A box: its title, details in lines of few words, and the shape of its output. Its kind says where it leads."""

    kind: str
    title: str
    details: tuple[str, ...]
    shape: tuple[int, ...]


class SublayerDiagram(Struct, frozen=True, kw_only=True):
    """A branch of the residual stream; its output is `added` to the stream, or else replaces it."""

    kind: str
    parts: tuple[DiagramPart, ...]
    added: bool
    norm: DiagramPart | None
    norm_on_stream: Literal["", "before", "after"]


class StackDiagram(Struct, frozen=True, kw_only=True):
    """An encoder or a decoder, with the block of one `layer`."""

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
    """The stacks in the order they run, and what turns the output of the last one into the answer."""

    stacks: tuple[StackDiagram, ...]
    head: tuple[DiagramPart, ...]
