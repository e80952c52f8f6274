"""Attention: the dozen lines that everything else exists for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional

from model.config import Config
from model.kernels import KERNELS
from model.layers import make_norm, soft_cap
from model.masks import Pair
from model.positions import POSITIONS, Position
from model.registry import Registry
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


class Unnormed(nn.Module):
    """Queries and keys as they are."""

    def __init__(self, config: Config, heads: int) -> None:
        super().__init__()

    def forward(self, x: Float[Tensor, "batch head pos channel"]) -> Float[Tensor, "batch head pos channel"]:
        """x."""
        return x


class HeadNorm(Unnormed):
    """Each head's queries or keys normed by themselves (Henry et al. 2020)."""

    def __init__(self, config: Config, heads: int) -> None:
        super().__init__(config, heads)
        self.norm = make_norm(config, config.head_width)

    def forward(self, x: Float[Tensor, "batch head pos channel"]) -> Float[Tensor, "batch head pos channel"]:
        """The norm over the channels of a head."""
        normed: Tensor = self.norm(x)
        return normed


class WidthNorm(Unnormed):
    """The queries or keys of all heads normed together (OLMo Team 2025, section 3.2)."""

    def __init__(self, config: Config, heads: int) -> None:
        super().__init__(config, heads)
        self.norm = make_norm(config, heads * config.head_width)

    def forward(self, x: Float[Tensor, "batch head pos channel"]) -> Float[Tensor, "batch head pos channel"]:
        """The norm over the channels of all heads."""
        return split(self.norm(merge(x)), x.shape[1])


QUERY_NORMS: Registry[Callable[[Config, int], nn.Module]] = Registry(
    "norm of queries and keys", {"none": Unnormed, "head": HeadNorm, "width": WidthNorm}
)


class Attention(nn.Module):
    """Multi-head scaled dot-product attention (Vaswani et al. 2017, section 3.2).

    Keys and values may be fewer than the heads and then serve several each (Ainslie et al. 2023), and a value's
    width may differ from a key's.
    """

    def __init__(self, config: Config, layer: int = 0) -> None:
        super().__init__()
        self.heads, self.shared = config.heads, config.heads // config.key_value_heads
        self.kernel = KERNELS[config.kernel]
        scales = config.by_layer.scales
        self.scale = (scales[layer] if scales else config.head_width**-0.5) if config.scale else 1.0
        self.cap, self.dropout = config.score_cap, config.dropout
        keys = config.key_value_heads
        self.query = nn.Linear(config.width, config.heads * config.head_width, bias=config.has_bias("query"))
        self.key = nn.Linear(config.width, keys * config.head_width, bias=config.has_bias("key"))
        self.value = nn.Linear(config.width, keys * config.value_width, bias=config.has_bias("value"))
        self.output = nn.Linear(config.heads * config.value_width, config.width, bias=config.has_bias("output"))
        self.query_norm = QUERY_NORMS[config.query_norm](config, config.heads)
        self.key_norm = QUERY_NORMS[config.query_norm](config, keys)
        self.places = POSITIONS[config.position].reader(config)

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
        q = tap("q", self.query_norm(split(self.query(x), self.heads)))
        k = tap("k", self.key_norm(split(self.key(seen), self.heads // self.shared)))
        v = tap("v", split(self.value(seen), self.heads // self.shared))
        q = tap("rotated_q", look.scheme.rotate(q, queries))
        k = tap("rotated_k", look.scheme.rotate(k, keys[-k.shape[2] :]))
        k, v = remember(k, v)
        allowed = tap("mask", look.allowed.expand(-1, self.heads, -1, -1))  # first: an edit of scores may ask for it
        related = look.scheme.relate(q, repeat(k, self.shared), self.places, -look.pair.distance) * self.scale
        bias = tap("bias", (look.scheme.bias(queries, keys)[None] + related).to(q.dtype))
        scores = tap("scores", soft_cap(self.kernel.score(q, repeat(k, self.shared), self.scale, bias), self.cap))
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
