"""Multi-head attention with a hook on each intermediate value, and the cache of its keys and values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Bool, Float, Shaped
from headlight.config import Config
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS, has_empty_rows
from headlight.nn.hooks import QUERY_KEY_HOOK_POINTS, Hook, HookScope, hook_for_rows, hook_scope
from headlight.nn.layers import Compression, Linear, make_norm, soft_cap
from headlight.nn.masks import QueryKeyPositions
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS, PositionalEncoding, Rotation
from headlight.registry import Registry


@dataclass(frozen=True)
class KeysAndValues:
    """The keys of new tokens before and after the rotary embedding, and their values, split into heads.

    `path` is the path of the attention that computed them, as in a cache.
    """

    k: Float[Tensor, "batch key_value_head new head_dim"]
    rotated_k: Float[Tensor, "batch key_value_head new head_dim"]
    v: Float[Tensor, "batch key_value_head new value_head_dim"]
    path: str = ""

    def is_edited(self, shared: KeysAndValues) -> bool:
        """Whether an edit changed these keys or values in the layer that reads them from `shared`."""
        return self.rotated_k is not shared.rotated_k or self.v is not shared.v

    def expand(self, count: int) -> KeysAndValues:
        """The keys and values of one text, expanded to a batch of runs."""
        k, rotated_k, v = (each.expand(count, -1, -1, -1) for each in (self.k, self.rotated_k, self.v))
        return KeysAndValues(k, rotated_k, v, self.path)


ALL_HEADS = slice(None)
CELLS_AT_ONCE = 1 << 22  # head x query x key cells (or logits) computed at a time: 16 MB, needed several times


@dataclass(frozen=True)
class AttentionContext:
    """The inputs of attention besides q, k and v: the positional encoding, its positions, and the allowed cells.

    `is_causal`: `allowed` is exactly the causal mask of a whole text. `rotation` is the rotation of all query positions
    (and so of the new keys), if the caller has computed it once for several layers.
    """

    positional_encoding: PositionalEncoding
    positions: QueryKeyPositions
    allowed: Bool[Tensor, "#batch #head query key"]
    is_causal: bool = False
    rotation: Rotation | None = None

    @cached_property
    def bias(self) -> Float[Tensor, "#batch head query key"]:
        """The position bias added to the scores, in every layer that has this context."""
        return self.positional_encoding.bias(self.positions.queries, self.positions.keys)[None]

    @cached_property
    def mask(self) -> Bool[Tensor, "#batch head query key"]:
        """The allowed cells of every head, one object for all layers that have this context."""
        return self.allowed.expand(-1, self.positional_encoding.heads, -1, -1)

    @cached_property
    def has_empty_rows(self) -> bool:
        """Whether some query has no key that it may attend to."""
        return has_empty_rows(self.allowed)

    def spread(self, q: Float[Tensor, "batch head row head_dim"]) -> Float[Tensor, "text head query head_dim"]:
        """The queries as attention reads them: unchanged, for rows of one text."""
        return q

    def collect(self, values: Float[Tensor, "text head query head_dim"]) -> Float[Tensor, "batch head row head_dim"]:
        """The inverse of `spread`: the output of attention as rows again."""
        return values

    def for_queries(self, queries: slice) -> AttentionContext:
        """The context for some of the queries."""
        positions = replace(self.positions, queries=self.positions.queries[queries])
        return AttentionContext(self.positional_encoding, positions, self.allowed[:, :, queries])


@dataclass(frozen=True)
class AttentionInputs:
    """The inputs of an attention besides the residual stream.

    Cross-attention attends to `memory`, the encoder's output. `cache` contains the keys and values of earlier tokens,
    or those of the memory, at `path`. `shared` are the keys and values of the earlier layer that this one reads.
    """

    context: AttentionContext
    memory: Float[Tensor, "batch new memory_dim"] | None = None
    cache: KVCache | None = None
    path: str = ""
    shared: KeysAndValues | None = None


@dataclass(frozen=True)
class ScaleAndSinks:
    """The factor on each head's scores, and the score of its sink, which takes the share of a row that no token gets.

    `sinks` is None without sinks.
    """

    scale: Float[Tensor, "#batch head"]
    sinks: Float[Tensor, "#batch head"] | None


class PerHeadNorm(nn.Module):
    """QK norm over the channels of each head (Henry et al. 2020)."""

    def __init__(self, config: Config, heads: int) -> None:
        super().__init__()
        self.norm = make_norm(config, config.head_dim)

    def forward(self, x: Float[Tensor, "batch head pos head_dim"]) -> Float[Tensor, "batch head pos head_dim"]:
        """Normalizes each head separately."""
        normed: Tensor = self.norm(x)
        return normed


class AllHeadsNorm(nn.Module):
    """QK norm over the channels of all heads together (OLMo Team 2025, section 3.2)."""

    def __init__(self, config: Config, heads: int) -> None:
        super().__init__()
        self.norm = make_norm(config, heads * config.head_dim)

    def forward(self, x: Float[Tensor, "batch head pos head_dim"]) -> Float[Tensor, "batch head pos head_dim"]:
        """Normalizes all heads together."""
        return split_heads(self.norm(merge_heads(x)), x.shape[1])


class EachHeadNorm(nn.Module):
    """QK norm (LayerNorm) over the channels of each head, with weights of its own for each (Cohere 2024)."""

    def __init__(self, config: Config, heads: int) -> None:
        super().__init__()
        self.weight, self.epsilon = nn.Parameter(torch.ones(heads * config.head_dim)), config.norm_epsilon

    def forward(self, x: Float[Tensor, "batch head pos head_dim"]) -> Float[Tensor, "batch head pos head_dim"]:
        """Normalizes each head separately, with its own weights."""
        return functional.layer_norm(x, x.shape[-1:], eps=self.epsilon) * self.weight.view(x.shape[1], 1, -1)


def per_head_rms_norm(config: Config, heads: int) -> nn.Module:
    """QK norm without weights: each head's channels are divided by their root mean square (Llama 4)."""
    return nn.RMSNorm(config.head_dim, config.norm_epsilon, elementwise_affine=False)


