"""Addresses of screens that have become part of another one: old links still lead to what they showed."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode


@dataclass(frozen=True)
class Move:
    """Where a screen went: `chapter/screen`, the new names of its inputs, and inputs that it needs there."""

    path: str
    renamed: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)


ON_MODEL = {"on": "model"}
MOVED = {
    "architectures/cross-by-hand": Move("attention/projections", inputs={"memory": "cross"}),
    "architectures/one-to-another": Move("architectures/configurations"),
    "attention/learned": Move("attention/design"),
    "attention/repeated": Move("attention/content"),
    "beyond-text/permutation": Move("beyond-text/graph"),
    "block/averages-in-a-model": Move("block/averages", inputs=ON_MODEL),
    "errors/fast-channels": Move("errors/pairs"),
    "errors/reading": Move("errors/claims"),
    "errors/recurrence": Move("block/path-length"),
    "heads/two-stacks": Move("heads/widths", {"decoder_heads": "heads"}),
    "positions/base": Move("positions/waves", {"base": "other"}),
    "positions/shuffled": Move("positions/order", {"text": "one"}, {"order": "drawn"}),
    "training/trained-ladder": Move("training/ladder", {"text": "sentence"}, {"on": "shipped"}),
    "variants/functions-in-a-model": Move("variants/functions", inputs=ON_MODEL),
    "variants/temperature-in-a-model": Move("variants/temperature", inputs=ON_MODEL),
}


def follow(chapter: str, screen: str, inputs: str) -> tuple[str, str, str]:
    """Chapter, screen and inputs (as in an address, `look-up.sharpness=3`) of a link, where its screen has moved."""
    move = MOVED.get(f"{chapter}/{screen}")
    if move is None:
        return chapter, screen, inputs
    new_chapter, new_screen = move.path.split("/")
    given = {name.partition(".")[2]: text for name, text in parse_qsl(inputs) if name.partition(".")[0] == screen}
    texts = {move.renamed.get(name, name): text for name, text in given.items()} | move.inputs
    return new_chapter, new_screen, urlencode({f"{new_screen}.{name}": text for name, text in texts.items()})
