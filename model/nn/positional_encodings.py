"""Positions: how a model knows the order of its tokens.

Every scheme has four doors and opens exactly one of them (`Position` opens none):

    embed   added to the token embedding                sinusoidal, learned
    rotate  applied to queries and keys                 rope
    bias    added to the scores                         alibi, relative (T5)
    relate  asked of queries and keys, then as bias     disentangled (DeBERTa)

Positions are whole numbers from 0, unless an edit puts a token elsewhere (`Stack.stands`).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from model.array_types import Float, Int, Shaped
from model.config import Config
from model.nn.rope_scaling import SCALINGS
from model.registry import Registry

FURTHEST = 1 << 24  # up to here 32 bits tell all whole numbers apart


class Position(nn.Module):
    """No position at all, all doors shut: the model sees a bag of tokens."""

    whole = False  # whether a token can stand at whole positions only

    def __init__(self, config: Config, both_ways: bool = True) -> None:
        super().__init__()
        self.width, self.heads, self.context = config.summed_width, config.heads, config.context
        self.both_ways = both_ways

    def embed(self, at: Shaped[Tensor, " pos"]) -> Float[Tensor, "pos width"]:
        """What is added to the embeddings of the tokens at the positions `at`."""
        # One zero seen everywhere: the shape is kept, no memory is taken.
        return torch.zeros((), device=at.device).expand(len(at), self.width)

    def rotate(
        self, x: Float[Tensor, "batch head pos channel"], at: Shaped[Tensor, " pos"]
    ) -> Float[Tensor, "batch head pos channel"]:
        """What becomes of queries and keys at the positions `at`."""
        return x

    def bias(self, queries: Shaped[Tensor, " query"], keys: Shaped[Tensor, " key"]) -> Float[Tensor, "head query key"]:
        """What is added to the scores between two sets of positions."""
        return torch.zeros((), device=keys.device).expand(self.heads, len(queries), len(keys))

    def relate(
        self,
        q: Float[Tensor, "batch head query channel"],
        k: Float[Tensor, "batch head key channel"],
        places: nn.Module,
        ahead: Shaped[Tensor, "query key"],
    ) -> Float[Tensor, "#batch #head #query #key"]:
        """What is added to the unscaled scores after a look at queries and keys; `ahead` is key minus query.

        `places` is what one attention layer keeps for it, as `reader` made it.
        """
        return torch.zeros((1, 1, 1, 1), device=q.device)

    @property
    def room(self) -> tuple[int, int]:
        """The first and the last position at which a token can stand."""
        return -FURTHEST, FURTHEST

    @property
    def relates(self) -> bool:
        """Whether the door `relate` is open."""
        return type(self).relate is not Position.relate

    @property
    def touches_scores(self) -> bool:
        """Whether one of the doors `bias` and `relate` is open."""
        return type(self).bias is not Position.bias or self.relates

    @classmethod
    def reader(cls, config: Config) -> nn.Module:
        """The weights that each attention layer needs to open the door `relate`: none."""
        return nn.Identity()


class Sinusoidal(Position):
    """Waves of geometrically growing length (Vaswani et al. 2017, section 3.5)."""

    def embed(self, at: Shaped[Tensor, " pos"]) -> Float[Tensor, "pos width"]:
        """PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same."""
        channel = torch.arange(0, self.width, 2, device=at.device)
        angles = at[:, None] / 10_000.0 ** (channel / self.width)
        return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)[:, : self.width]


class SinusoidalHalves(Sinusoidal):
    """The same waves with all sines first and all cosines after them (Vaswani et al. 2018, Tensor2Tensor)."""

    def embed(self, at: Shaped[Tensor, " pos"]) -> Float[Tensor, "pos width"]:
        """The channels of `Sinusoidal` in another order."""
        waves = super().embed(at)
        return torch.cat((waves[:, ::2], waves[:, 1::2]), dim=-1)


class Learned(Position):
    """One trained vector for each position up to the context (Devlin et al. 2019, section 3.2)."""

    whole = True

    def __init__(self, config: Config, both_ways: bool = True) -> None:
        super().__init__(config, both_ways)
        self.table = nn.Embedding(config.context, config.summed_width)

    def embed(self, at: Shaped[Tensor, " pos"]) -> Float[Tensor, "pos width"]:
        """Rows of the table."""
        rows: Tensor = self.table(at)
        return rows

    @property
    def room(self) -> tuple[int, int]:
        """The rows of the table."""
        return 0, self.context - 1


class Rope(Position):
    """Queries and keys turned by an angle that grows with position (Su et al. 2021, equation 34).

    Channel j is paired with channel j + d/2 (its neighbour where interleaved); pair j turns by pos * base^(-2j/d).
    What q . k then sees is only how far apart the two are.
    """

    def __init__(self, config: Config, both_ways: bool = True) -> None:
        super().__init__(config, both_ways)
        self.rotation = config.rotation
        self.channels = config.rotation.channels or config.head_width // 2 * 2

    def angles(self, at: Shaped[Tensor, " pos"]) -> Float[Tensor, "pos pair"]:
        """By how much (radians) each pair of channels is turned at each position."""
        frequencies = SCALINGS[self.rotation.scaling](
            self.rotation, self.channels, lambda: int(at.max()) + 1 if len(at) else 0
        )
        return at[:, None] * frequencies.to(at.device)

    def rotate(
        self, x: Float[Tensor, "batch head pos channel"], at: Shaped[Tensor, " pos"]
    ) -> Float[Tensor, "batch head pos channel"]:
        """(a, b) -> (a cos - b sin, b cos + a sin) for each pair; channels beyond the turning ones stay."""
        angles = self.angles(at)
        cos, sin = ((wave * self.rotation.strength).to(x.dtype) for wave in (angles.cos(), angles.sin()))
        turning, rest = x[..., : 2 * angles.shape[1]], x[..., 2 * angles.shape[1] :]
        if self.rotation.interleaved:
            a, b = turning[..., ::2], turning[..., 1::2]
            turned = torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).flatten(-2)
        else:
            a, b = turning.chunk(2, dim=-1)
            turned = torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)
        return torch.cat((turned, rest), dim=-1)


class Alibi(Position):
    """Attention fades with distance, at a fixed slope for each head (Press et al. 2022, section 3)."""

    def __init__(self, config: Config, both_ways: bool = True) -> None:
        super().__init__(config, both_ways)
        self.counted = config.slopes

    def slopes(self) -> Float[Tensor, " head"]:
        """2^(-8/n), 2^(-16/n) ...; heads beyond a power of two take every other one of twice as many."""

        def powers(count: int) -> list[float]:
            return [2.0 ** (-8.0 * (head + 1) / count) for head in range(count)]

        even = 2 ** int(math.log2(self.heads))
        return self.counted.scale * torch.tensor(powers(even) + powers(2 * even)[::2][: self.heads - even])

    def bias(self, queries: Shaped[Tensor, " query"], keys: Shaped[Tensor, " key"]) -> Float[Tensor, "head query key"]:
        """-slope times the distance in tokens, the same in both directions."""
        slopes = self.slopes().to(keys.device)[:, None]
        if self.counted.rounded:
            unscaled = (slopes / self.counted.scale).bfloat16()
            places = [(unscaled * at.to(unscaled)).float() * self.counted.scale for at in (queries, keys)]
            return -(places[0][:, :, None] - places[1][:, None, :]).abs()
        distance = (queries[:, None] - keys[None, :]).abs()
        return -slopes[:, :, None] * distance


class Relative(Position):
    """One trained number for each head and bucket of distances (Raffel et al. 2020, section 2.1)."""

    whole = True

    def __init__(self, config: Config, both_ways: bool = True) -> None:
        super().__init__(config, both_ways)
        self.buckets, self.furthest = config.distances.buckets, config.distances.furthest
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

    def bias(self, queries: Shaped[Tensor, " query"], keys: Shaped[Tensor, " key"]) -> Float[Tensor, "head query key"]:
        """The table's number for the bucket of each distance."""
        numbers: Tensor = self.distances(self.bucket(keys[None, :] - queries[:, None]))
        return numbers.permute(2, 0, 1)