QK_NORMS: Registry[Callable[[Config, int], nn.Module]] = Registry(
    "QK norm",
    {
        "none": nn.Identity,
        "per-head": PerHeadNorm,
        "per-head-rms": per_head_rms_norm,
        "each-head": EachHeadNorm,
        "all-heads": AllHeadsNorm,
    },
)


def make_compressions(config: Config) -> tuple[Compression | None, Compression | None]:
    """The down-projections of queries and of keys and values; None if uncompressed."""
    latent, d_model = config.attention.latent, config.d_model
    of_queries = latent.query_channels and Compression(d_model, latent.query_channels, bias=config.has_bias("latent"))
    sizes = (latent.key_value_channels, latent.shared_key_channels)
    return of_queries or None, Compression(d_model, *sizes, bias=config.has_bias("latent")) if sizes[0] else None


def with_shared_channels(
    shared: Float[Tensor, "batch pos shared_channel"], k: Float[Tensor, "batch head pos own_channel"]
) -> Float[Tensor, "batch head pos head_dim"]:
    """Prepends the channels shared by all heads to the keys."""
    return torch.cat((shared[:, None].expand(-1, k.shape[1], -1, -1), k), dim=-1)


def make_key(config: Config, memory_dim: int = 0) -> Linear:
    """The projection to the keys of all key/value heads."""
    own_channels = config.head_dim - config.attention.latent.shared_key_channels
    channels = config.attention.latent.key_value_channels or memory_dim or config.d_model
    return Linear(channels, config.key_value_heads * own_channels, bias=config.has_bias("key"))


def make_value(config: Config, memory_dim: int = 0) -> Linear:
    """The projection to the values of all key/value heads."""
    channels = config.attention.latent.key_value_channels or memory_dim or config.d_model
    return Linear(channels, config.key_value_heads * config.value_head_dim, bias=config.has_bias("value"))


