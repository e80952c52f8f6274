"""The transformer block: residual connections, and attention and feed-forward between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

from model.array_types import Float
from model.config import Config
from model.nn.attention import Attention, Look, Remember, nothing_before
from model.nn.feedforward import FEEDFORWARDS
from model.nn.hooks import Tap, under
from model.nn.norms import make_norm
from model.registry import Registry

Sublayer = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Placement:
    """Where norms stand: `apply` gives the stream after a sublayer that read `x` has written onto it.

    `after` says whether what is written has a norm of its own, besides or in place of the one before;
    `ends_normed` whether a stack then needs no norm at its end.
    """

    apply: Callable[[Tensor, Tensor, Sublayer, Sublayer, Sublayer], Tensor]
    before: bool = True
    after: bool = False
    ends_normed: bool = False


def _from_normed(x: Tensor, onto: Tensor, before: Sublayer, sublayer: Sublayer, after: Sublayer) -> Tensor:
    normed = before(x)
    return normed + sublayer(normed)


PLACEMENTS: Registry[Placement] = Registry(
    "norm placement",
    {
        # Xiong et al. 2020, figure 1: post-norm is the original order, pre-norm trains without warm-up.
        "pre": Placement(lambda x, onto, before, sublayer, after: onto + sublayer(before(x))),
        "post": Placement(lambda x, onto, before, sublayer, after: before(onto + sublayer(x)), ends_normed=True),
        # OLMo Team 2025, section 3.2
        "written": Placement(
            lambda x, onto, before, sublayer, after: onto + after(sublayer(x)), before=False, after=True
        ),
        # Gemma Team 2024 (Gemma 2), section 2
        "sandwich": Placement(lambda x, onto, before, sublayer, after: onto + after(sublayer(before(x))), after=True),
        # BigScience 2022, the option apply_residual_connection_post_layernorm
        "from-normed": Placement(_from_normed),
    },
)


class Residual(nn.Module):
    """A stream plus what a sublayer makes of it, with norms where the placement has them."""

    def __init__(self, config: Config, normed: bool = True) -> None:
        super().__init__()
        placement = PLACEMENTS[config.placement]
        self.apply_placed = placement.apply
        self.norm = make_norm(config, config.width) if normed and placement.before else nn.Identity()
        self.after_norm = make_norm(config, config.width) if placement.after else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "batch pos width"],
        sublayer: Sublayer,
        onto: Float[Tensor, "batch pos width"] | None = None,
    ) -> Float[Tensor, "batch pos width"]:
        """The stream `onto` (x itself where that is None) after the sublayer, which reads x, has written to it."""
        onto = x if onto is None else onto
        return self.apply_placed(x, onto, self.norm, lambda h: self.dropout(sublayer(h)), self.after_norm)


class Block(nn.Module):
    """Self-attention, cross-attention where there is a source, feed-forward; each writes to the residual stream."""

    def __init__(self, config: Config, cross: bool, layer: int) -> None:
        super().__init__()
        self.parallel = config.parallel
        self.self_residual = Residual(config, normed=config.first_norm or layer > 0)
        self.self_attention = Attention(config, layer)
        self.cross_residual = Residual(config) if cross else None
        # A source has no distance to the text, so positions take no part.
        self.cross_attention = Attention(config.change(position="none"), layer) if cross else None
        self.feedforward_residual = Residual(config)
        self.feedforward = FEEDFORWARDS[config.feedforward](config)

    def forward(
        self,
        x: Float[Tensor, "batch pos width"],
        look: Look,
        memory: Float[Tensor, "batch source width"] | None,
        across: Look | None,
        tap: Tap,
        remember: Remember = nothing_before,
    ) -> Float[Tensor, "batch pos width"]:
        """The residual stream after this block."""
        start = x = tap("residual", x)
        x = self.self_residual(x, lambda h: self.self_attention(h, None, look, under(tap, "self"), remember))
        x = tap("after_self", x)
        if self.cross_residual is not None and self.cross_attention is not None and across is not None:
            attend = self.cross_attention
            x = self.cross_residual(x, lambda h: attend(h, memory, across, under(tap, "cross")))
            x = tap("after_cross", x)
        read = start if self.parallel else x
        x = self.feedforward_residual(read, lambda h: self.feedforward(h, under(tap, "feedforward")), onto=x)
        return x