class Places(nn.Module):
    """How one attention layer reads the table of distances: as keys, and as queries."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        width = config.heads * config.head_width
        asked, asking = config.distances.to_position, config.distances.from_position
        self.key = nn.Linear(config.width, width, bias=config.has_bias("key")) if asked else None
        self.query = nn.Linear(config.width, width, bias=config.has_bias("query")) if asking else None


class Disentangled(Position):
    """Contents ask for distances, and distances for contents (He et al. 2021, equations 2 to 4)."""

    whole = True

    def __init__(self, config: Config, both_ways: bool = True) -> None:
        super().__init__(config, both_ways)
        self.distances = config.distances
        self.rows = nn.Embedding(2 * config.distances.buckets, config.width)
        self.norm = nn.LayerNorm(config.width, config.norm_epsilon) if self.distances.normed else nn.Identity()

    @classmethod
    def reader(cls, config: Config) -> nn.Module:
        """The projections of one attention layer."""
        return Places(config)

    def bucket(self, back: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """Which row a distance `back` (query minus key) has: near ones their own, far ones share (He et al. 2023)."""
        rows, half = self.distances.buckets, self.distances.buckets // 2
        if self.distances.exact:
            return (back + rows).clamp(0, 2 * rows - 1)
        # In float32, as the trained models had it: at the furthest distance the share is 1 and not a little more.
        whole = torch.tensor((self.distances.furthest - 1) / half, device=back.device).log()
        growth = (back.abs().clamp(min=half) / half).log() / whole
        far = ((growth * (half - 1)).ceil() + half).long() * back.sign()
        return (torch.where(back.abs() <= half, back, far) + rows).clamp(0, 2 * rows - 1)

    def relate(
        self,
        q: Float[Tensor, "batch head query channel"],
        k: Float[Tensor, "batch head key channel"],
        places: nn.Module,
        ahead: Shaped[Tensor, "query key"],
    ) -> Float[Tensor, "#batch #head #query #key"]:
        """q_i . K(row of i - j) + k_j . Q(row of i - j)."""
        assert isinstance(places, Places)
        rows = self.norm(self.rows.weight)
        found = self.bucket(-ahead).expand(*q.shape[:2], -1, -1)
        total = torch.zeros((), device=q.device).expand(found.shape)
        if places.key is not None:
            asked = q @ _heads(places.key(rows), self.heads).transpose(-2, -1)
            total = total + asked.gather(-1, found)
        if places.query is not None:
            asking = k @ _heads(places.query(rows), self.heads).transpose(-2, -1)
            total = total + asking.gather(-1, found.transpose(-2, -1)).transpose(-2, -1)
        return total


def _heads(rows: Float[Tensor, "row width"], heads: int) -> Float[Tensor, "head row channel"]:
    return rows.view(len(rows), heads, -1).transpose(0, 1)


POSITIONS: Registry[type[Position]] = Registry(
    "position scheme",
    {
        "none": Position,
        "sinusoidal": Sinusoidal,
        "sinusoidal-halves": SinusoidalHalves,
        "learned": Learned,
        "rope": Rope,
        "alibi": Alibi,
        "relative": Relative,
        "disentangled": Disentangled,
    },
)
