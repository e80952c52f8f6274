"""Stacks of transformer blocks over one sequence: attention and feed-forward, with residual connections and norms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from types import MappingProxyType
from typing import Literal

import torch
from torch import Tensor, nn

from headlight.array_types import Bool, Float, Int, Shaped
from headlight.config import Config, PerLayerConfig
from headlight.errors import ConfigError, EditError
from headlight.nn.attention import CROSS, Attention, AttentionContext, AttentionInputs, KeysAndValues, KVCache
from headlight.nn.experts import make_feed_forward, normed_around
from headlight.nn.hooks import Hook, HookAfter, HookScope, hook_scope, with_prefix
from headlight.nn.layer_embedding import LayerEmbedding, LayerEmbeddingGate
from headlight.nn.layers import Linear, make_norm
from headlight.nn.masks import QueryKeyPositions, combine_masks, parse_masks
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS, PositionalEncoding
from headlight.nn.recurrence import RecurrentLayer
from headlight.nn.residual_streams import AlternatingUpdates, LowRankMap, ResidualStreams
from headlight.registry import Registry
from headlight.views.words import digits

Norm = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class NormPlacement:
    """The placement of the norms of a residual connection; `title` is its name on a model card.

    `norm_before` and `norm_after` say which norms exist, `norm_on_stream` whether the residual stream itself passes
    through the norm, before or after the sublayer, and `has_residual` whether there is a residual connection.
    """

    title: str
    norm_before: bool = True
    norm_after: bool = False
    norm_on_stream: Literal["", "before", "after"] = ""
    has_residual: bool = True

    @property
    def output_is_normed(self) -> bool:
        """Whether the stack needs no final norm."""
        return self.norm_on_stream == "after"

    @property
    def only_adds(self) -> bool:
        """Whether the sublayer's output is added to the residual stream unchanged, and no norm acts on the stream."""
        return self.has_residual and not self.norm_after and not self.norm_on_stream

    @property
    def normalizes_input(self) -> bool:
        """Whether a norm stands between the residual stream and the sublayer."""
        return self.norm_before and self.norm_on_stream != "after"

    def sublayer_input(self, x: Tensor, norm: Norm) -> Tensor:
        """The input of the sublayer: x, normalized unless the norm comes after the sublayer."""
        return norm(x) if self.normalizes_input else x

    def add(self, residual: Tensor, sublayer_input: Tensor, output: Tensor, norm: Norm, output_norm: Norm) -> Tensor:
        """The residual stream after the sublayer, which read `sublayer_input` and returned `output`."""
        if not self.has_residual:
            return output
        if self.norm_on_stream == "before":
            return sublayer_input + output
        if self.norm_on_stream == "after":
            return norm(residual + output)
        return residual + (output_norm(output) if self.norm_after else output)


NORM_PLACEMENTS: Registry[NormPlacement] = Registry(
    "norm placement",
    {
        # Xiong et al. 2020, figure 1: post-norm is the original order, pre-norm trains without warm-up.
        "pre": NormPlacement("Before each sublayer (pre-norm)"),
        "post": NormPlacement("After each sublayer and its residual (post-norm)", norm_on_stream="after"),
        # OLMo Team 2025, section 3.2
        "post-sublayer": NormPlacement("On the output of each sublayer", norm_before=False, norm_after=True),
        # Gemma Team 2024 (Gemma 2), section 2
        "sandwich": NormPlacement("Before and after each sublayer", norm_after=True),
        # BigScience 2022, the option apply_residual_connection_post_layernorm
        "residual-from-norm": NormPlacement("Before each sublayer and its residual", norm_on_stream="before"),
        "none": NormPlacement("No norm and no residual connection", norm_before=False, has_residual=False),
    },
)


