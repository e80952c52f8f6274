"""A short description of a model's size."""

from __future__ import annotations

from headlight.config import Config


def describe_heads(config: Config) -> str:
    """The numbers of layers and heads; for an encoder-decoder, those of each stack, which may differ."""
    if not config.has_cross_attention:
        return f"{config.layers} layers × {config.heads} heads"
    stacks = ((stack, config.for_stack(stack)) for stack in config.stacks)
    return ", ".join(f"{name} {stack.layers} layers × {stack.heads} heads" for name, stack in stacks)
