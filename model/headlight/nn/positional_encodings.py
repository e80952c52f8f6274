"""Positional encodings: how a model knows the order of its tokens.

An encoding acts in one of four places (`PositionalEncoding` in none):

    embed         added to the token embeddings                        sinusoidal, learned
    rotate        applied to queries and keys                          rope, rope-patches (DINOv3)
    bias          added to the scores                                  alibi, relative (T5), relative-patches (BEiT)
    content_bias  computed from queries and keys, added to the scores  disentangled (DeBERTa)

Position ids are integers from 0, unless an edit moves a token (`Stack.position_ids`).
"""

from __future__ import annotations

import math
from copy import copy
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float, Int, Shaped
from headlight.config import Config
from headlight.errors import ConfigError
from headlight.nn.rope_scaling import ROPE_SCALINGS, GetLength
from headlight.registry import Registry

SINUSOIDAL_BASE = 10_000.0  # base of the wavelengths (Vaswani et al. 2017)
MAX_POSITION = 1 << 24  # float32 represents every integer up to here
Positions = Shaped[Tensor, " pos"]
HeadVectors = Float[Tensor, "batch head pos head_dim"]
Rotation = tuple[Float[Tensor, "pos channel"], Float[Tensor, "pos channel"]]  # cosine and sine
_IN_ATTENTION = ("rotate", "bias", "content_bias")


class PositionalEncoding(nn.Module):
    """No positional encoding: without masks the model sees a bag of tokens. The base class of all others."""

    title: ClassVar = "None"
    description: ClassVar = (
        "This model adds no positions at all. With a causal mask it can still infer the order from how many tokens "
        "each token sees; without one, a sentence is a bag of words."
    )
    formula: ClassVar = ""
    integer_only: ClassVar = False  # whether positions must be integers
    learned_weights: ClassVar = ""  # the weights learned in training, in words

    def __init__(self, config: Config, bidirectional: bool = True) -> None:
        super().__init__()
        self.dim, self.heads, self.context_length = config.embedding_sum_dim, config.heads, config.context_length
        self.bidirectional = bidirectional

    def embed(self, position_ids: Positions) -> Float[Tensor, "pos d_model"]:
        """The vectors added to the embeddings of tokens at `position_ids`."""
        # One zero, expanded, takes no memory.
        return torch.zeros((), device=position_ids.device).expand(position_ids.shape[0], self.dim)

    def rotation(self, position_ids: Positions) -> Rotation | None:
        """The rotation of queries and keys at `position_ids`; None if they are not rotated."""
        return None

    def rotate(self, x: HeadVectors, position_ids: Positions, rotation: Rotation | None = None) -> HeadVectors:
        """Queries or keys at `position_ids`, rotated; `rotation` is the rotation of these positions, if known."""
        return x

    def bias(self, queries: Shaped[Tensor, " query"], keys: Shaped[Tensor, " key"]) -> Float[Tensor, "head query key"]:
        """The bias added to the scores of queries and keys at these positions."""
        return torch.zeros((), device=keys.device).expand(self.heads, queries.shape[0], keys.shape[0])

    def content_bias(
        self,
        q: Float[Tensor, "batch head query head_dim"],
        k: Float[Tensor, "batch head key head_dim"],
        projection: nn.Module,
        key_minus_query: Shaped[Tensor, "query key"],
    ) -> Float[Tensor, "#batch #head #query #key"]:
        """The bias added to the unscaled scores, computed from queries and keys.

        `projection` is one attention layer's module from `make_relative_position_projection`.
        """
        return torch.zeros((1, 1, 1, 1), device=q.device)

    def same_for_lengths(self, length: int, other_length: int) -> bool:
        """Whether texts of both lengths encode positions in the same way, and so can share cached keys."""
        return True

    def for_layer(self, layer: int) -> PositionalEncoding:
        """The encoding of one layer: the same object, unless each layer has learned its own."""
        return self

    @property
    def position_range(self) -> tuple[int, int]:
        """The first and the last position that a token can have."""
        return -MAX_POSITION, MAX_POSITION

    @property
    def has_content_bias(self) -> bool:
        """Whether `content_bias` adds anything."""
        return type(self).content_bias is not PositionalEncoding.content_bias

    @property
    def adds_to_scores(self) -> bool:
        """Whether `bias` or `content_bias` adds anything."""
        return type(self).bias is not PositionalEncoding.bias or self.has_content_bias

    @classmethod
    def adds_embeddings(cls, config: Config) -> bool:
        """Whether `embed` adds anything."""
        return cls.embed is not PositionalEncoding.embed

    @classmethod
    def acts_in_attention(cls) -> bool:
        """Whether queries and keys are rotated, or anything is added to their scores."""
        return any(getattr(cls, name) is not getattr(PositionalEncoding, name) for name in _IN_ATTENTION)

    @classmethod
    def make_relative_position_projection(cls, config: Config) -> nn.Module:
        """The weights that each attention layer needs for `content_bias`: none."""
        return nn.Identity()