class ResidualConnection(nn.Module):
    """Residual connection around a sublayer, with the norms of the placement; "none" has neither norm nor residual."""

    def __init__(self, config: Config, has_norm: bool = True) -> None:
        super().__init__()
        placement = NORM_PLACEMENTS[config.norm_placement]
        self.placement = placement
        self.norm = make_norm(config, config.d_model) if has_norm and placement.norm_before else nn.Identity()
        self.output_norm = make_norm(config, config.d_model) if placement.norm_after else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)

    @property
    def normalizes_input(self) -> bool:
        """Whether the sublayer reads the residual stream normalized."""
        return self.placement.normalizes_input and not isinstance(self.norm, nn.Identity)

    def sublayer_input(self, x: Float[Tensor, "batch pos d_model"]) -> Float[Tensor, "batch pos d_model"]:
        """The input of the sublayer, computed from the residual stream x."""
        return self.placement.sublayer_input(x, self.norm)

    def add(
        self,
        residual: Float[Tensor, "batch pos d_model"],
        sublayer_input: Float[Tensor, "batch pos d_model"],
        output: Float[Tensor, "batch pos d_model"],
    ) -> Float[Tensor, "batch pos d_model"]:
        """The residual stream after the sublayer, which read `sublayer_input` and returned `output`."""
        output = self.dropout(output) if self.training else output
        return self.placement.add(residual, sublayer_input, output, self.norm, self.output_norm)


class LaurelConnection(ResidualConnection):
    """A residual connection with a low-rank map parallel to the sublayer; the sum is divided by sqrt(2)."""

    def __init__(self, config: Config, has_norm: bool = True) -> None:
        super().__init__(config, has_norm)
        self.low_rank = LowRankMap(config)

    def add(
        self,
        residual: Float[Tensor, "batch pos d_model"],
        sublayer_input: Float[Tensor, "batch pos d_model"],
        output: Float[Tensor, "batch pos d_model"],
    ) -> Float[Tensor, "batch pos d_model"]:
        """(The residual stream after the sublayer + the low-rank map of the sublayer's input) / sqrt(2)."""
        return self.join(super().add(residual, sublayer_input, output), self.low_rank(sublayer_input))

    def join(self, x: Float[Tensor, "*shape d_model"], low_rank: Float[Tensor, "*shape d_model"]) -> Tensor:
        """The residual stream after the sublayer and the output of the low-rank map, as one stream."""
        return (x + low_rank) * 2**-0.5


@dataclass(frozen=True)
class BlockInputs:
    """The inputs of a block besides the residual stream; `token_vector` is each token's vector for this layer."""

    self_attention: AttentionInputs
    cross_attention: AttentionInputs | None
    token_vector: Float[Tensor, "#batch pos layer_channel"] | None


