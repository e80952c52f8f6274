"""The attentions of a model, each a grid of layers and heads: where it stands, and whose tokens ask and are asked."""

from __future__ import annotations

from dataclasses import dataclass

from model.config import Config

NAMES = {"encoder": "Encoder", "decoder": "Decoder"}


@dataclass(frozen=True)
class Grid:
    """One kind of attention in one stack, named `decoder.self`; queries and keys are "text" or "source"."""

    name: str
    stack: str
    kind: str
    title: str
    layers: int
    heads: int
    queries: str
    keys: str


def grids(config: Config) -> tuple[Grid, ...]:
    """Every kind of attention a model has; the one that gives the answer first."""

    def grid(stack: str, kind: str, title: str, queries: str, keys: str) -> Grid:
        return Grid(f"{stack}.{kind}", stack, kind, title, config.depth(stack), config.of(stack).heads, queries, keys)

    if not config.has_cross:
        stack = config.stacks[-1]
        return (grid(stack, "self", NAMES[stack], "text", "text"),) if config.layers else ()
    return (
        grid("decoder", "self", "Decoder", "text", "text"),
        grid("decoder", "cross", "Cross", "text", "source"),
        grid("encoder", "self", "Encoder", "source", "source"),
    )
