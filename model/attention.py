"""Attention: the dozen lines that everything else exists for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional

from model.config import Config
from model.kernels import KERNELS
from model.masks import Pair
from model.positions import Position
from model.shapes import Bool, Float
from model.trace import Tap

Remember = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def nothing_before(k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Without a cache the keys and values at hand are all there are."""
    return k, v


@dataclass(frozen=True)
class Look:
    """Who looks at what: the position scheme, the two sets of positions, and which cells are allowed."""

    scheme: Position
    pair: Pair
    allowed: Bool[Tensor, "#batch #head query key"]


class Attention(nn.Module):
    """Multi-head scaled dot-product attention (Vaswani et al. 2017, section 3.2).

    Keys and values may be fewer than the heads and then serve several each (Ainslie et al. 2023), and a value's
    width may differ from a key's.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads, self.shared = config.heads, config.heads // config.key_value_heads
        self.kernel = KERNELS[config.kernel]
        self.scale = config.head_width**-0.5 if config.scale else 1.0
        self.dropout = config.dropout
        keys = config.key_value_heads
        self.query = nn.Linear(config.width, config.heads * config.head_width, bias=config.bias)
        self.key = nn.Linear(config.width, keys * config.head_width, bias=config.bias)
        self.value = nn.Linear(config.width, keys * config.value_width, bias=config.bias)
        self.output = nn.Linear(config.heads * config.value_width, config.width, bias=config.bias)

    def forward(
        self,
        x: Float[Tensor, "batch query width"],
        memory: Float[Tensor, "batch new width"] | None,
        look: Look,
        tap: Tap,
        remember: Remember = nothing_before,
    ) -> Float[Tensor, "batch query width"]:
        """What each query gathers from `memory` (from x itself where that is None).

        `remember` adds keys and values of earlier steps in front of the new ones.
        """
        x = tap("input", x)
        seen = x if memory is None else memory
        queries, keys = look.pair.queries, look.pair.keys
        q = tap("q", split(self.query(x), self.heads))
        k = tap("k", split(self.key(seen), self.heads // self.shared))
        v = tap("v", split(self.value(seen), self.heads // self.shared))
        q = tap("rotated_q", look.scheme.rotate(q, queries))
        k = tap("rotated_k", look.scheme.rotate(k, keys[-k.shape[2] :]))
        k, v = remember(k, v)
        allowed = tap("mask", look.allowed.expand(-1, self.heads, -1, -1))  # first: an edit of scores may ask for it
        bias = tap("bias", look.scheme.bias(queries, keys)[None].to(q.dtype))[0]
        scores = tap("scores", self.kernel.score(q, repeat(k, self.shared), self.scale, bias))
        masked = tap("masked", self.kernel.mask(scores, allowed))
        weights = tap("weights", self.kernel.weigh(masked, allowed))
        kept = functional.dropout(weights, self.dropout, self.training)
        mixed = tap("mixed", kept @ repeat(v, self.shared))
        return tap("output", self.output(merge(mixed)))


def split(x: Float[Tensor, "batch pos width"], heads: int) -> Float[Tensor, "batch head pos channel"]:
    """The width cut into heads."""
    return x.view(*x.shape[:-1], heads, -1).transpose(1, 2)


def merge(x: Float[Tensor, "batch head pos channel"]) -> Float[Tensor, "batch pos width"]:
    """The heads side by side again."""
    return x.transpose(1, 2).flatten(2)


def repeat(x: Float[Tensor, "batch key_value_head key channel"], times: int) -> Float[Tensor, "batch head key channel"]:
    """Each key/value head once for each of the query heads that share it."""
    return x[:, :, None].expand(-1, -1, times, -1, -1).flatten(1, 2)