class Attention(nn.Module):
    """Multi-head scaled dot-product attention (Vaswani et al. 2017, section 3.2).

    Each key/value head may serve a group of query heads (grouped-query attention; Ainslie et al. 2023), and the size of
    values may differ from that of keys. A layer that reads the keys and values of an earlier one (Brandon et al. 2024)
    has no projections of its own for them. Cross-attention reads a memory of `memory_dim` channels.
    """

    def __init__(self, config: Config, layer: int = 0, memory_dim: int = 0) -> None:
        super().__init__()
        has_positions = not memory_dim
        layer_scales, has_own = config.per_layer.score_scales, config.key_value_layer(layer) == layer
        config = config.for_layer(layer)
        self.heads, self.key_value_heads = config.heads, config.key_value_heads
        self.group_size = config.heads // config.key_value_heads
        self.attention_function = ATTENTION_FUNCTIONS[config.attention_function]
        self.scale = (layer_scales[layer] if layer_scales else config.head_dim**-0.5) if config.attention.scale else 1.0
        self.score_soft_cap, self.dropout = config.attention.score_soft_cap, config.dropout
        self.qkv_limit = config.attention.qkv_limit
        self.query_compression, self.key_value_compression = make_compressions(config)
        query_input = config.attention.latent.query_channels or config.d_model
        self.query = Linear(query_input, config.heads * config.head_dim, bias=config.has_bias("query"))
        self.key = make_key(config, memory_dim) if has_own else None
        self.value = make_value(config, memory_dim) if has_own and not config.attention.keys_as_values else None
        self.output = Linear(config.heads * config.value_head_dim, config.d_model, bias=config.has_bias("output"))
        gated = self.output.in_features if config.attention.output_gate else 0
        self.gate = Linear(config.d_model, gated, bias=config.has_bias("query")) if gated else None
        self.sinks = nn.Parameter(torch.zeros(config.heads)) if config.attention.sinks else None
        self.query_norm = QK_NORMS[config.attention.qk_norm](config, config.heads)
        self.key_norm = QK_NORMS[config.attention.qk_norm](config, config.key_value_heads) if has_own else nn.Identity()
        value_norm = nn.RMSNorm(config.value_head_dim, config.norm_epsilon, elementwise_affine=False)
        self.value_norm = value_norm if config.attention.value_norm else nn.Identity()
        encoding = POSITIONAL_ENCODINGS[config.positional_encoding if has_positions else "none"]
        self.temperature_growth = config.attention.temperature_growth
        grows = has_positions and encoding is PositionalEncoding
        self.temperature_length = config.attention.temperature_length if grows else 0
        self.relative_position_projection = encoding.make_relative_position_projection(config)

    def forward(
        self, x: Float[Tensor, "batch query d_model"], inputs: AttentionInputs, hook: Hook
    ) -> tuple[Float[Tensor, "batch query d_model"], KeysAndValues]:
        """Attention of `x` to itself or to the memory, after the output projection; and the new keys and values."""
        context, x = inputs.context, hook("input", x)
        q, new = self.project(x, inputs, hook)
        k, v = new.rotated_k, new.v
        if inputs.cache is not None and inputs.memory is None:
            k, v = inputs.cache.append(inputs.path, new, inputs.shared)
        attended = context.collect(self.attend(context.spread(q), k, v, context, hook))
        if self.gate is not None:
            attended = attended * hook("gate", split_heads(self.gate(x), self.heads).sigmoid())
        return hook("output", self.output(merge_heads(hook("weighted_values", attended)))), new

    def project(
        self, x: Float[Tensor, "batch query d_model"], inputs: AttentionInputs, hook: Hook
    ) -> tuple[Float[Tensor, "batch head query head_dim"], KeysAndValues]:
        """The queries, split into heads, with the rotary embedding applied; and the keys and values."""
        context, shared = inputs.context, inputs.shared
        query_input = x if self.query_compression is None else self.query_compression(x)
        q = self._limited(self.query_norm(split_heads(self.query(query_input), self.heads)))
        if self.temperature_length:
            q = q * self.query_factor(context.positions.queries)[:, None].to(q.dtype)
        q = hook("q", q)
        k, v = self._unedited_keys_and_values(x, inputs, hook)
        # After the cache: it keeps the keys and values of the memory unedited, because each step may have other edits.
        k, v = hook("k", k), hook("v", v)
        rotate, positions, rotation = context.positional_encoding.rotate, context.positions, context.rotation
        q = hook("rotated_q", rotate(q, positions.queries, rotation))
        if shared is not None and k is shared.k:
            rotated_k = shared.rotated_k  # with the edits of the layer that computed it
        else:
            rotated_k = rotate(k, positions.keys[-k.shape[2] :], rotation)
            if shared is not None:  # a key not edited here keeps the edits of the layer that computed it
                rotated_k = torch.where((k == shared.k).all(-1, keepdim=True), shared.rotated_k, rotated_k)
        return q, KeysAndValues(k, hook("rotated_k", rotated_k), v, inputs.path)

    def query_factor(self, positions: Shaped[Tensor, " query"]) -> Float[Tensor, " query"]:
        """The factor by which queries grow with their position (`AttentionConfig.temperature_length`)."""
        stretches = ((positions.float() + 1) / max(self.temperature_length, 1)).floor().clamp(min=0)
        return 1 + self.temperature_growth * stretches.log1p() * (self.temperature_length > 0)

    @property
    def projections(self) -> tuple[Linear, Linear, Linear]:
        """The projections to queries, keys and values, of an attention that has all three."""
        assert self.key is not None and self.value is not None
        return self.query, self.key, self.value

    def _unedited_keys_and_values(self, x: Tensor, inputs: AttentionInputs, hook: Hook) -> tuple[Tensor, Tensor]:
        """Keys and values of an earlier layer, or computed from x or the memory; a cache keeps the memory's."""
        if inputs.shared is not None:
            return inputs.shared.k, inputs.shared.v
        if inputs.memory is None:
            return self._keys_and_values(x, hook)
        kept = {} if inputs.cache is None else inputs.cache.key_values
        if inputs.path not in kept:
            kept[inputs.path] = self._keys_and_values(inputs.memory, hook)
        return kept[inputs.path]

    def _keys_and_values(self, x: Float[Tensor, "batch new d_model"], hook: Hook) -> tuple[Tensor, Tensor]:
        assert self.key is not None  # None only if the layer shares the keys of another
        shared_channels = None
        if compress := self.key_value_compression:
            x, shared_channels = compress.split(hook("latent", compress(x)))
        k = split_heads(self.key(x), self.key_value_heads)
        k = k if shared_channels is None else with_shared_channels(shared_channels, k)
        v = k if self.value is None else split_heads(self.value(x), self.key_value_heads)
        return self._limited(self.key_norm(k)), self._limited(self.value_norm(v))

    def _limited(self, x: Tensor) -> Tensor:
        return x.clamp(-self.qkv_limit, self.qkv_limit) if self.qkv_limit else x

    def attend(
        self,
        q: Float[Tensor, "batch head query head_dim"],
        k: Float[Tensor, "batch key_value_head key head_dim"],
        v: Float[Tensor, "batch key_value_head key value_head_dim"],
        context: AttentionContext,
        hook: Hook,
    ) -> Float[Tensor, "batch head query value_head_dim"]:
        """The weighted sum of the values; long sequences are computed in chunks of queries.

        Torch's fused attention computes long ones if no hook needs the steps: softmax without bias, soft cap or sinks.
        """
        scale_and_sinks, queries = self.scale_and_sinks(q, hook), q.shape[2]
        # A compiled or exported graph is for texts of any length: it computes all queries at once.
        is_whole = self.training or torch.compiler.is_compiling()
        chunks = [] if is_whole else query_chunks(queries, self.heads * k.shape[2])
        if len(chunks) <= 1:
            return self.weighted_sum(q, k, v, scale_and_sinks, context, hook)
        scope = max(hook_scope(hook, hook_point) for hook_point in QUERY_KEY_HOOK_POINTS)
        if scope is HookScope.ALL:
            return self.weighted_sum(q, k, v, scale_and_sinks, context, hook)
        changes_scores = context.positional_encoding.adds_to_scores or self.score_soft_cap or self.sinks is not None
        if scope is HookScope.NONE and self.attention_function.is_fused and not changes_scores:
            return self._fused_weighted_sum(q, k, v, scale_and_sinks.scale, context)
        parts = (
            self.weighted_sum(
                q[:, :, chunk],
                k,
                v,
                scale_and_sinks,
                context.for_queries(chunk),
                hook_for_rows(hook, chunk.start, queries),
            )
            for chunk in chunks
        )
        return torch.cat(tuple(parts), dim=2)

    def _fused_weighted_sum(self, q: Tensor, k: Tensor, v: Tensor, scale: Tensor, context: AttentionContext) -> Tensor:
        allowed = None if context.is_causal else context.allowed
        k, v = repeat_key_values(k, self.group_size), repeat_key_values(v, self.group_size)
        q = (q * scale[:, :, None, None]).to(q.dtype)
        return functional.scaled_dot_product_attention(q, k, v, allowed, is_causal=context.is_causal, scale=1.0)

    def scale_and_sinks(self, q: Tensor, hook: Hook) -> ScaleAndSinks:
        """The factor on each head's scores, in float32 for every dtype of q, and the score of its sink."""
        scale = hook("scale", torch.full((1, self.heads), self.scale, device=q.device))
        return ScaleAndSinks(scale, None if self.sinks is None else hook("sink", self.sinks[None]))

    def weighted_sum(
        self,
        q: Float[Tensor, "batch head query head_dim"],
        k: Float[Tensor, "batch key_value_head key head_dim"],
        v: Float[Tensor, "batch key_value_head key value_head_dim"],
        scale_and_sinks: ScaleAndSinks,
        context: AttentionContext,
        hook: Hook,
        head_slice: slice = ALL_HEADS,
    ) -> Float[Tensor, "batch chosen query value_head_dim"]:
        """The values weighted by attention, for the chosen heads: mask, bias, scores, weights, weighted sum."""

        def chosen(x: Tensor) -> Tensor:
            return x if head_slice == ALL_HEADS else x[:, head_slice]

        scale, sinks = scale_and_sinks.scale[:, :, None, None], scale_and_sinks.sinks
        repeated_k = repeat_key_values(k, self.group_size)
        # The mask comes first, because edits of scores may need it.
        mask = chosen(context.mask)
        allowed = hook("mask", mask)
        may_be_empty = allowed is not mask or context.has_empty_rows
        allowed = allowed if allowed.stride(1) else allowed[:, :1]  # the same for all heads: computed once
        bias = context.bias
        if context.positional_encoding.has_content_bias:
            bias = (
                bias
                + context.positional_encoding.content_bias(
                    q, repeated_k, self.relative_position_projection, -context.positions.distance
                )
                * scale
            )
        bias = hook("bias", chosen(bias).to(q.dtype))
        scores = self.attention_function.score(chosen(q), chosen(repeated_k), chosen(scale), bias)
        masked = hook(
            "masked_scores",
            self.attention_function.mask(hook("scores", soft_cap(scores, self.score_soft_cap)), allowed),
        )
        chosen_sinks = None if sinks is None else chosen(sinks)
        rows = allowed if may_be_empty else None
        weights = hook("weights", self.attention_function.normalize_with_sink(masked, rows, chosen_sinks))
        dropped = functional.dropout(weights, self.dropout) if self.training else weights
        return dropped @ chosen(repeat_key_values(v, self.group_size))