class Block(nn.Module):
    """Self-attention, cross-attention in a decoder with an encoder, and feed-forward, added to the residual stream.

    A block without a feed-forward network ("none") ends with its attention. If the model has layer embeddings, a block
    then adds each token's gated vector for its layer. With `residual.scale` it scales the residual stream at the end.
    """

    def __init__(self, config: Config, cross: bool, layer: int) -> None:
        super().__init__()
        own = config.for_layer(layer)
        self.parallel_residual = config.residual.parallel
        connection = LaurelConnection if config.residual.laurel_rank else ResidualConnection
        self.self_attention_residual = connection(config, has_norm=config.first_norm or layer > 0)
        self.self_attention = Attention(config, layer)
        self.cross_attention_residual = ResidualConnection(config) if cross else None
        # Distances between source and text are undefined, so cross-attention has no positional encoding.
        self.cross_attention = Attention(config, layer, memory_dim=config.memory_dim) if cross else None
        around = normed_around(own, layer)
        self.feed_forward_residual = ResidualConnection(around) if config.has_feed_forward else None
        self.feed_forward = make_feed_forward(own, layer)
        # Unlike the other sublayers it reads the residual stream unnormed, whatever the norm placement.
        ends_normed = own.replace(norm_placement="post-sublayer")
        has_embedding = config.layer_embedding.dim > 0
        self.layer_embedding_residual = ResidualConnection(ends_normed) if has_embedding else None
        self.layer_embedding = LayerEmbeddingGate(config) if has_embedding else None
        self.stream_scale = nn.Parameter(torch.ones(1)) if config.residual.scale else None

    def forward(
        self, x: Float[Tensor, "batch pos d_model"], inputs: BlockInputs, hook: Hook
    ) -> tuple[Float[Tensor, "batch pos d_model"], KeysAndValues]:
        """The residual stream after this block, and the keys and values of its self-attention."""
        block_input = x = hook("residual", x)
        connection = self.self_attention_residual
        h = connection.sublayer_input(x)
        output, keys_and_values = self.self_attention(h, inputs.self_attention, with_prefix(hook, "self"))
        x = hook("residual_after_self", connection.add(x, h, output))
        cross = inputs.cross_attention
        if self.cross_attention_residual is not None and self.cross_attention is not None and cross is not None:
            connection = self.cross_attention_residual
            h = connection.sublayer_input(x)
            output, _ = self.cross_attention(h, cross, with_prefix(hook, "cross"))
            x = hook("residual_after_cross", connection.add(x, h, output))
        if self.feed_forward_residual is not None and self.feed_forward is not None:
            connection = self.feed_forward_residual
            h = connection.sublayer_input(block_input if self.parallel_residual else x)
            output = self.feed_forward(h, with_prefix(hook, "feed_forward"))
            x = connection.add(x, h, output)
        if inputs.token_vector is not None:
            x = hook("residual_after_feed_forward", x)
            x = self.add_layer_embedding(x, x, inputs.token_vector, hook)
        return x if self.stream_scale is None else x * self.stream_scale, keys_and_values

    def add_layer_embedding(
        self,
        residual: Float[Tensor, "batch pos d_model"],
        x: Float[Tensor, "batch pos d_model"],
        token_vector: Float[Tensor, "#batch pos layer_channel"],
        hook: Hook,
    ) -> Float[Tensor, "batch pos d_model"]:
        """The residual stream plus each token's vector for this layer, gated by a function of x."""
        connection, gate = self.layer_embedding_residual, self.layer_embedding
        assert connection is not None and gate is not None
        h = connection.sublayer_input(x)
        return connection.add(residual, h, gate(h, token_vector, with_prefix(hook, "layer_embedding")))

    def keys_and_values(
        self, x: Float[Tensor, "batch pos d_model"], context: AttentionContext, hook: Hook
    ) -> KeysAndValues:
        """The keys and values of self-attention that later layers share, from the residual stream before this block."""
        h, self_hook = self.self_attention_residual.sublayer_input(hook("residual", x)), with_prefix(hook, "self")
        return self.self_attention.project(self_hook("input", h), AttentionInputs(context), self_hook)[1]


class AlternatingBlock(Block):
    """A block that predicts several residual streams, reads and writes one of them, and then corrects all."""

    def __init__(self, config: Config, cross: bool, layer: int) -> None:
        super().__init__(config, cross, layer)
        self.alternating_updates = AlternatingUpdates(config)

    def forward(
        self, x: Float[Tensor, "batch pos stream d_model"], inputs: BlockInputs, hook: Hook
    ) -> tuple[Float[Tensor, "batch pos stream d_model"], KeysAndValues]:
        """The residual streams after this block, and the keys and values of its self-attention.

        The hook point `residual` is the predicted active stream.
        """
        streams, updates = hook("residual_streams", x), self.alternating_updates
        predicted = updates.predict(streams)
        read = hook("residual", predicted[..., updates.active, :])
        inner_inputs = replace(inputs, token_vector=None)
        written, keys_and_values = super().forward(read, inner_inputs, HookAfter(hook, "residual"))
        written = hook("residual_after_feed_forward", written)
        streams = updates.correct(predicted, read, written)
        if inputs.token_vector is not None:
            active = updates.output(streams)
            added = self.add_layer_embedding(torch.zeros_like(active), active, inputs.token_vector, hook)
            streams = torch.cat((streams[..., :1, :], streams[..., 1:, :] + added[..., None, :]), dim=-2)
        return streams, keys_and_values


