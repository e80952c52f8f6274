"""Variants: the same weights under another positional encoding, attention function, masks, scale or pooling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from headlight.config import Config
from headlight.nn.masks import parse_masks
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.nn.transformer import Transformer, meta_model


def variant(
    model: Transformer,
    *,
    positional_encoding: str | None = None,
    attention_function: str | None = None,
    masks: str | Sequence[str] | None = None,
    scale: bool | None = None,
    pooling: str | None = None,
) -> Transformer:
    """The same weights, shared and not copied, with other parts in place of those given here.

    `masks` may be their text form, `causal+window:8`; `pooling` matters to classifiers of whole texts alone. New
    parameters (a learned table, a T5 bias) are zero and in `new_parameters`. Raises ConfigError or UnknownNameError for
    a part that does not exist.
    """
    if masks is not None:
        masks = parse_masks(masks) if isinstance(masks, str) else tuple(masks)
    requested = {
        "positional_encoding": positional_encoding,
        "attention_function": attention_function,
        "masks": masks,
        "scale": scale,
        "pooling": pooling,
    }
    current = model.config
    changes: dict[str, Any] = {
        name: choice for name, choice in requested.items() if choice is not None and choice != getattr(current, name)
    }
    if "masks" in changes:
        changes["per_layer"] = replace(current.per_layer, masks=())
    if "positional_encoding" in changes:
        changes["per_layer"] = replace(changes.get("per_layer", current.per_layer), positional_encodings=(), ropes=())
    config = current.replace(**changes)
    return model if config == current else _with_config(model, config)


def with_context_length(model: Transformer, context_length: int) -> Transformer:
    """The same weights, shared, for texts of another length; a table of learned positions is then new, and zero."""
    return _with_config(model, model.config.replace(context_length=context_length))


def describe_missing_weights(model: Transformer) -> str:
    """Why the positional encoding of a variant changes nothing, and what it would take; empty where it acts."""
    name = model.config.positional_encoding
    encoding = POSITIONAL_ENCODINGS[name]
    if not encoding.learned_weights or not model.new_parameters:
        return ""
    return (
        f"{encoding.title}: these positions act through weights learned in training, {encoding.learned_weights}. "
        "This model has none: they are zero, and all numbers are those of no positional encoding. "
        f'It would take a model trained with positional_encoding = "{name}".'
    )


def _with_config(model: Transformer, config: Config) -> Transformer:
    """A model of another config that shares the weights of `model`; those that it lacks are zero."""
    rewired = meta_model(config)
    source_state, shapes = model.state_dict(), {name: weight.shape for name, weight in rewired.state_dict().items()}
    # Two encodings may give different tables the same name: only one of the same shape is the same.
    weights = {
        name: source_state[name]
        for name, shape in shapes.items()
        if name in source_state and source_state[name].shape == shape
    }
    missing = tuple(name for name in shapes if name not in weights)
    zeros = {
        name: torch.zeros(shapes[name], dtype=model.embedding.weight.dtype, device=model.device) for name in missing
    }
    rewired.load_state_dict({**weights, **zeros}, assign=True)
    rewired.tie_embeddings()
    rewired.origin = model.origin
    rewired.new_parameters = missing + tuple(name for name in model.new_parameters if name in weights)
    return rewired.requires_grad_(False).train(model.training)
