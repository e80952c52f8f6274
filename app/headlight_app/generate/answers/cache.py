"""The key/value cache as views: its size, and a strip for each layer that grows by a cell with each token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headlight.config import Config
from headlight.errors import counted
from headlight.generation.generate import CacheSize
from headlight.nn.masks import is_causal
from headlight.tasks import task_of
from headlight.views.kinds import StripsView
from headlight.views.rows import Row, row
from headlight.views.words import digits, format_bytes

FEWEST_CELLS = 32  # positions that the strips have room for


def cache_rows(config: Config, layers: Sequence[CacheSize], prompt_length: int) -> Iterator[Row]:
    """What is cached, or why nothing is."""
    if not layers:
        yield row(text=f"Nothing can be cached. {_why_nothing_is_kept(config)}")
        return
    cells = cell_count(max(layer.tokens for layer in layers), config.context_length)
    strips = StripsView(
        title=f"{counted(len(layers), 'layer')}, {counted(layers[0].tokens, 'token')} cached in each",
        labels=tuple(f"layer {layer}" for layer in range(len(layers))),
        parts=tuple(_parts(layer.tokens, prompt_length) for layer in layers),
        high=cells,
        ends=("token 0", f"token {cells - 1}"),
        group_titles=("generated",),
        heights=tuple(layer.key_value_heads / config.heads for layer in layers),
    )
    yield row(strips, text=describe_cache(config, layers))


def _parts(tokens: int, prompt_length: int) -> tuple[tuple[int, int], ...]:
    prompt = min(tokens, prompt_length)
    return (prompt, -1), (tokens - prompt, 0)  # grey, and the colour of generated words


def cell_count(length: int, context: int) -> int:
    """The number of positions with room in the strips: it doubles when they are full."""
    cells = FEWEST_CELLS
    while cells < length:
        cells *= 2
    return min(cells, context)


def describe_cache(config: Config, layers: Sequence[CacheSize]) -> str:
    """The cache, and its size. Layers without keys and values of their own are not among `layers`."""
    total, context = sum(layer.bytes for layer in layers), config.context_length
    numbers = sum(layer.key_value_heads * (layer.key_dim + layer.value_dim) for layer in layers)
    token = total / layers[0].tokens
    own = f"head of {len(layers)} of {config.layers} layers (the others share them)"
    words = (
        f"Each token leaves a key and a value in every {own if len(layers) < config.layers else 'layer and head'}: "
        f"{_sizes(layers)} = {numbers:,} numbers of {layers[0].element_size} bytes, {format_bytes(token)}. "
        f"Cached for {layers[0].tokens} tokens: {format_bytes(total)}; for {context:,}, the model's maximum, "
        f"{format_bytes(token * context)}."
    )
    unshared = sum(layer.bytes * config.heads / layer.key_value_heads for layer in layers)
    if unshared <= total:
        return words
    counts = " or ".join(map(str, dict.fromkeys(layer.key_value_heads for layer in layers)))
    return (
        f"{words} {config.heads} query heads share {counts} key/value heads: with one for each query head it would be "
        f"{format_bytes(unshared)}, {digits(round(unshared / total, 1), 6)} times as much."
    )


def _sizes(layers: Sequence[CacheSize]) -> str:
    """The sizes of the layers, equal sizes grouped."""
    sizes = [f"{counted(one.key_value_heads, 'head')} × ({one.key_dim} + {one.value_dim})" for one in layers]
    return " + ".join(f"{counted(sizes.count(size), 'layer')} × {size}" for size in dict.fromkeys(sizes))


def _why_nothing_is_kept(config: Config) -> str:
    if task_of(config).fills_masks:
        return "Every token sees all others, so a filled word changes all keys and values: each step reads all."
    if not is_causal(config.masks):
        return "Under this mask a token can see later ones, so a new token changes the keys and values of all others."
    return "An edit mixes the values of several tokens, so the keys and values of earlier tokens change."
