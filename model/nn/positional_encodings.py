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
from model.nn.rope_scaling import ROPE_SCALINGS, GetLength
from model.registry import Registry

MAX_POSITION = 1 << 24  # up to here 32 bits tell all whole numbers apart


class PositionalEncoding(nn.Module):
    """No position at all, all doors shut: the model sees a bag of tokens."""

    integer_only = False  # whether a token can stand at whole positions only

    def __init__(self, config: Config, bidirectional: bool = True) -> None:
        super().__init__()
        self.dim, self.heads, self.context_length = config.embedding_sum_dim, config.heads, config.context_length
        self.bidirectional = bidirectional

    def embed(self, position_ids: Shaped[Tensor, " pos"]) -> Float[Tensor, "pos width"]:
        """What is added to the embeddings of the tokens at the positions `at`."""
        # One zero seen everywhere: the shape is kept, no memory is taken.
        return torch.zeros((), device=position_ids.device).expand(len(position_ids), self.dim)

    def rotate(
        self, x: Float[Tensor, "batch head pos channel"], position_ids: Shaped[Tensor, " pos"]
    ) -> Float[Tensor, "batch head pos channel"]:
        """What becomes of queries and keys at the positions `at`."""
        return x

    def bias(self, queries: Shaped[Tensor, " query"], keys: Shaped[Tensor, " key"]) -> Float[Tensor, "head query key"]:
        """What is added to the scores between two sets of positions."""
        return torch.zeros((), device=keys.device).expand(self.heads, len(queries), len(keys))

    def content_bias(
        self,
        q: Float[Tensor, "batch head query channel"],
        k: Float[Tensor, "batch head key channel"],
        projection: nn.Module,
        key_minus_query: Shaped[Tensor, "query key"],
    ) -> Float[Tensor, "#batch #head #query #key"]:
        """What is added to the unscaled scores after a look at queries and keys; `ahead` is key minus query.

        `places` is what one attention layer keeps for it, as `reader` made it.
        """
        return torch.zeros((1, 1, 1, 1), device=q.device)

    def same_for_lengths(self, length: int, other_length: int) -> bool:
        """Whether texts of both lengths encode positions alike, so that keys cached for one serve the other."""
        return True

    @property
    def position_range(self) -> tuple[int, int]:
        """The first and the last position at which a token can stand."""
        return -MAX_POSITION, MAX_POSITION

    @property
    def has_content_bias(self) -> bool:
        """Whether the door `relate` is open."""
        return type(self).content_bias is not PositionalEncoding.content_bias

    @property
    def adds_to_scores(self) -> bool:
        """Whether one of the doors `bias` and `relate` is open."""
        return type(self).bias is not PositionalEncoding.bias or self.has_content_bias

    @classmethod
    def make_relative_position_projection(cls, config: Config) -> nn.Module:
        """The weights that each attention layer needs to open the door `relate`: none."""
        return nn.Identity()


class Sinusoidal(PositionalEncoding):
    """Waves of geometrically growing length (Vaswani et al. 2017, section 3.5)."""

    def embed(self, position_ids: Shaped[Tensor, " pos"]) -> Float[Tensor, "pos width"]:
        """PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same."""
        channel = torch.arange(0, self.dim, 2, device=position_ids.device)
        angles = position_ids[:, None] / 10_000.0 ** (channel / self.dim)
        return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)[:, : self.dim]


class SinusoidalHalves(Sinusoidal):
    """The same waves with all sines first and all cosines after them (Vaswani et al. 2018, Tensor2Tensor)."""

    def embed(self, position_ids: Shaped[Tensor, " pos"]) -> Float[Tensor, "pos width"]:
        """The channels of `Sinusoidal` in another order."""
        encoding = super().embed(position_ids)
        return torch.cat((encoding[:, ::2], encoding[:, 1::2]), dim=-1)


class LearnedPositions(PositionalEncoding):
    """One trained vector for each position up to the context (Devlin et al. 2019, section 3.2)."""

    integer_only = True

    def __init__(self, config: Config, bidirectional: bool = True) -> None:
        super().__init__(config, bidirectional)
        self.table = nn.Embedding(config.context_length, config.embedding_sum_dim)

    def embed(self, position_ids: Shaped[Tensor, " pos"]) -> Float[Tensor, "pos width"]:
        """Rows of the table."""
        rows: Tensor = self.table(position_ids)
        return rows

    @property
    def position_range(self) -> tuple[int, int]:
        """The rows of the table."""
        return 0, self.context_length - 1


