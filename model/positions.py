"""Positions: how a model knows the order of its tokens.

Every scheme has three doors and opens exactly one of them (`Position` opens none):

    embed   added to the token embedding                sinusoidal, learned
    rotate  applied to queries and keys                 rope
    bias    added to the scores                         alibi, relative (T5)
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from model.config import Config
from model.registry import Registry
from model.shapes import Float, Int


class Position(nn.Module):
    """No position at all, all doors shut: the model sees a bag of tokens."""

    def __init__(self, config: Config, both_ways: bool = True) -> None:
        super().__init__()
        self.width, self.heads, self.context = config.width, config.heads, config.context
        self.both_ways = both_ways

    def embed(self, at: Int[Tensor, " pos"]) -> Float[Tensor, "pos width"]:
        """What is added to the embeddings of the tokens at the positions `at`."""
        # One zero seen everywhere: the shape is kept, no memory is taken.
        return torch.zeros((), device=at.device).expand(len(at), self.width)

    def rotate(
        self, x: Float[Tensor, "batch head pos channel"], at: Int[Tensor, " pos"]
    ) -> Float[Tensor, "batch head pos channel"]:
        """What becomes of queries and keys at the positions `at`."""
        return x

    def bias(self, queries: Int[Tensor, " query"], keys: Int[Tensor, " key"]) -> Float[Tensor, "head query key"]:
        """What is added to the scores between two sets of positions."""
        return torch.zeros((), device=keys.device).expand(self.heads, len(queries), len(keys))


class Sinusoidal(Position):
    """Waves of geometrically growing length (Vaswani et al. 2017, section 3.5)."""

    def embed(self, at: Int[Tensor, " pos"]) -> Float[Tensor, "pos width"]:
        """PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same."""
        channel = torch.arange(0, self.width, 2, device=at.device)
        angles = at[:, None] / 10_000.0 ** (channel / self.width)
        return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)[:, : self.width]


class Learned(Position):
    """One trained vector for each position up to the context (Devlin et al. 2019, section 3.2)."""

    def __init__(self, config: Config, both_ways: bool = True) -> None:
        super().__init__(config, both_ways)
        self.table = nn.Embedding(config.context, config.width)

    def embed(self, at: Int[Tensor, " pos"]) -> Float[Tensor, "pos width"]:
        """Rows of the table."""
        rows: Tensor = self.table(at)
        return rows


class Rope(Position):
    """Queries and keys turned by an angle that grows with position (Su et al. 2021, equation 34).

    Channel j is paired with channel j + d/2; pair j turns by pos * base^(-2j/d). What q . k then sees is only
    how far apart the two are.
    """

    def __init__(self, config: Config, both_ways: bool = True) -> None:
        super().__init__(config, both_ways)
        self.base, self.pairs = config.rope_base, config.head_width // 2

    def angles(self, at: Int[Tensor, " pos"]) -> Float[Tensor, "pos pair"]:
        """By how much (radians) each pair of channels is turned at each position."""
        pair = torch.arange(self.pairs, device=at.device)
        angles: Tensor = at[:, None] * self.base ** (-pair / max(self.pairs, 1))
        return angles

    def rotate(
        self, x: Float[Tensor, "batch head pos channel"], at: Int[Tensor, " pos"]
    ) -> Float[Tensor, "batch head pos channel"]:
        """(a, b) -> (a cos - b sin, b cos + a sin) for each pair; an odd last channel stays."""
        angles = self.angles(at)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)  # an angle itself would not fit in bfloat16
        a, b, rest = x[..., : self.pairs], x[..., self.pairs : 2 * self.pairs], x[..., 2 * self.pairs :]
        return torch.cat((a * cos - b * sin, b * cos + a * sin, rest), dim=-1)


class Alibi(Position):
    """Attention fades with distance, at a fixed slope for each head (Press et al. 2022, section 3)."""

    def slopes(self) -> Float[Tensor, " head"]:
        """2^(-8/n), 2^(-16/n) ...; heads beyond a power of two take every other one of twice as many."""

        def powers(count: int) -> list[float]:
            return [2.0 ** (-8.0 * (head + 1) / count) for head in range(count)]

        even = 2 ** int(math.log2(self.heads))
        return torch.tensor(powers(even) + powers(2 * even)[::2][: self.heads - even])

    def bias(self, queries: Int[Tensor, " query"], keys: Int[Tensor, " key"]) -> Float[Tensor, "head query key"]:
        """-slope times the distance in tokens, the same in both directions."""
        distance = (queries[:, None] - keys[None, :]).abs()
        return -self.slopes().to(distance.device)[:, None, None] * distance


class Relative(Position):
    """One trained number for each head and bucket of distances (Raffel et al. 2020, section 2.1)."""

    buckets, furthest = 32, 128

    def __init__(self, config: Config, both_ways: bool = True) -> None:
        super().__init__(config, both_ways)
        self.distances = nn.Embedding(self.buckets, config.heads)

    def bucket(self, ahead: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """Which bucket a distance `ahead` (key minus query) falls in: near ones have their own, far ones share."""
        half = self.buckets // 2 if self.both_ways else self.buckets
        distance = ahead.abs() if self.both_ways else (-ahead).clamp(min=0)
        exact = half // 2
        growth = (distance.clamp(min=1) / exact).log() / math.log(self.furthest / exact)
        far = (exact + growth * (half - exact)).long().clamp(max=half - 1)
        near = torch.where(distance < exact, distance, far)
        return near + half * (ahead > 0) if self.both_ways else near

    def bias(self, queries: Int[Tensor, " query"], keys: Int[Tensor, " key"]) -> Float[Tensor, "head query key"]:
        """The table's number for the bucket of each distance."""
        numbers: Tensor = self.distances(self.bucket(keys[None, :] - queries[:, None]))
        return numbers.permute(2, 0, 1)


POSITIONS: Registry[type[Position]] = Registry(
    "position scheme",
    {
        "none": Position,
        "sinusoidal": Sinusoidal,
        "learned": Learned,
        "rope": Rope,
        "alibi": Alibi,
        "relative": Relative,
    },
)
