"""Attention: the dozen lines that everything else exists for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.array_types import Bool, Float
from model.config import Config
from model.nn.attention_functions import KERNELS
from model.nn.hooks import Interest, Tap, interest, rows
from model.nn.masks import Pair
from model.nn.norms import make_norm, soft_cap
from model.nn.positional_encodings import POSITIONS, Position
from model.nn.sites import PAIRED
from model.registry import Registry

Remember = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def nothing_before(k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Without a cache the keys and values at hand are all there are."""
    return k, v


ALL = slice(None)
CELLS = 1 << 24  # head x query x key: past them a text is long, and 64 MB would be taken several times
BLOCK = 1 << 22  # cells at a time, where a long text is walked


@dataclass(frozen=True)
class Look:
    """Who looks at what: the position scheme, where queries and keys stand for it, and which cells are allowed.

    `causal` says that what is allowed is exactly what lies behind each query of a whole text.
    """

    scheme: Position
    pair: Pair
    allowed: Bool[Tensor, "#batch #head query key"]
    causal: bool = False

    def rows(self, part: slice) -> Look:
        """The same for some of the queries."""
        pair = replace(self.pair, queries=self.pair.queries[part])
        return Look(self.scheme, pair, self.allowed[:, :, part])


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
        q, k, v = self.project(x, memory, look, tap)
        k, v = remember(k, v)
        return tap("output", self.output(merge(tap("mixed", self.gather(q, k, v, look, tap)))))

    def project(
        self,
        x: Float[Tensor, "batch query width"],
        memory: Float[Tensor, "batch new width"] | None,
        look: Look,
        tap: Tap,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values with their positions applied, cut into heads."""
        seen = x if memory is None else memory
        q = tap("q", self.query_norm(split(self.query(x), self.heads)))
        k = tap("k", self.key_norm(split(self.key(seen), self.heads // self.shared)))
        v = tap("v", split(self.value(seen), self.heads // self.shared))
        q = tap("rotated_q", look.scheme.rotate(q, look.pair.queries))
        return q, tap("rotated_k", look.scheme.rotate(k, look.pair.keys[-k.shape[2] :])), v

    def gather(
        self,
        q: Float[Tensor, "batch head query channel"],
        k: Float[Tensor, "batch key_value_head key channel"],
        v: Float[Tensor, "batch key_value_head key value_channel"],
        look: Look,
        tap: Tap,
    ) -> Float[Tensor, "batch head query value_channel"]:
        """`mix` as it stands for texts of usual length; a long one a few queries at a time, as far as `tap` allows.

        Where nobody wants to see or change what comes between, the sum is left to torch's fused attention.
        """
        scale = tap("scale", self.scales(q))
        queries, keys = q.shape[2], k.shape[2]
        wanted = max(interest(tap, site) for site in PAIRED)
        if self.heads * queries * keys <= CELLS or wanted is Interest.WHOLE or self.training:
            return self.mix(q, k, v, scale, look, tap)
        if wanted is Interest.NONE and self.kernel.fused and not (look.scheme.touches_scores or self.cap):
            allowed = None if look.causal else look.allowed
            k, v = repeat(k, self.shared), repeat(v, self.shared)
            q = (q * scale[:, :, None, None]).to(q.dtype)
            return functional.scaled_dot_product_attention(q, k, v, allowed, is_causal=look.causal, scale=1.0)
        step = max(1, BLOCK // (self.heads * keys))
        parts = (slice(start, start + step) for start in range(0, queries, step))
        return torch.cat(
            [self.mix(q[:, :, part], k, v, scale, look.rows(part), rows(tap, part.start, queries)) for part in parts],
            dim=2,
        )

    def scales(self, q: Tensor) -> Float[Tensor, "1 head"]:
        """What each head's scores are multiplied with, in 32 bits whatever q has."""
        return torch.full((1, self.heads), self.scale, device=q.device)

    def mix(
        self,
        q: Float[Tensor, "batch head query channel"],
        k: Float[Tensor, "batch key_value_head key channel"],
        v: Float[Tensor, "batch key_value_head key value_channel"],
        scale: Float[Tensor, "#batch head"],
        look: Look,
        tap: Tap,
        heads: slice = ALL,
    ) -> Float[Tensor, "batch chosen query value_channel"]:
        """What each query of the chosen heads gathers: scores, mask, weights, and the weighted values."""
        several, scale = repeat(k, self.shared), scale[:, :, None, None]
        allowed = look.allowed.expand(-1, self.heads, -1, -1)[:, heads]
        allowed = tap("mask", allowed)  # first: an edit of scores may ask for it
        allowed = allowed if allowed.stride(1) else allowed[:, :1]  # one for all heads is looked at once
        bias = look.scheme.bias(look.pair.queries, look.pair.keys)[None]
        if look.scheme.relates:
            bias = bias + look.scheme.relate(q, several, self.places, -look.pair.distance) * scale
        bias = tap("bias", bias[:, heads].to(q.dtype))
        scores = self.kernel.score(q[:, heads], several[:, heads], scale[:, heads], bias)
        masked = tap("masked", self.kernel.mask(tap("scores", soft_cap(scores, self.cap)), allowed))
        weights = tap("weights", self.kernel.weigh(masked, allowed))
        kept = functional.dropout(weights, self.dropout, self.training)
        return kept @ repeat(v, self.shared)[:, heads]


def split(x: Float[Tensor, "batch pos width"], heads: int) -> Float[Tensor, "batch head pos channel"]:
    """The width cut into heads."""
    return x.view(*x.shape[:-1], heads, -1).transpose(1, 2)


def merge(x: Float[Tensor, "batch head pos channel"]) -> Float[Tensor, "batch pos width"]:
    """The heads side by side again."""
    return x.transpose(1, 2).flatten(2)


def repeat(x: Float[Tensor, "batch key_value_head key channel"], times: int) -> Float[Tensor, "batch head key channel"]:
    """Each key/value head once for each of the query heads that share it."""
    return x[:, :, None].expand(-1, -1, times, -1, -1).flatten(1, 2)