def query_chunks(queries: int, cells_per_query: int) -> list[slice]:
    """Consecutive queries, at least one at a time, so that the cells of each chunk stay within CELLS_AT_ONCE."""
    size = max(1, CELLS_AT_ONCE // max(1, cells_per_query))
    return [slice(start, min(start + size, queries)) for start in range(0, queries, size)]


def split_heads(x: Float[Tensor, "batch pos d_model"], heads: int) -> Float[Tensor, "batch head pos head_dim"]:
    """Splits d_model channels into heads of head_dim each."""
    return x.view(*x.shape[:-1], heads, x.shape[-1] // heads).transpose(1, 2)


def merge_heads(x: Float[Tensor, "batch head pos head_dim"]) -> Float[Tensor, "batch pos d_model"]:
    """Concatenates the heads."""
    return x.transpose(1, 2).flatten(2)


def repeat_key_values(
    x: Float[Tensor, "batch key_value_head key head_dim"], times: int
) -> Float[Tensor, "batch head key head_dim"]:
    """Repeats each key/value head for every query head of its group."""
    return x if times == 1 else x[:, :, None].expand(-1, -1, times, -1, -1).flatten(1, 2)


KeyValues = Mapping[str, tuple[Tensor, Tensor]]
CROSS = ".cross"  # suffix of the path of cross-attention


@dataclass
class KVCache:
    """Keys and values of the first `length` tokens, by the path of their attention (`decoder.3`).

    The keys and values of a source are at paths of their own (`decoder.3.cross`) and are the same for every token.
    """

    length: int = 0
    key_values: dict[str, tuple[Tensor, Tensor]] = field(default_factory=dict)

    def new_rows(self, values: Float[Tensor, "batch head key dim"], count: int) -> Float[Tensor, "batch head new dim"]:
        """The values of the last `count` tokens."""
        return values[:, :, -count:]

    def append(self, path: str, new: KeysAndValues, shared: KeysAndValues | None = None) -> tuple[Tensor, Tensor]:
        """Appends the new keys and values of the self-attention at `path`; returns all of them.

        A layer that reads the keys and values of an earlier one (`shared`) has an entry only if an edit changed them.
        """
        earlier, k, v = self.key_values.get(path), new.rotated_k, new.v
        if shared is not None and earlier is None:
            earlier = self.key_values[shared.path]
            if not new.is_edited(shared):
                return earlier
            earlier = earlier[0][:, :, : -k.shape[2]], earlier[1][:, :, : -v.shape[2]]
        if earlier is not None:
            k, v = (torch.cat(old_and_new, dim=2) for old_and_new in zip(earlier, (k, v), strict=True))
        self.key_values[path] = (k, v)
        return k, v


def common_prefix_length(one: Sequence[int], other: Sequence[int]) -> int:
    """The length of the longest common prefix of two texts, in tokens."""
    length = min(len(one), len(other))
    return next((position for position in range(length) if one[position] != other[position]), length)


def truncate_key_values(key_values: KeyValues, length: int) -> dict[str, tuple[Tensor, Tensor]]:
    """The keys and values of the source and of the first `length` tokens, if no token attends to a later one."""
    return {
        path: (k, v) if path.endswith(CROSS) else (k[:, :, :length], v[:, :, :length])
        for path, (k, v) in key_values.items()
    }
