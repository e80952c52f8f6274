"""TransformerLens names for values of a trace, such as `blocks.1.attn.hook_pattern`, with its order of axes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

import numpy as np

from headlight.config import Config
from headlight.errors import EditError, shortened

_OF_BLOCKS = {
    "hook_resid_pre": "residual",
    "hook_resid_mid": "residual_after_self",
    "hook_attn_out": "self.output",
    "hook_mlp_out": "feed_forward.output",
    "mlp.hook_post": "feed_forward.neurons",
    "attn.hook_pattern": "self.weights",
    "attn.hook_attn_scores": "self.masked_scores",
    "attn.hook_q": "self.q",
    "attn.hook_k": "self.k",
    "attn.hook_v": "self.v",
    "attn.hook_rot_q": "self.rotated_q",
    "attn.hook_rot_k": "self.rotated_k",
    "attn.hook_z": "self.weighted_values",
}
_HEAD_AFTER_POSITION = ("q", "k", "v", "rotated_q", "rotated_k", "weighted_values")  # a trace has the head first
_OF_STACK = {"hook_embed": "embedding", "hook_pos_embed": "position_embedding"}
_BLOCK_PATTERN = re.compile(r"blocks\.(\d{1,6}|\*)\.(.+)")


def transformer_lens_value(values: Mapping[str, np.ndarray], config: Config, name: str) -> np.ndarray | None:
    """The value with this name in the predicting stack, with TransformerLens' axes; None if there is none."""
    path = _path(config, name)
    if path not in values:
        return None
    return np.swapaxes(values[path], 0, 1) if path.rpartition(".")[2] in _HEAD_AFTER_POSITION else values[path]


def native_path(config: Config, text: str) -> str:
    """The path and index of a trace for a TransformerLens name and index; other text is unchanged."""
    name, bracket, index = text.strip().partition("[")
    path = _path(config, name)
    if path.endswith("."):
        return text
    places = index.rstrip("]").split(",") if bracket else []
    if places and path.rpartition(".")[2] in _HEAD_AFTER_POSITION:
        position, head = [*places, ":"][:2]
        places = [head, position, *places[2:]]
    return f"{path}[{','.join(places)}]" if places else path


def native_edit(config: Config, text: str) -> str:
    """A TransformerLens edit in Headlight's form; other edits are unchanged.

    Raises EditError for an unknown name that looks like one of TransformerLens.
    """
    place, equals, operation = text.strip().partition("=")
    name = place.partition("[")[0].strip()
    if "hook_" not in name and not name.startswith("blocks."):
        return text
    if _path(config, name).endswith("."):
        raise EditError(f"No value is called {shortened(name)!r}; the nearest names: {_nearest_names(config, name)}.")
    run, bracket, source_index = operation.partition("[")
    if bracket and run.startswith("from:"):  # the same value, so the same axes
        operation = f"{run}[{native_path(config, f'{name}[{source_index}').partition('[')[2]}"
    return f"{native_path(config, place)}{equals}{operation}"


def paths_by_name(config: Config) -> dict[str, tuple[str, bool]]:
    """The path of every name that `native_edit` knows, and whether its index counts the head after the position."""
    kinds = [*_OF_BLOCKS, *(["hook_resid_post"] if _has_post(config) else [])]
    of_blocks = (f"blocks.{layer}.{kind}" for layer in ("*", *range(config.layers)) for kind in kinds)
    paths = {name: _path(config, name) for name in (*_OF_STACK, *of_blocks)}
    return {
        name: (path, path.rpartition(".")[2] in _HEAD_AFTER_POSITION)
        for name, path in paths.items()
        if not path.endswith(".")
    }


def _nearest_names(config: Config, name: str) -> str:
    block = _BLOCK_PATTERN.fullmatch(name)
    if block is None:
        known = [*_OF_STACK, *(f"blocks.0.{kind}" for kind in _OF_BLOCKS)]
    else:
        has_post = block[1] != "*" and _has_post(config)
        kinds = [*_OF_BLOCKS, *(["hook_resid_post"] if has_post else [])]
        known = [f"blocks.{block[1]}.{kind}" for kind in kinds]
    return ", ".join(get_close_matches(shortened(name), known, n=3, cutoff=0.0))


def _path(config: Config, name: str) -> str:
    stack, block = config.stacks[-1], _BLOCK_PATTERN.fullmatch(name)
    if block is None:
        return f"{stack}.{_OF_STACK.get(name, '')}"
    kind = block[2]
    if block[1] == "*":
        return f"{stack}.*.{_OF_BLOCKS.get(kind, '')}"
    layer = int(block[1])
    if kind == "hook_resid_post" and _has_post(config):
        return f"{stack}.{layer + 1}.residual" if layer + 1 < config.layers else f"{stack}.residual"
    return f"{stack}.{layer}.{_OF_BLOCKS.get(kind, '')}"


def _has_post(config: Config) -> bool:
    """Whether the residual stream before a block is the output of the one before: not of several streams."""
    return not (config.has_several_streams or config.has_recurrence)
