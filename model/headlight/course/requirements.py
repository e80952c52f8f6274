"""What screens need of a model, and which of its parts are numbered.

All of it depends on the Config alone, so a list of models can be filtered without opening any of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headlight.config import Config
from headlight.errors import InputError, numbered
from headlight.registry import Registry
from headlight.tasks import task_of


@dataclass(frozen=True)
class Requirement:
    """Which models suit a screen; `words` completes "This screen needs a model that "."""

    words: str
    suits: Callable[[Config], bool]


def _reads_text(config: Config) -> bool:
    return not config.reads_signal


def _is_one_stack(config: Config) -> bool:
    return _reads_text(config) and not config.has_cross_attention


def _predicts_tokens(config: Config) -> bool:
    return _is_one_stack(config) and task_of(config).predicts_tokens


ADDED_POSITIONS = ("sinusoidal", "sinusoidal-halves", "learned")
REQUIREMENTS: Registry[Requirement] = Registry(
    "requirement",
    {
        "text": Requirement("reads text", _reads_text),
        "one-stack": Requirement("is a decoder or an encoder and reads text", _is_one_stack),
        "encoder": Requirement(
            "is an encoder and reads text", lambda config: _is_one_stack(config) and config.architecture == "encoder"
        ),
        "decoder": Requirement(
            "is a decoder and reads text", lambda config: _is_one_stack(config) and config.architecture == "decoder"
        ),
        "encoder-decoder": Requirement("is an encoder-decoder and reads text", lambda config: config.reads_source_text),
        "masked-decoder": Requirement(
            "has a decoder with a causal mask and reads text",
            lambda config: _reads_text(config) and config.architecture != "encoder" and "causal" in config.masks,
        ),
        "predicts-tokens": Requirement("predicts the tokens of a text, the next or masked ones", _predicts_tokens),
        "continues-texts": Requirement(
            "continues texts", lambda config: _is_one_stack(config) and task_of(config).continues_text
        ),
        "fills-masks": Requirement("fills masks", lambda config: _is_one_stack(config) and task_of(config).fills_masks),
        "causal": Requirement(
            "predicts the next token under a causal mask",
            lambda config: _predicts_tokens(config) and "causal" in config.masks,
        ),
        "adds-positions": Requirement(
            "reads text and adds a vector to each token for its position",
            lambda config: _is_one_stack(config) and config.positional_encoding in ADDED_POSITIONS,
        ),
        "softmax": Requirement(
            "predicts tokens and whose attention is a plain softmax",
            lambda config: (
                _predicts_tokens(config)
                and config.attention_function == "softmax"
                and not config.attention.score_soft_cap
            ),
        ),
        "causal-residual": Requirement(
            "predicts the next token under a causal mask and has residual connections",
            lambda config: _predicts_tokens(config) and "causal" in config.masks and config.norm_placement != "none",
        ),
        "plain-scores": Requirement(
            "predicts tokens and whose weights are a plain softmax of products of queries and keys, with no bias added",
            lambda config: (
                _predicts_tokens(config)
                and config.attention_function == "softmax"
                and not config.attention.score_soft_cap
                and config.positional_encoding in (*ADDED_POSITIONS, "rope", "none")
            ),
        ),
        "feed-forward": Requirement(
            "reads text and has a feed-forward network in its blocks",
            lambda config: _is_one_stack(config) and config.has_feed_forward,
        ),
        "image": Requirement(
            "reads images with an encoder", lambda config: config.reads_image and config.architecture != "decoder"
        ),
        "image-to-text": Requirement(
            "reads images with an encoder and writes with a decoder",
            lambda config: config.reads_image and config.has_cross_attention,
        ),
    },
)

PARTS: Registry[Callable[[Config], int]] = Registry(
    "part of a model",
    {
        "layer": lambda config: config.num_layers(config.stacks[-1]),
        "encoder-layer": lambda config: config.num_layers(config.stacks[0]),
        "head": lambda config: config.heads,
    },
)


def require_index(index: int, count: int, name: str, whole: str, first: int = 0) -> int:
    """The index of one of `count` things in a whole. Raises InputError if it does not exist."""
    if first <= index < first + count:
        return index
    raise InputError(f"There is no {name} {index}: {whole} has {count}, counted from {first}.")


def require_part(config: Config, part: str, index: int) -> int:
    """The index, counted from 0. Raises InputError if the model has no such part."""
    count = PARTS[part](config)
    if index < count:
        return index
    name = part.rpartition("-")[2]
    raise InputError(f"There is no {name} {index} in this model: it has {numbered(name, count)}.")