class Stack(nn.Module):
    """An encoder or a decoder: embeddings with positions, blocks, and the final norm."""

    def __init__(self, config: Config, name: str) -> None:
        super().__init__()
        self.name = name
        has_cross_attention = config.has_cross_attention and name == "decoder"
        projected_to = config.d_model if config.encoder.projected and name == "encoder" else 0
        self.config = config = config.for_stack(name)
        self.positional_encoding = POSITIONAL_ENCODINGS[config.positional_encoding](
            config, bidirectional=name == "encoder"
        )
        self.layer_positional_encodings = self._make_layer_positional_encodings(config)
        # Layers whose keys and values each layer reads (its own, unless shared), and those that later layers read.
        self.key_value_layers = tuple(config.key_value_layer(layer) for layer in range(config.layers))
        self.shared_layers = frozenset(read for layer, read in enumerate(self.key_value_layers) if read != layer)
        self.no_position = PositionalEncoding(config)
        projects_tokens, projects_sum = (config.embedding.projection == kind for kind in ("tokens", "all"))
        embedding_dim, d_model = config.embedding_dim, config.d_model
        self.token_project_in = Linear(embedding_dim, d_model, bias=False) if projects_tokens else nn.Identity()
        self.layer_embedding = LayerEmbedding(config) if config.layer_embedding.dim else None
        self.embedding_norm = make_norm(config, config.embedding_sum_dim) if config.embedding.norm else nn.Identity()
        self.project_in = Linear(embedding_dim, d_model) if projects_sum else nn.Identity()
        block = AlternatingBlock if config.has_several_streams else Block
        self.blocks = nn.ModuleList(block(config, has_cross_attention, layer) for layer in range(config.layers))
        # All layers of linear attention, and the first of those before each block and after the last.
        counts = config.recurrence.counts
        no_more = replace(config.recurrence, counts=())
        alike = config.replace(per_layer=PerLayerConfig(), recurrence=no_more) if counts else config
        self.recurrent_layers = nn.ModuleList(RecurrentLayer(alike) for _ in range(sum(counts)))
        self.first_recurrent = (0, *accumulate(counts)) if counts else (0,) * (config.layers + 2)
        self.residual_streams = ResidualStreams(config) if config.has_several_streams else None
        has_final_norm = config.final_norm and not NORM_PLACEMENTS[config.norm_placement].output_is_normed
        self.final_norm = make_norm(config, d_model) if has_final_norm else nn.Identity()
        self.project_out = Linear(d_model, embedding_dim, bias=False) if projects_tokens else nn.Identity()
        if projected_to:
            self.project_out = Linear(d_model, projected_to)
        self.dropout = nn.Dropout(config.dropout)

    def _make_layer_positional_encodings(self, config: Config) -> tuple[PositionalEncoding, ...]:
        """The positional encoding of each layer: the stack's own, unless layers differ."""

        def choice(each: Config) -> tuple[object, ...]:
            """The key of an encoding: its name, and the rotary settings if it rotates."""
            rotates = POSITIONAL_ENCODINGS[each.positional_encoding].rotate is not PositionalEncoding.rotate
            return each.positional_encoding, *((each.rope, each.head_dim) if rotates else ())

        own = [config.for_layer(layer) for layer in range(config.layers)]
        made = {choice(config): self.positional_encoding}
        for each in own:
            if choice(each) not in made:
                name = each.positional_encoding
                made[choice(each)] = POSITIONAL_ENCODINGS[name](each)
                if any(True for _ in made[choice(each)].parameters()):
                    raise ConfigError(f"The positional encoding {name!r} has weights; it cannot differ between layers.")
        return tuple(made[choice(each)].for_layer(layer) for layer, each in enumerate(own))

    def position_ids(self, indices: Int[Tensor, " pos"], hook: Hook) -> Shaped[Tensor, " pos"]:
        """The position ids for the positional encodings, after edits; integers unless one is fractional.

        Masks use the unedited indices. Raises EditError if an edit gives a token a position that an encoding does not
        have; a graph cannot branch on values, so whoever runs it checks the edit.
        """
        if hook_scope(hook, "position_ids") is HookScope.NONE:
            return indices
        unedited = indices[None].float()
        edited = hook("position_ids", unedited)
        if edited is unedited:
            return indices
        ids = edited[0]
        encodings = dict.fromkeys((self.positional_encoding, *self.layer_positional_encodings))
        if torch.compiler.is_compiling():
            return ids.long() if any(encoding.integer_only for encoding in encodings) else ids
        fractional = ids != ids.round()
        for encoding in encodings:
            first, last = encoding.position_range
            out_of_range = (ids < first) | (ids > last) | (fractional & encoding.integer_only)
            if bool(out_of_range.any()):
                token, kind = (
                    int(out_of_range.nonzero()[0]),
                    "integer positions" if encoding.integer_only else "positions",
                )
                raise EditError(
                    f"Token {token} cannot be at position {digits(ids[token], 6)}: the positional encoding "
                    f"{encoding.title} has {kind} from {first:,} to {last:,}."
                )
        return ids if bool(fractional.any()) else ids.long()

    def same_for_lengths(self, length: int, other_length: int) -> bool:
        """Whether every layer encodes positions in the same way in texts of both lengths (`PositionalEncoding`)."""
        encodings = {self.positional_encoding, *self.layer_positional_encodings}
        return all(encoding.same_for_lengths(length, other_length) for encoding in encodings)

    def attention_contexts(
        self,
        positions: QueryKeyPositions,
        extra_mask: Tensor | None,
        encoding_positions: QueryKeyPositions | None = None,
    ) -> list[AttentionContext]:
        """The attention context of each layer: its masks, padding, and `extra_mask`.

        `encoding_positions` are the positions given to the positional encodings, if they differ from those of the
        masks.
        """
        layer_masks = self.config.per_layer.masks or ("none",) * len(self.blocks)
        allowed = {
            mask: combine_masks((*self.config.masks, *parse_masks(mask), "padding"), positions)
            for mask in set(layer_masks)
        }
        has_all_queries = positions.queries.shape == positions.keys.shape
        full_text = extra_mask is None and positions.padding_mask is None and has_all_queries
        encoded = encoding_positions or positions
        rotations = {
            encoding: encoding.rotation(encoded.queries) for encoding in dict.fromkeys(self.layer_positional_encodings)
        }
        layers = list(zip(self.layer_positional_encodings, layer_masks, strict=True))
        contexts = {
            (encoding, mask): AttentionContext(
                encoding,
                encoded,
                allowed[mask] if extra_mask is None else allowed[mask] & extra_mask,
                is_causal=full_text and (*self.config.masks, *parse_masks(mask)) == ("causal",),
                rotation=rotations[encoding],
            )
            for encoding, mask in dict.fromkeys(layers)
        }
        return [contexts[layer] for layer in layers]

    def cross_attention_context(self, positions: QueryKeyPositions) -> AttentionContext:
        """The context of cross-attention: every source token is allowed, and there is no positional encoding."""
        return AttentionContext(self.no_position, positions, combine_masks(("padding",), positions))

    def forward(
        self,
        embedded: Float[Tensor, "batch pos embedding_dim"],
        padding_mask: Bool[Tensor, "batch key"] | None,
        mask: Bool[Tensor, "#batch #head pos key"] | None,
        memory: Float[Tensor, "batch source memory_dim"] | None,
        memory_padding_mask: Bool[Tensor, "batch source"] | None,
        hook: Hook,
        cache: KVCache | None,
        ids: Int[Tensor, "batch token_pos"] | None = None,
    ) -> Float[Tensor, "batch pos output_dim"]:
        """The residual stream after the last block and the final norm; layer embeddings need `ids`.

        Raises ConfigError for a `mask` in a model with layers of linear attention, which know none.
        """
        if mask is not None and self.recurrent_layers:
            raise ConfigError("This model has layers of linear attention, which no mask of a text limits; give none.")
        start, device = (cache.length if cache else 0), embedded.device
        keys = torch.arange(start + embedded.shape[1], device=device)
        queries, position_ids = keys[start:], self.position_ids(keys[start:], hook)
        contexts = self.attention_contexts(
            QueryKeyPositions(queries, keys, padding_mask),
            mask,
            QueryKeyPositions(position_ids, torch.cat((keys[:start], position_ids))),
        )
        cross_context = None
        if memory is not None:
            cross_context = self.cross_attention_context(
                QueryKeyPositions(queries, torch.arange(memory.shape[1], device=device), memory_padding_mask)
            )
        x, token_vectors = self.begin(embedded, position_ids, hook, ids, cache, padding_mask)
        return self.forward_from(
            x, 0, contexts, memory, cross_context, hook, cache, token_vectors, padding_mask=padding_mask
        )

    def begin(
        self,
        embedded: Float[Tensor, "batch pos embedding_dim"],
        position_ids: Shaped[Tensor, " pos"],
        hook: Hook,
        ids: Int[Tensor, "batch token_pos"] | None = None,
        cache: KVCache | None = None,
        padding_mask: Bool[Tensor, "batch key"] | None = None,
    ) -> tuple[Float[Tensor, "batch pos *stream d_model"], Float[Tensor, "batch pos layer layer_channel"] | None]:
        """The residual stream(s) before the first block, and the tokens' vectors for each layer, if any."""
        x = hook("embedding", self.token_project_in(embedded))
        token_vectors = None if self.layer_embedding is None else self.layer_embedding(ids, x)
        x = x + hook("position_embedding", self.positional_encoding.embed(position_ids)[None].to(embedded.dtype))
        begun: Tensor = self.dropout(self.project_in(self.embedding_norm(x)))
        begun = self.through_recurrence(0, begun, cache, padding_mask)
        return begun if self.residual_streams is None else self.residual_streams.split(begun), token_vectors

    def through_recurrence(
        self, before: int, x: Tensor, cache: KVCache | None, padding_mask: Bool[Tensor, "batch key"] | None
    ) -> Tensor:
        """The residual stream after the layers of linear attention that stand before a block (or after the last)."""
        is_token = None if padding_mask is None else padding_mask[:, -x.shape[1] :]
        for number in range(*self.first_recurrent[before : before + 2]):
            x = self.recurrent_layers[number](x, is_token, f"{self.name}.recurrent.{number}", cache)
        return x

    def forward_from(
        self,
        x: Float[Tensor, "batch pos *stream d_model"],
        first_layer: int,
        contexts: Sequence[AttentionContext],
        memory: Float[Tensor, "batch source memory_dim"] | None,
        cross_context: AttentionContext | None,
        hook: Hook,
        cache: KVCache | None = None,
        token_vectors: Float[Tensor, "#batch pos layer layer_channel"] | None = None,
        shared: Mapping[int, KeysAndValues] = MappingProxyType({}),
        padding_mask: Bool[Tensor, "batch key"] | None = None,
    ) -> Float[Tensor, "batch pos output_dim"]:
        """Run the blocks from `first_layer` on; `x` is the residual stream before it, `contexts` those of all layers.

        `token_vectors` come from `begin`; `shared` are the keys and values of earlier layers that these blocks read.
        """
        shared = dict(shared)
        for layer in range(first_layer, len(self.blocks)):
            path = f"{self.name}.{layer}"
            # Without an entry in `shared` the layer computes keys and values of its own.
            own = AttentionInputs(contexts[layer], None, cache, path, shared.get(self.key_value_layers[layer]))
            cross = None if cross_context is None else AttentionInputs(cross_context, memory, cache, path + CROSS)
            inputs = BlockInputs(own, cross, None if token_vectors is None else token_vectors[:, :, layer])
            x, keys_and_values = self.blocks[layer](x, inputs, with_prefix(hook, str(layer)))
            if layer in self.shared_layers:
                shared[layer] = keys_and_values
            x = self.through_recurrence(layer + 1, x, cache, padding_mask)
        x = x if self.residual_streams is None else self.residual_streams.merge(x)
        return hook("final_residual", self.project_out(self.final_norm(hook("residual", x))))