class Sinusoidal(PositionalEncoding):
    """Sines and cosines of geometrically growing wavelength (Vaswani et al. 2017, section 3.5)."""

    title: ClassVar = "Sinusoidal"
    description: ClassVar = (
        "Each position adds a fixed pattern of waves to its token's embedding: fast waves in the first channels, slow "
        "ones in the last. Neighbours get similar patterns."
    )
    formula: ClassVar = (
        r"P_{i,2j} = \sin\left(i / 10000^{2j/d}\right),\quad P_{i,2j+1} = \cos\left(i / 10000^{2j/d}\right)"
    )

    def embed(self, position_ids: Positions) -> Float[Tensor, "pos d_model"]:
        """PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d))."""
        return sinusoids(position_ids, self.dim)


def sinusoids(position_ids: Positions, dim: int, base: float = SINUSOIDAL_BASE) -> Float[Tensor, "pos d_model"]:
    """sin(pos / base^(2i/d)) in the even channels 2i, cos of the same angle in the odd ones."""
    angles = position_ids[:, None] / base ** (torch.arange(0, dim, 2, device=position_ids.device) / dim)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)[:, :dim]


class SinusoidalHalves(Sinusoidal):
    """The same, with all sines before all cosines (Vaswani et al. 2018, Tensor2Tensor)."""

    title: ClassVar = "Sinusoidal, sines first"
    description: ClassVar = (
        "Each position adds a fixed pattern of waves to its token's embedding: all sines in the first half of the "
        "channels, all cosines in the second."
    )
    formula: ClassVar = (
        r"P_{i,j} = \sin\left(i / 10000^{2j/d}\right),\quad P_{i,j+d/2} = \cos\left(i / 10000^{2j/d}\right)"
    )

    def __init__(self, config: Config, bidirectional: bool = True) -> None:
        super().__init__(config, bidirectional)
        half, self.reaches_base = self.dim // 2, config.sinusoidal.reaches_base
        self.base = SINUSOIDAL_BASE ** (half / max(half - 1, 1) if self.reaches_base else 1)
        self.first_position = config.sinusoidal.first_position

    def embed(self, position_ids: Positions) -> Float[Tensor, "pos d_model"]:
        """The channels of `Sinusoidal` in another order; if the longest wave has the base, an odd last one is 0."""
        width = self.dim // 2 * 2 if self.reaches_base else self.dim
        encoding = sinusoids(position_ids + self.first_position, width, self.base)
        halves = torch.cat((encoding[:, ::2], encoding[:, 1::2]), dim=-1)
        return functional.pad(halves, (0, self.dim - width))


class LearnedPositions(PositionalEncoding):
    """One learned vector for each position up to the context length (Devlin et al. 2019, section 3.2)."""

    title: ClassVar = "Learned"
    description: ClassVar = "Each position adds a vector of its own, learned in training like any other weight."
    formula: ClassVar = r"x_i = E_{t_i} + P_i"
    integer_only: ClassVar = True
    learned_weights: ClassVar = "a vector for each position"

    def __init__(self, config: Config, bidirectional: bool = True) -> None:
        super().__init__(config, bidirectional)
        self.table = nn.Embedding(config.context_length, config.embedding_sum_dim)

    def embed(self, position_ids: Positions) -> Float[Tensor, "pos d_model"]:
        """The rows of the table at `position_ids`."""
        rows: Tensor = self.table(position_ids)
        return rows

    @property
    def position_range(self) -> tuple[int, int]:
        """The positions that have a row in the table."""
        return 0, self.context_length - 1


