"""Hooks: functions that receive each intermediate value of a forward pass with its path, and may replace it.

A path such as `decoder.3.self.weights` names the weights of self-attention in the decoder's fourth layer. Its last part
is a hook point: the kind of value, with its axes and title.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from torch import Tensor

from headlight.config import Config
from headlight.config.sound import MAX_SAMPLES
from headlight.registry import Registry

Hook = Callable[[str, Tensor], Tensor]


def no_hook(name: str, value: Tensor) -> Tensor:
    """The hook that does nothing."""
    return value


class HookScope(IntEnum):
    """The part of a value that a hook needs at a time: nothing, some rows (queries), or all of it."""

    NONE, ROWS, ALL = range(3)


@dataclass(frozen=True)
class PrefixedHook:
    """A hook for the values of one module: `weights` reaches `hook` as `prefix.weights`."""

    hook: Hook
    prefix: str

    def __call__(self, name: str, value: Tensor) -> Tensor:
        return self.hook(f"{self.prefix}.{name}", value)

    def scope(self, name: str) -> HookScope:
        """The part of a value that the hook needs."""
        return hook_scope(self.hook, f"{self.prefix}.{name}")

    def for_rows(self, start: int, total: int) -> Hook:
        """The hook for values that have only some of `total` rows, from `start` on."""
        return with_prefix(hook_for_rows(self.hook, start, total), self.prefix)


def with_prefix(hook: Hook, prefix: str) -> Hook:
    """The same hook for the values of one module; nested modules need no additional call."""
    if isinstance(hook, PrefixedHook):
        return PrefixedHook(hook.hook, f"{hook.prefix}.{prefix}")
    return hook if hook is no_hook else PrefixedHook(hook, prefix)


def hook_scope(hook: Hook, name: str) -> HookScope:
    """The part of a value that a hook needs: all of it, unless its method `scope` says otherwise."""
    if hook is no_hook:
        return HookScope.NONE
    method: Callable[[str], HookScope] | None = getattr(hook, "scope", None)
    return method(name) if method else HookScope.ALL


def hook_for_rows(hook: Hook, start: int, total: int) -> Hook:
    """The hook for values that have only some of `total` rows, from `start` on; its scope must be at most ROWS."""
    method: Callable[[int, int], Hook] | None = getattr(hook, "for_rows", None)
    return method(start, total) if method else hook


class HookAfter:
    """A hook that skips the value at `entry_path`, which already contains the edits."""

    def __init__(self, hook: Hook, entry_path: str) -> None:
        self.hook, self.entry_path = hook, entry_path

    def scope(self, path: str) -> HookScope:
        """As much as the hook needs."""
        return HookScope.NONE if path == self.entry_path else hook_scope(self.hook, path)

    def for_rows(self, start: int, total: int) -> Hook:
        """The same for a few rows at a time."""
        return HookAfter(hook_for_rows(self.hook, start, total), self.entry_path)

    def __call__(self, path: str, value: Tensor) -> Tensor:
        return value if path == self.entry_path else self.hook(path, value)


@dataclass(frozen=True)
class EditSentence:
    """The sentence for an edit with this operation, this number (None: any) and an index along these axes.

    `text` may contain {number}, {inverse} (one divided by a positive number), {place} ("head 3 of layer 1"), {heads}
    (the same, or "all heads of layer 1"), {inside} (" in layer 1"), {neurons} ("neuron 7"), and an axis's name for its
    token. The edit may also have an index for the head.
    """

    text: str
    operation: str
    indices: tuple[str, ...] = ()
    number: float | None = None


Module = Literal["stack", "layer", "attention", "feed_forward"]


@dataclass(frozen=True)
class HookPoint:
    """A kind of value: its axes without the batch, and its title.

    `edited_in` are the modules for which a menu of edits offers the value; an edit that fits none of `edit_sentences`
    gets the general sentence.
    """

    axes: tuple[str, ...]
    title: str
    edited_in: tuple[Module, ...] = ()
    edit_sentences: tuple[EditSentence, ...] = ()


_RESIDUAL_AXES = ("pos", "d_model")
_QUERY_KEY_AXES = ("head", "query", "key")
_MASK_SENTENCES = (
    EditSentence("Token {query} can see token {key}{inside}", "set", ("query", "key"), 1.0),
    EditSentence("Token {query} cannot see token {key}{inside}", "set", ("query", "key"), 0.0),
    EditSentence("Token {query} can see any token{inside}", "set", ("query",), 1.0),
    EditSentence("Token {query} cannot see any token{inside}", "set", ("query",), 0.0),
    EditSentence("Every token can see token {key}{inside}", "set", ("key",), 1.0),
    EditSentence("No token can see token {key}{inside}", "set", ("key",), 0.0),
    EditSentence("Every token can see any token{inside}", "set", (), 1.0),
    EditSentence("No token can see any token{inside}", "set", (), 0.0),
)
_POSITION_SENTENCES = (
    EditSentence("Token {pos} is at position {number}", "set", ("pos",)),
    EditSentence("Token {pos} is moved by {number}", "add", ("pos",)),
    EditSentence("Token {pos} is at its position × {number}", "scale", ("pos",)),
    EditSentence("All tokens are at position {number}", "set"),
    EditSentence("All tokens are moved by {number}", "add"),
    EditSentence("All tokens are at their positions × {number}", "scale"),
)
_WEIGHT_SENTENCES = (
    EditSentence("Token {query} gives token {key} the weight {number}{inside}", "set", ("query", "key")),
    EditSentence("{heads} off", "set", number=0.0),
)

HOOK_POINTS: Registry[HookPoint] = Registry(
    "hook point",
    {
        "pixels": HookPoint(("color_channel", "pixel_row", "pixel_column"), "Pixels as the model reads them"),
        "sound": HookPoint(("sound_channel", "sound_step"), "Sound as the model reads it"),
        "embedding": HookPoint(_RESIDUAL_AXES, "Token embeddings", edited_in=("stack",)),
        "position_ids": HookPoint(("pos",), "Position ids", edit_sentences=_POSITION_SENTENCES),
        "position_embedding": HookPoint(_RESIDUAL_AXES, "Position embeddings", edited_in=("stack",)),
        "residual": HookPoint(_RESIDUAL_AXES, "Residual stream", edited_in=("layer",)),
        "residual_streams": HookPoint(("pos", "stream", "d_model"), "All residual streams, side by side"),
        "residual_after_self": HookPoint(_RESIDUAL_AXES, "Residual stream after self-attention", edited_in=("layer",)),
        "residual_after_cross": HookPoint(_RESIDUAL_AXES, "Residual stream after cross-attention"),
        "residual_after_feed_forward": HookPoint(_RESIDUAL_AXES, "Residual stream after the feed-forward network"),
        "final_residual": HookPoint(_RESIDUAL_AXES, "Residual stream after the final norm", edited_in=("stack",)),
        "logits": HookPoint(("pos", "token"), "Logits"),
        "input": HookPoint(_RESIDUAL_AXES, "Normalised input"),
        "latent": HookPoint(("pos", "latent"), "Compressed keys and values"),
        "q": HookPoint(("head", "query", "head_dim"), "Queries", edited_in=("attention",)),
        "k": HookPoint(("key_value_head", "pos", "head_dim"), "Keys", edited_in=("attention",)),
        "v": HookPoint(("key_value_head", "pos", "value_head_dim"), "Values", edited_in=("attention",)),
        "rotated_q": HookPoint(("head", "query", "head_dim"), "Queries after rotary embedding"),
        "rotated_k": HookPoint(("key_value_head", "pos", "head_dim"), "Keys after rotary embedding"),
        "scale": HookPoint(
            ("head",),
            "Score scale",
            edit_sentences=(EditSentence("{place}: scores without the scale 1/√d", "set", number=1.0),),
        ),
        "sink": HookPoint(
            ("head",),
            "Score of the sink, which takes a share of each row that goes to no token",
            edit_sentences=(EditSentence("{place}: the sink's score is {number}", "set"),),
        ),
        "bias": HookPoint(_QUERY_KEY_AXES, "Position bias"),
        "scores": HookPoint(
            _QUERY_KEY_AXES,
            "Scores",
            edited_in=("attention",),
            edit_sentences=(EditSentence("{place}: softmax temperature × {inverse}", "scale"),),
        ),
        "mask": HookPoint(_QUERY_KEY_AXES, "Mask: 1 where a query may attend", edit_sentences=_MASK_SENTENCES),
        "masked_scores": HookPoint(_QUERY_KEY_AXES, "Masked scores"),
        "weights": HookPoint(
            _QUERY_KEY_AXES, "Attention weights", edited_in=("attention",), edit_sentences=_WEIGHT_SENTENCES
        ),
        "gate": HookPoint(("head", "query", "value_head_dim"), "Gate of the weighted values"),
        "weighted_values": HookPoint(("head", "query", "value_head_dim"), "Weighted values", edited_in=("attention",)),
        "neurons": HookPoint(
            ("pos", "d_ff"),
            "Feed-forward neurons",
            edited_in=("feed_forward",),
            edit_sentences=(EditSentence("{place}: {neurons} off", "set", ("d_ff",), 0.0),),
        ),
        "token_vector": HookPoint(("pos", "layer_channel"), "Vector that each token has for this layer"),
        "router_scores": HookPoint(("pos", "expert"), "Router's score of each expert"),
        "router_weights": HookPoint(("pos", "expert"), "Each expert's share of a token"),
        "shared_output": HookPoint(_RESIDUAL_AXES, "Output of the expert that reads every token"),
        "output": HookPoint(
            _RESIDUAL_AXES, "Output, added to the residual stream", edited_in=("attention", "feed_forward")
        ),
    },
)


# The sizes of the axes that do not count tokens.
AXIS_SIZES: Mapping[str, Callable[[Config], int]] = {
    "color_channel": lambda config: config.image.channels,
    "pixel_row": lambda config: config.image.height,
    "pixel_column": lambda config: config.image.width,
    "sound_channel": lambda config: config.sound.mel_bins or 1,
    "sound_step": lambda config: (config.sound.sample_count or MAX_SAMPLES) // config.sound.hop,
    "head": lambda config: config.heads,
    "key_value_head": lambda config: config.key_value_heads,
    "head_dim": lambda config: config.head_dim,
    "value_head_dim": lambda config: config.value_head_dim,
    "latent": lambda config: config.attention.latent.key_value_channels + config.attention.latent.shared_key_channels,
    "d_model": lambda config: config.d_model,
    "d_ff": lambda config: config.d_ff,
    "stream": lambda config: config.residual.alternating_updates.streams,
    "layer_channel": lambda config: config.layer_embedding.dim,
    "expert": lambda config: config.experts.count,
    "token": lambda config: config.vocabulary_size,
}

# Hook points that grow with the square of the text, in the order in which attention computes them.
QUERY_KEY_HOOK_POINTS = tuple(name for name, point in HOOK_POINTS.items() if point.axes == _QUERY_KEY_AXES)


def hook_point_of(path: str) -> HookPoint:
    """The hook point of a path. Raises UnknownNameError for an unknown name."""
    return HOOK_POINTS[path.rpartition(".")[2]]