class Rope(PositionalEncoding):
    """Queries and keys turned by an angle that grows with position (Su et al. 2021, equation 34).

    Channel j is paired with channel j + d/2 (its neighbour where interleaved); pair j turns by pos * base^(-2j/d).
    What q . k then sees is only how far apart the two are.
    """

    def __init__(self, config: Config, bidirectional: bool = True) -> None:
        super().__init__(config, bidirectional)
        self.rope_config = config.rope
        self.rotary_dim = config.rope.rotary_dim or config.head_dim // 2 * 2

    def angles(self, position_ids: Shaped[Tensor, " pos"]) -> Float[Tensor, "pos pair"]:
        """By how much (radians) each pair of channels is turned at each position."""
        frequencies = self._frequencies(lambda: int(position_ids.max()) + 1 if len(position_ids) else 0)
        return position_ids[:, None] * frequencies.to(position_ids.device)

    def same_for_lengths(self, length: int, other_length: int) -> bool:
        """Whether both lengths have the same frequencies: not where the scaling is dynamic or LongRoPE's."""
        return torch.equal(self._frequencies(lambda: length), self._frequencies(lambda: other_length))

    def _frequencies(self, get_length: GetLength) -> Float[Tensor, " pair"]:
        return ROPE_SCALINGS[self.rope_config.scaling](self.rope_config, self.rotary_dim, get_length)

    def rotate(
        self, x: Float[Tensor, "batch head pos channel"], position_ids: Shaped[Tensor, " pos"]
    ) -> Float[Tensor, "batch head pos channel"]:
        """(a, b) -> (a cos - b sin, b cos + a sin) for each pair; channels beyond the turning ones stay."""
        angles = self.angles(position_ids)
        cos, sin = ((wave * self.rope_config.attention_factor).to(x.dtype) for wave in (angles.cos(), angles.sin()))
        rotary_channels, rest = x[..., : 2 * angles.shape[1]], x[..., 2 * angles.shape[1] :]
        if self.rope_config.interleaved:
            a, b = rotary_channels[..., ::2], rotary_channels[..., 1::2]
            rotated = torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).flatten(-2)
        else:
            a, b = rotary_channels.chunk(2, dim=-1)
            rotated = torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)
        return torch.cat((rotated, rest), dim=-1)


class Alibi(PositionalEncoding):
    """Attention fades with distance, at a fixed slope for each head (Press et al. 2022, section 3)."""

    def __init__(self, config: Config, bidirectional: bool = True) -> None:
        super().__init__(config, bidirectional)
        self.alibi_config = config.alibi

    def slopes(self) -> Float[Tensor, " head"]:
        """2^(-8/n), 2^(-16/n) ...; heads beyond a power of two take every other one of twice as many."""

        def powers(count: int) -> list[float]:
            return [2.0 ** (-8.0 * (head + 1) / count) for head in range(count)]

        power_of_two = 2 ** int(math.log2(self.heads))
        return self.alibi_config.scale * torch.tensor(
            powers(power_of_two) + powers(2 * power_of_two)[::2][: self.heads - power_of_two]
        )

    def bias(self, queries: Shaped[Tensor, " query"], keys: Shaped[Tensor, " key"]) -> Float[Tensor, "head query key"]:
        """-slope times the distance in tokens, the same in both directions."""
        slopes = self.slopes().to(keys.device)[:, None]
        if self.alibi_config.bfloat16:
            unscaled = (slopes / self.alibi_config.scale).bfloat16()
            scaled_positions = [
                (unscaled * positions.to(unscaled)).float() * self.alibi_config.scale for positions in (queries, keys)
            ]
            return -(scaled_positions[0][:, :, None] - scaled_positions[1][:, None, :]).abs()
        distance = (queries[:, None] - keys[None, :]).abs()
        return -slopes[:, :, None] * distance


