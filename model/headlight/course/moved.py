"""Addresses of screens that have become part of another one: old links still lead to what they showed."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode


@dataclass(frozen=True)
class Move:
    """A screen's new address: `chapter/screen`, the new names of its inputs, and inputs to add.

    An input with an empty new name is dropped.
    """

    path: str
    renamed: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)


ON_MODEL = {"on": "model"}
IN_MASKS = {
    "word": "[MASK]",
    "one": "The bird wanted to [MASK] over the trees.",
    "other": "The fish wanted to [MASK] over the trees.",
}
MOVED = {
    "architectures/cross-by-hand": Move("attention/projections", inputs={"memory": "cross"}),
    "architectures/one-to-another": Move("architectures/configurations"),
    "attention/learned": Move("attention/design"),
    "attention/random": Move("attention/scale", {"tokens": "keys", "examples": ""}, {"draw": "uniform"}),
    "attention/repeated": Move("attention/content"),
    "beyond-text/permutation": Move("beyond-text/graph"),
    "block/averages-in-a-model": Move("block/averages", inputs=ON_MODEL),
    "block/neurons": Move("block/feed-forward", inputs=ON_MODEL),
    "code/mistakes": Move("code/write", {"name": "mistake"}, {"shown": "mistake"}),
    "errors/divisor": Move("attention/scale", {"tokens": "keys", "d_model": ""}),
    "errors/fast-channels": Move("errors/pairs"),
    "errors/independent-tokens": Move("tokens/context", {"text": "one"}, IN_MASKS),
    "errors/itself": Move("masks/lifted", inputs={"mask": "itself"}),
    "errors/mask-shape": Move("masks/broadcast", {"tokens": "keys"}, {"way": "channels"}),
    "errors/reading": Move("errors/claims"),
    "errors/recurrence": Move("block/path-length"),
    "errors/rows-or-columns": Move(
        "attention/projections", {"x": "target", "q": "w_q", "k": "w_k"}, {"w_q": "1,2;0,1", "w_k": "1,0;1,1"}
    ),
    "errors/zero-score": Move("masks/before-after", inputs={"way": "scores"}),
    "heads/two-stacks": Move("heads/widths", {"decoder_heads": "heads"}),
    "masks/drawn": Move("masks/added", inputs={"mask": "drawn"}),
    "positions/base": Move("positions/waves", {"base": "other"}),
    "positions/shuffled": Move("positions/order", {"text": "one"}, {"order": "drawn"}),
    "positions/unique": Move("positions/bands", inputs={"share": "0", "position": "0"}),
    "tokens/nearest": Move("tokens/one-hot"),
    "training/any-word": Move("block/last-steps"),
    "training/trained-ladder": Move("training/ladder", {"text": "sentence"}, {"on": "shipped"}),
    "variants/functions-in-a-model": Move("variants/functions", inputs=ON_MODEL),
    "variants/linear-causal": Move("variants/linear", inputs={"mask": "causal"}),
    "variants/temperature-in-a-model": Move("variants/temperature", inputs=ON_MODEL),
}


def follow(chapter: str, screen: str, inputs: str) -> tuple[str, str, str]:
    """Chapter, screen and inputs (as in an address, `look-up.sharpness=3`) of a link after its screen has moved."""
    move = MOVED.get(f"{chapter}/{screen}")
    if move is None:
        return chapter, screen, inputs
    new_chapter, new_screen = move.path.split("/")
    given = {name.partition(".")[2]: text for name, text in parse_qsl(inputs) if name.partition(".")[0] == screen}
    texts = {move.renamed.get(name, name): text for name, text in given.items()}
    texts |= {name: text for name, text in move.inputs.items() if name not in texts}
    return new_chapter, new_screen, urlencode({f"{new_screen}.{name}": text for name, text in texts.items() if name})
