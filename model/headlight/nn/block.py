"""The transformer block: attention and feed-forward, each with a residual connection and norms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn

from headlight.array_types import Float
from headlight.config import Config
from headlight.nn.attention import Attention, AttentionContext, UpdateCache, no_cache
from headlight.nn.hooks import Hook, with_prefix
from headlight.nn.layers import FEED_FORWARDS, make_norm
from headlight.registry import Registry

Sublayer = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class NormPlacement:
    """Where the norms of a residual connection are; `title` is what a model card says.

    `apply` computes the residual stream after a sublayer, from the sublayer's input, the residual stream, the norm, the
    sublayer, and the norm of its output. `norm_before` and `norm_after` say which norms there are, `output_is_normed`
    whether the stack needs no final norm, `norm_on_stream` whether the residual stream itself runs through the norm,
    before or after the sublayer, and `has_residual` whether there is a residual connection at all.
    """

    title: str
    apply: Callable[[Tensor, Tensor, Sublayer, Sublayer, Sublayer], Tensor]
    norm_before: bool = True
    norm_after: bool = False
    output_is_normed: bool = False
    norm_on_stream: Literal["", "before", "after"] = ""
    has_residual: bool = True


def _residual_from_norm(
    x: Tensor, residual: Tensor, norm: Sublayer, sublayer: Sublayer, output_norm: Sublayer
) -> Tensor:
    normed = norm(x)
    return normed + sublayer(normed)


NORM_PLACEMENTS: Registry[NormPlacement] = Registry(
    "norm placement",
    {
        # Xiong et al. 2020, figure 1: post-norm is the original order, pre-norm trains without warm-up.
        "pre": NormPlacement(
            "Before each sublayer (pre-norm)",
            lambda x, residual, norm, sublayer, output_norm: residual + sublayer(norm(x)),
        ),
        "post": NormPlacement(
            "After each sublayer and its residual (post-norm)",
            lambda x, residual, norm, sublayer, output_norm: norm(residual + sublayer(x)),
            output_is_normed=True,
            norm_on_stream="after",
        ),
        # OLMo Team 2025, section 3.2
        "post-sublayer": NormPlacement(
            "On the output of each sublayer",
            lambda x, residual, norm, sublayer, output_norm: residual + output_norm(sublayer(x)),
            norm_before=False,
            norm_after=True,
        ),
        # Gemma Team 2024 (Gemma 2), section 2
        "sandwich": NormPlacement(
            "Before and after each sublayer",
            lambda x, residual, norm, sublayer, output_norm: residual + output_norm(sublayer(norm(x))),
            norm_after=True,
        ),
        # BigScience 2022, the option apply_residual_connection_post_layernorm
        "residual-from-norm": NormPlacement(
            "Before each sublayer and its residual", _residual_from_norm, norm_on_stream="before"
        ),
        "none": NormPlacement(
            "No norm and no residual connection",
            lambda x, residual, norm, sublayer, output_norm: sublayer(x),
            norm_before=False,
            has_residual=False,
        ),
    },
)


class ResidualConnection(nn.Module):
    """Residual connection around a sublayer, with norms as the placement has them (and neither under "none")."""

    def __init__(self, config: Config, has_norm: bool = True) -> None:
        super().__init__()
        placement = NORM_PLACEMENTS[config.norm_placement]
        self.apply_placement = placement.apply
        self.norm = make_norm(config, config.d_model) if has_norm and placement.norm_before else nn.Identity()
        self.output_norm = make_norm(config, config.d_model) if placement.norm_after else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "batch pos d_model"],
        sublayer: Sublayer,
        residual: Float[Tensor, "batch pos d_model"] | None = None,
    ) -> Float[Tensor, "batch pos d_model"]:
        """The residual stream (x where `residual` is None) plus the output of the sublayer, which reads x."""
        residual = x if residual is None else residual
        return self.apply_placement(x, residual, self.norm, lambda h: self.dropout(sublayer(h)), self.output_norm)


class Block(nn.Module):
    """Self-attention, cross-attention in a decoder with an encoder, and feed-forward, added to the residual stream.

    A block without a feed-forward network ("none") ends with its attention.
    """

    def __init__(self, config: Config, cross: bool, layer: int) -> None:
        super().__init__()
        self.parallel_residual = config.parallel_residual
        self.self_attention_residual = ResidualConnection(config, has_norm=config.first_norm or layer > 0)
        self.self_attention = Attention(config, layer)
        self.cross_attention_residual = ResidualConnection(config) if cross else None
        # Source and text have no distance, so cross-attention has no positional encoding.
        self.cross_attention = Attention(config.replace(positional_encoding="none"), layer) if cross else None
        self.feed_forward_residual = ResidualConnection(config) if config.has_feed_forward else None
        self.feed_forward = FEED_FORWARDS[config.feed_forward].make(config)

    def forward(
        self,
        x: Float[Tensor, "batch pos d_model"],
        context: AttentionContext,
        memory: Float[Tensor, "batch source d_model"] | None,
        cross_context: AttentionContext | None,
        hook: Hook,
        update_cache: UpdateCache = no_cache,
    ) -> Float[Tensor, "batch pos d_model"]:
        """The residual stream after this block."""
        block_input = x = hook("residual", x)
        x = self.self_attention_residual(
            x, lambda h: self.self_attention(h, None, context, with_prefix(hook, "self"), update_cache)
        )
        x = hook("residual_after_self", x)
        if self.cross_attention_residual is not None and self.cross_attention is not None and cross_context is not None:
            attend = self.cross_attention
            x = self.cross_attention_residual(x, lambda h: attend(h, memory, cross_context, with_prefix(hook, "cross")))
            x = hook("residual_after_cross", x)
        if self.feed_forward_residual is not None and self.feed_forward is not None:
            feed_forward, feed_forward_input = self.feed_forward, block_input if self.parallel_residual else x
            x = self.feed_forward_residual(
                feed_forward_input, lambda h: feed_forward(h, with_prefix(hook, "feed_forward")), residual=x
            )
        return x