class RelativeBias(PositionalEncoding):
    """One trained number for each head and bucket of distances (Raffel et al. 2020, section 2.1)."""

    integer_only = True

    def __init__(self, config: Config, bidirectional: bool = True) -> None:
        super().__init__(config, bidirectional)
        self.buckets, self.max_distance = config.relative_position.buckets, config.relative_position.max_distance
        self.bias_table = nn.Embedding(self.buckets, config.heads)

    def bucket(self, key_minus_query: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """Which bucket a distance `ahead` (key minus query) falls in: near ones have their own, far ones share."""
        direction_buckets = self.buckets // 2 if self.bidirectional else self.buckets
        distance = key_minus_query.abs() if self.bidirectional else (-key_minus_query).clamp(min=0)
        exact_buckets = direction_buckets // 2
        growth = (distance.clamp(min=1) / exact_buckets).log() / math.log(self.max_distance / exact_buckets)
        far = (exact_buckets + growth * (direction_buckets - exact_buckets)).long().clamp(max=direction_buckets - 1)
        near = torch.where(distance < exact_buckets, distance, far)
        return near + direction_buckets * (key_minus_query > 0) if self.bidirectional else near

    def bias(self, queries: Shaped[Tensor, " query"], keys: Shaped[Tensor, " key"]) -> Float[Tensor, "head query key"]:
        """The table's number for the bucket of each distance."""
        biases: Tensor = self.bias_table(self.bucket(keys[None, :] - queries[:, None]))
        return biases.permute(2, 0, 1)


class RelativePositionProjection(nn.Module):
    """How one attention layer reads the table of distances: as keys, and as queries."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        dim = config.heads * config.head_dim
        has_content_to_position, has_position_to_content = (
            config.relative_position.content_to_position,
            config.relative_position.position_to_content,
        )
        self.key = nn.Linear(config.d_model, dim, bias=config.has_bias("key")) if has_content_to_position else None
        self.query = nn.Linear(config.d_model, dim, bias=config.has_bias("query")) if has_position_to_content else None


class DisentangledPositions(PositionalEncoding):
    """Contents ask for distances, and distances for contents (He et al. 2021, equations 2 to 4)."""

    integer_only = True

    def __init__(self, config: Config, bidirectional: bool = True) -> None:
        super().__init__(config, bidirectional)
        self.relative_position_config = config.relative_position
        self.relative_embedding = nn.Embedding(2 * config.relative_position.buckets, config.d_model)
        self.norm = (
            nn.LayerNorm(config.d_model, config.norm_epsilon)
            if self.relative_position_config.normalized
            else nn.Identity()
        )

    @classmethod
    def make_relative_position_projection(cls, config: Config) -> nn.Module:
        """The projections of one attention layer."""
        return RelativePositionProjection(config)

    def bucket(self, query_minus_key: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """Which row a distance `back` (query minus key) has: near ones their own, far ones share (He et al. 2023)."""
        rows, half = self.relative_position_config.buckets, self.relative_position_config.buckets // 2
        if self.relative_position_config.exact_distances:
            return (query_minus_key + rows).clamp(0, 2 * rows - 1)
        # In float32, as the trained models had it: at the furthest distance the share is 1 and not a little more.
        log_range = torch.tensor(
            (self.relative_position_config.max_distance - 1) / half, device=query_minus_key.device
        ).log()
        growth = (query_minus_key.abs().clamp(min=half) / half).log() / log_range
        far = ((growth * (half - 1)).ceil() + half).long() * query_minus_key.sign()
        return (torch.where(query_minus_key.abs() <= half, query_minus_key, far) + rows).clamp(0, 2 * rows - 1)

    def content_bias(
        self,
        q: Float[Tensor, "batch head query channel"],
        k: Float[Tensor, "batch head key channel"],
        projection: nn.Module,
        key_minus_query: Shaped[Tensor, "query key"],
    ) -> Float[Tensor, "#batch #head #query #key"]:
        """q_i . K(row of i - j) + k_j . Q(row of i - j)."""
        assert isinstance(projection, RelativePositionProjection)
        embeddings = self.norm(self.relative_embedding.weight)
        buckets = self.bucket(-key_minus_query).expand(*q.shape[:2], -1, -1)
        total = torch.zeros((), device=q.device).expand(buckets.shape)
        if projection.key is not None:
            content_to_position = q @ _split_heads(projection.key(embeddings), self.heads).transpose(-2, -1)
            total = total + content_to_position.gather(-1, buckets)
        if projection.query is not None:
            position_to_content = k @ _split_heads(projection.query(embeddings), self.heads).transpose(-2, -1)
            total = total + position_to_content.gather(-1, buckets.transpose(-2, -1)).transpose(-2, -1)
        return total


def _split_heads(x: Float[Tensor, "row width"], heads: int) -> Float[Tensor, "head row channel"]:
    return x.view(len(x), heads, -1).transpose(0, 1)


POSITIONAL_ENCODINGS: Registry[type[PositionalEncoding]] = Registry(
    "positional encoding",
    {
        "none": PositionalEncoding,
        "sinusoidal": Sinusoidal,
        "sinusoidal-halves": SinusoidalHalves,
        "learned": LearnedPositions,
        "rope": Rope,
        "alibi": Alibi,
        "relative": RelativeBias,
        "disentangled": DisentangledPositions,
    },
)