class Rope(PositionalEncoding):
    """Rotary position embedding: queries and keys rotated by position (Su et al. 2021, equation 34).

    Channel j is paired with channel j + d/2 (with its neighbour if interleaved); pair j is rotated by the angle pos *
    theta^(-2j/d). The product q . k then depends only on the distance.
    """

    title: ClassVar = "RoPE (rotary)"
    description: ClassVar = (
        "Nothing is added. Each pair of channels of a query or key is rotated by an angle that grows with position; "
        "the product of query and key then depends only on the distance between the tokens."
    )
    formula: ClassVar = (
        r"(a, b) \mapsto (a \cos\alpha - b \sin\alpha,\ b \cos\alpha + a \sin\alpha),"
        r"\quad \alpha = i\,\theta^{-2j/d}"
    )

    def __init__(self, config: Config, bidirectional: bool = True) -> None:
        super().__init__(config, bidirectional)
        self.rope_config = config.rope
        self.rotary_dim = config.rope.rotary_dim or config.head_dim // 2 * 2

    def angles(self, position_ids: Positions) -> Float[Tensor, "pos pair"]:
        """The angle (radians) by which each pair of channels is rotated at each position."""
        frequencies = self._frequencies(lambda: _length(position_ids))
        return position_ids[:, None] * frequencies.to(position_ids.device)

    def same_for_lengths(self, length: int, other_length: int) -> bool:
        """Whether both lengths have the same frequencies; dynamic scaling and LongRoPE may change them."""

        def at(length: int) -> Tensor:
            return self._frequencies(lambda: torch.tensor(length))

        return length == other_length or torch.equal(at(length), at(other_length))

    def _frequencies(self, get_length: GetLength) -> Float[Tensor, " pair"]:
        return ROPE_SCALINGS[self.rope_config.scaling](self.rope_config, self.rotary_dim, get_length)

    def rotation(self, position_ids: Positions) -> Rotation:
        """Cosine and sine for each channel, times the attention factor; negative sine for the first of each pair."""
        angles, factor = self.angles(position_ids), self.rope_config.attention_factor
        cos, sin = angles.cos() * factor, angles.sin() * factor
        pairs = (cos, cos), (-sin, sin)
        if self.rope_config.interleaved:
            return torch.stack(pairs[0], dim=-1).flatten(-2), torch.stack(pairs[1], dim=-1).flatten(-2)
        return torch.cat(pairs[0], dim=-1), torch.cat(pairs[1], dim=-1)

    def rotate(self, x: HeadVectors, position_ids: Positions, rotation: Rotation | None = None) -> HeadVectors:
        """(a, b) -> (a cos - b sin, b cos + a sin) for each pair; channels beyond `rotary_dim` do not change."""
        cos, sin = (wave.to(x.dtype) for wave in rotation or self.rotation(position_ids))
        channels = cos.shape[1]
        if channels < x.shape[-1]:
            rotated = self.rotate(x[..., :channels], position_ids, (cos, sin))
            return torch.cat((rotated, x[..., channels:]), dim=-1)
        interleaved = self.rope_config.interleaved
        pairs = x.reshape(*x.shape[:-1], channels // 2, 2) if interleaved else None
        other = x.roll(channels // 2, -1) if pairs is None else pairs.flip(-1).flatten(-2)
        return x * cos + other * sin


def _length(position_ids: Positions) -> Int[Tensor, ""]:
    """The number of positions up to the last one, as a tensor: a forward pass branches on no value."""
    if position_ids.shape[0] == 0:
        return torch.zeros((), dtype=torch.long, device=position_ids.device)
    return position_ids.max().long() + 1


class PatchRope(Rope):
    """Rotary embedding of patches by their place in the image: half of the pairs by row, half by column (DINOv3).

    Tokens before the patches are not rotated; a text is read as one row of patches.
    """

    title: ClassVar = "RoPE (patches)"
    description: ClassVar = (
        "Nothing is added. Queries and keys are rotated: half of their pairs of channels by the row of their patch and "
        "half by its column, each from -1 to 1 over the image."
    )
    formula: ClassVar = (
        r"(a, b) \mapsto (a \cos\alpha - b \sin\alpha,\ b \cos\alpha + a \sin\alpha),"
        r"\quad \alpha = 2\pi\,y_i\,\theta^{-4j/d}\ \mathrm{or}\ 2\pi\,x_i\,\theta^{-4j/d}"
    )

    def __init__(self, config: Config, bidirectional: bool = True) -> None:
        super().__init__(config, bidirectional)
        image, reads_image = config.image, config.predicts_from_image
        self.first_patch = image.first_tokens if reads_image else 0
        self.shape = (image.patch_rows, image.patch_columns) if reads_image else (1, config.context_length)
        self.pairs_each = config.head_dim // 4

    def angles(self, position_ids: Positions) -> Float[Tensor, "pos pair"]:
        """The angle (radians) of each pair: by row, then by column; 0 for tokens before the patches."""
        exponents = 2 * torch.arange(self.pairs_each, device=position_ids.device) / max(2 * self.pairs_each, 1)
        frequencies = self.rope_config.theta**-exponents
        patch, (rows, columns) = position_ids - self.first_patch, self.shape
        row = patch.div(columns, rounding_mode="floor")
        middles = ((2 * row + 1) / rows - 1, (2 * (patch - row * columns) + 1) / columns - 1)
        angles = torch.cat([2 * math.pi * place[:, None] * frequencies for place in middles], dim=-1)
        return angles * (patch >= 0)[:, None]

    def same_for_lengths(self, length: int, other_length: int) -> bool:
        """True: the places of patches depend only on the image."""
        return True


class Alibi(PositionalEncoding):
    """A linear bias by distance, with a fixed slope for each head (Press et al. 2022, section 3)."""

    title: ClassVar = "ALiBi"
    description: ClassVar = (
        "Nothing is added to the tokens. Each score falls by the same amount for every token of distance; the "
        "amount differs from head to head. Falcon divides it by √d, as it does its scores."
    )
    formula: ClassVar = (
        r"b_{ij} = -m_h\,|i - j|,\quad m_h = 2^{-8h/p}\ \mathrm{for\ head}\ h = 1 \dots p,\quad "
        r"m_h = 2^{-4(2(h-p)-1)/p}\ \mathrm{for}\ h > p,\quad p = 2^{\lfloor \log_2 n \rfloor}"
    )

    def __init__(self, config: Config, bidirectional: bool = True) -> None:
        super().__init__(config, bidirectional)
        self.alibi_config = config.alibi

    def slopes(self) -> Float[Tensor, " head"]:
        """The slope of each head, as the paper's code chooses them: for a power of two 2^(-8/n), 2^(-16/n) ...

        Heads beyond a power of two take every other slope of twice as many heads.
        """

        def powers(count: int) -> list[float]:
            return [2.0 ** (-8.0 * (head + 1) / count) for head in range(count)]

        power_of_two = 2 ** int(math.log2(self.heads))
        slopes = torch.tensor(powers(power_of_two) + powers(2 * power_of_two)[::2][: self.heads - power_of_two])
        return self.alibi_config.scale * (slopes.bfloat16().float() if self.alibi_config.bfloat16 else slopes)

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


class RelativePositions(PositionalEncoding):
    """The base class of encodings of distances; a model may have learned absolute positions as well."""

    def __init__(self, config: Config, bidirectional: bool = True) -> None:
        super().__init__(config, bidirectional)
        self.absolute = LearnedPositions(config) if config.relative_position.absolute_positions else None

    def embed(self, position_ids: Positions) -> Float[Tensor, "pos width"]:
        """The learned vectors of absolute positions, if the model has them."""
        return super().embed(position_ids) if self.absolute is None else self.absolute.embed(position_ids)

    @classmethod
    def adds_embeddings(cls, config: Config) -> bool:
        """Whether the model has absolute positions as well."""
        return config.relative_position.absolute_positions

    @property
    def position_range(self) -> tuple[int, int]:
        """Any position, or the positions in the table if absolute positions are learned."""
        return super().position_range if self.absolute is None else self.absolute.position_range


class LearnedBiases(RelativePositions):
    """The base class of encodings with a table of learned biases, one for each head and bucket of distances."""

    integer_only: ClassVar = True

    def __init__(self, config: Config, buckets: int, bidirectional: bool = True) -> None:
        super().__init__(config, bidirectional)
        # If each layer has its own biases, the columns of all layers are side by side.
        self.tables = config.layers if config.relative_position.each_layer else 1
        self.bias_table = nn.Embedding(buckets, self.tables * config.heads)
        self.columns = slice(0, config.heads)  # of the layer that uses this encoding

    def for_layer(self, layer: int) -> LearnedBiases:
        """The encoding with the biases of one layer; the table is shared."""
        if self.tables == 1:
            return self
        found = copy(self)
        found.columns = slice(layer * self.heads, (layer + 1) * self.heads)
        return found

    def bias_of(self, buckets: Int[Tensor, "query key"]) -> Float[Tensor, "head query key"]:
        """The learned bias of each bucket."""
        biases: Tensor = self.bias_table(buckets)
        return biases[..., self.columns].permute(2, 0, 1)


class RelativeBias(LearnedBiases):
    """One learned bias for each head and bucket of distances (T5; Raffel et al. 2020, section 2.1)."""

    title: ClassVar = "Relative (T5)"
    description: ClassVar = (
        "Nothing is added to the tokens. Each head has learned a number for every range of distances; it is added to "
        "the scores."
    )
    formula: ClassVar = r"b_{ij} = B_{h,\,\mathrm{bucket}(j - i)}"
    learned_weights: ClassVar = "a number for each head and range of distances"

    def __init__(self, config: Config, bidirectional: bool = True) -> None:
        super().__init__(config, config.relative_position.buckets, bidirectional)
        self.buckets, self.max_distance = config.relative_position.buckets, config.relative_position.max_distance
        self.direction_buckets = self.buckets // 2 if bidirectional else self.buckets
        exact = self.direction_buckets // 2
        _require_far_buckets(self.buckets, exact, exact + 1, self.max_distance)

    def bucket(self, key_minus_query: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """The bucket of each distance: each small distance has its own, larger ones share buckets logarithmically."""
        direction_buckets = self.direction_buckets
        distance = key_minus_query.abs() if self.bidirectional else (-key_minus_query).clamp(min=0)
        exact_buckets = direction_buckets // 2
        growth = (distance.clamp(min=1) / exact_buckets).log() / math.log(self.max_distance / exact_buckets)
        far = (exact_buckets + growth * (direction_buckets - exact_buckets)).long().clamp(max=direction_buckets - 1)
        near = torch.where(distance < exact_buckets, distance, far)
        return near + direction_buckets * (key_minus_query > 0) if self.bidirectional else near

    def bias(self, queries: Shaped[Tensor, " query"], keys: Shaped[Tensor, " key"]) -> Float[Tensor, "head query key"]:
        """The learned bias of each distance's bucket."""
        return self.bias_of(self.bucket(keys[None, :] - queries[:, None]))


class PatchBias(LearnedBiases):
    """One learned bias for each head and offset between patches, in rows and columns (BEiT; Bao et al. 2022).

    Position 0 is the class token, which has biases of its own; a text is read as one row of patches after it.
    """

    title: ClassVar = "Relative (patches)"
    description: ClassVar = (
        "Nothing is added to the patches. Each head has learned a number for every offset in rows and columns; it is "
        "added to the scores. The class token has numbers of its own."
    )
    formula: ClassVar = r"b_{ij} = B_{h,\,(r_i - r_j,\ c_i - c_j)}"
    learned_weights: ClassVar = "a number for each head and offset in rows and columns"

    def __init__(self, config: Config, bidirectional: bool = True) -> None:
        self.rows, self.columns_of_patches = 1, max(config.context_length - 1, 1)
        if config.predicts_from_image:
            self.rows, self.columns_of_patches = config.image.patch_rows, config.image.patch_columns
        offsets = (2 * self.rows - 1) * (2 * self.columns_of_patches - 1)
        super().__init__(config, offsets + 3, bidirectional)
        self.offsets = offsets

    def bucket(self, queries: Shaped[Tensor, " query"], keys: Shaped[Tensor, " key"]) -> Int[Tensor, "query key"]:
        """The row of each offset, row by row; the last three are for the class token as query, as key, and as both."""
        across = self.columns_of_patches
        query, key = queries[:, None].long() - 1, keys[None, :].long() - 1  # indices among the patches
        down = query.div(across, rounding_mode="floor") - key.div(across, rounding_mode="floor") + self.rows - 1
        right = query.remainder(across) - key.remainder(across) + across - 1
        found = down * (2 * across - 1) + right
        found = torch.where(query < 0, self.offsets, torch.where(key < 0, self.offsets + 1, found))
        return torch.where((query < 0) & (key < 0), self.offsets + 2, found)

    def bias(self, queries: Shaped[Tensor, " query"], keys: Shaped[Tensor, " key"]) -> Float[Tensor, "head query key"]:
        """The learned bias of each offset."""
        return self.bias_of(self.bucket(queries, keys))

    @property
    def position_range(self) -> tuple[int, int]:
        """The positions of the class token and of the patches."""
        return 0, self.rows * self.columns_of_patches


def _require_far_buckets(buckets: int, exact: int, least: int, max_distance: int) -> None:
    """Raise ConfigError unless some distances remain to share buckets: each of the first `exact` has its own."""
    if exact < 1:
        raise ConfigError(f"{buckets} buckets are too few for relative positions; at least 4 are needed.")
    if max_distance < least:
        raise ConfigError(
            f"With {buckets} buckets distances up to {exact - 1} have one each, so the largest distance is to be "
            f"{least} or more; it is {max_distance}."
        )


class RelativePositionProjection(nn.Module):
    """One attention layer's projections of the relative position embeddings to keys and to queries."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        d_model, dim, kinds = config.d_model, config.heads * config.head_dim, config.relative_position
        self.key = nn.Linear(d_model, dim, bias=config.has_bias("key")) if kinds.content_to_position else None
        self.query = (
            nn.Linear(config.d_model, dim, bias=config.has_bias("query")) if kinds.position_to_content else None
        )


class DisentangledPositions(RelativePositions):
    """Disentangled attention: content-to-position and position-to-content scores (He et al. 2021, equations 2 to 4)."""

    title: ClassVar = "Disentangled (DeBERTa)"
    description: ClassVar = (
        "Nothing is added to the tokens. Every distance has a learned vector that takes part in the scores: queries "
        "are compared with it as with a key, and keys as with a query."
    )
    formula: ClassVar = r"b_{ij} = q_i \cdot K_{\delta(i - j)} + k_j \cdot Q_{\delta(i - j)}"
    integer_only: ClassVar = True
    learned_weights: ClassVar = "a vector for each range of distances, and its projections in each layer"

    def __init__(self, config: Config, bidirectional: bool = True) -> None:
        super().__init__(config, bidirectional)
        self.relative_position_config = config.relative_position
        if not config.relative_position.exact_distances:
            buckets, largest = config.relative_position.buckets, config.relative_position.max_distance
            _require_far_buckets(buckets, buckets // 2, buckets // 2 + 2, largest)
        self.relative_embedding = nn.Embedding(2 * config.relative_position.buckets, config.d_model)
        self.norm = (
            nn.LayerNorm(config.d_model, config.norm_epsilon)
            if self.relative_position_config.normalized
            else nn.Identity()
        )

    @classmethod
    def make_relative_position_projection(cls, config: Config) -> nn.Module:
        """The projections for one attention layer."""
        return RelativePositionProjection(config)

    def bucket(self, query_minus_key: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """The row of each distance: each small distance has its own, larger ones share rows (He et al. 2023)."""
        rows, half = self.relative_position_config.buckets, self.relative_position_config.buckets // 2
        if self.relative_position_config.exact_distances:
            return (query_minus_key + rows).clamp(0, 2 * rows - 1)
        # In float32, as in training: at the largest distance the ratio is exactly 1, not slightly more.
        log_range = torch.tensor(
            (self.relative_position_config.max_distance - 1) / half, device=query_minus_key.device
        ).log()
        growth = (query_minus_key.abs().clamp(min=half) / half).log() / log_range
        far = ((growth * (half - 1)).ceil() + half).long() * query_minus_key.sign()
        return (torch.where(query_minus_key.abs() <= half, query_minus_key, far) + rows).clamp(0, 2 * rows - 1)

    def content_bias(
        self,
        q: Float[Tensor, "batch head query head_dim"],
        k: Float[Tensor, "batch head key head_dim"],
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


def _split_heads(x: Float[Tensor, "row d_model"], heads: int) -> Float[Tensor, "head row head_dim"]:
    return x.view(len(x), heads, -1).transpose(0, 1)


POSITIONAL_ENCODINGS: Registry[type[PositionalEncoding]] = Registry(
    "positional encoding",
    {
        "none": PositionalEncoding,
        "sinusoidal": Sinusoidal,
        "sinusoidal-halves": SinusoidalHalves,
        "learned": LearnedPositions,
        "rope": Rope,
        "rope-patches": PatchRope,
        "alibi": Alibi,
        "relative": RelativeBias,
        "relative-patches": PatchBias,
        "disentangled": DisentangledPositions,
    },
)
