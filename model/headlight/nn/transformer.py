"""The Transformer: embeddings, an encoder, a decoder or both, an output head; and variants with the same weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from headlight.array_types import Bool, Float, Int
from headlight.config import Config
from headlight.config.embedding import DROPPED_SHARE
from headlight.errors import EditError, ImageError, TextError
from headlight.nn.attention import Attention, KVCache
from headlight.nn.hooks import Hook, HookScope, hook_for_rows, hook_scope, no_hook, with_prefix
from headlight.nn.layers import Linear, PackedWeight, PatchEmbedding
from headlight.nn.masks import check_mask, parse_masks
from headlight.nn.output_heads import (
    OUTPUT_HEADS,
    POOLINGS,
    LanguageModelHead,
    MaskedLanguageModelHead,
    SequenceClassifier,
    pooling_names,
)
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS, PositionalEncoding
from headlight.nn.sound import SoundEmbedding
from headlight.nn.stack import Stack
from headlight.origin import Origin

ALL_POSITIONS = slice(None)
Signal = Float[Tensor, "batch channel *place"]  # pixels of images, or spectrograms or samples of sounds
MAX_PACKED = 1 << 27  # weights, which take 256 MB when packed
RANDOM_INITIALIZERS = ("normal_", "uniform_", "kaiming_uniform_")  # of torch.nn.init and of tensors


class Transformer(nn.Module):
    """A whole model. Raises ConfigError or UnknownNameError if its config names a part that does not exist."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        for mask in (*config.masks, *(mask for masks in config.per_layer.masks for mask in parse_masks(masks))):
            check_mask(mask)
        for pooling in pooling_names(config):
            POOLINGS.require(pooling)
        self.config = config
        self.new_parameters: tuple[str, ...] = ()
        self.origin: Origin | None = None  # of the weights, if they were read from files
        self.embedding = nn.Embedding(config.vocabulary_size, config.embedding_dim)
        self.segment_embedding = (
            nn.Embedding(config.embedding.segments, config.embedding_dim) if config.embedding.segments else None
        )
        encoder = config.for_stack(config.stacks[0])
        self.patch_embedding = PatchEmbedding(encoder) if config.reads_image else None
        self.sound_embedding = SoundEmbedding(config) if config.reads_sound else None
        has_own_table = config.own_encoder or (config.embedding.separate_encoder and config.has_cross_attention)
        table = (encoder.vocabulary_size, encoder.embedding_dim)
        self.source_embedding = nn.Embedding(*table) if has_own_table else None
        has_own_segments = config.own_encoder and encoder.embedding.segments
        segments = (encoder.embedding.segments, encoder.embedding_dim)
        self.source_segment_embedding = nn.Embedding(*segments) if has_own_segments else None
        for name in config.stacks:
            self.add_module(name, Stack(config, name))
        self.output_head = OUTPUT_HEADS[config.output_head](config)
        has_contact_head = config.output_head_config.contact_end_id is not None
        self.contact_head = nn.Linear(config.layers * config.heads, 1) if has_contact_head else None
        self.tie_embeddings()
        self._initialize_weights()

    def tie_embeddings(self) -> None:
        """Share the embedding with the output projection (again after load_state_dict(assign=True))."""
        if self.config.embedding.tied and isinstance(self.output_head, (LanguageModelHead, MaskedLanguageModelHead)):
            self.output_head.projection.weight = self.embedding.weight

    def _initialize_weights(self) -> None:
        """Normal with standard deviation 0.02, less in output projections of deep models (Radford et al. 2019, 2.3)."""
        if self.device.type == "meta":
            return  # the parameters have no memory, but drawing them would still take most of the time
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                writes_to_residual = name.endswith(("attention.output.weight", "down.weight"))
                layers = max(1, self.config.layers)
                nn.init.normal_(parameter, std=0.02 / (2 * layers) ** 0.5 if writes_to_residual else 0.02)
            elif name.endswith(".bias"):
                nn.init.zeros_(parameter)

    def pack_weights(self) -> None:
        """Also pack the weights of linear maps, for products without gradients (`PackedWeight`).

        Skips large models: packing takes ten seconds for a billion numbers.
        """
        linear_maps = self._linear_maps().values()
        if sum(linear.weight.numel() for linear in linear_maps) <= MAX_PACKED:
            for linear in linear_maps:
                linear.packed = PackedWeight.of(linear.weight, linear.bias)

    def unpack_weights(self) -> None:
        """Drop the packed weights, to free their memory."""
        for linear in self._linear_maps().values():
            linear.packed = None

    @property
    def packed_bytes(self) -> int:
        """The memory of the packed weights."""
        return sum(2 * linear.weight.numel() for linear in self._linear_maps().values() if linear.packed)

    def _linear_maps(self) -> dict[str, Linear]:
        return {name: module for name, module in self.named_modules() if isinstance(module, Linear)}

    def share_packed_weights(self, other: Transformer) -> None:
        """Reuse the packed weights of another model with the same weights."""
        theirs = other._linear_maps()
        for name, linear in self._linear_maps().items():
            packed = theirs[name].packed if name in theirs else None
            linear.packed = packed and packed.shared_by(linear.weight, linear.bias)

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.embedding.weight.device

    def stack(self, name: str) -> Stack:
        """The stack with this name, one of `config.stacks`."""
        found = self.get_submodule(name)
        assert isinstance(found, Stack)
        return found

    @property
    def signal_embedding(self) -> PatchEmbedding | SoundEmbedding | None:
        """The embedding of image patches or of sound frames."""
        return self.patch_embedding or self.sound_embedding

    def embed(
        self,
        ids: Int[Tensor, "batch token_pos"],
        signal: Signal | None = None,
        *,
        source: bool = False,
        padding_mask: Bool[Tensor, "batch pos"] | None = None,
        segment_ids: Int[Tensor, "#batch pos"] | None = None,
    ) -> Float[Tensor, "batch pos embedding_dim"]:
        """Token embeddings, followed by those of patches or frames; `source` uses the encoder's own table, if any.

        If there are segment embeddings, tokens belong to the first segment unless `segment_ids` name others.
        """
        options, segments = self.config.embedding, self.segment_embedding
        if source and self.config.own_encoder is not None:
            options, segments = self.config.own_encoder.embedding, self.source_segment_embedding
        table = self.source_embedding if source and self.source_embedding is not None else self.embedding
        embedded: Tensor = table(ids) * options.scale
        if options.dropped_token_id is not None:
            embedded = embedded * self._kept_tokens(ids, padding_mask, options.dropped_token_id)[..., None]
        if segments is not None:
            embedded = embedded + (segments.weight[0] if segment_ids is None else segments(segment_ids))
        if self.signal_embedding is None or signal is None:
            return embedded
        return torch.cat((embedded, self.signal_embedding(signal)), dim=1)

    def _kept_tokens(
        self, ids: Int[Tensor, "batch pos"], padding_mask: Bool[Tensor, "batch pos"] | None, dropped_token_id: int
    ) -> Float[Tensor, "batch pos"]:
        """The factor of each embedding: 0 for the dropped token and for padding, larger the more tokens are dropped."""
        tokens = torch.ones_like(ids, dtype=torch.bool) if padding_mask is None else padding_mask
        kept = tokens & (ids != dropped_token_id)
        share = kept.sum(-1, keepdim=True) / tokens.sum(-1, keepdim=True).clamp(min=1)
        return kept * (1 - DROPPED_SHARE) / share.clamp(min=torch.finfo(share.dtype).tiny)

    def encode(
        self,
        source: Int[Tensor, "batch source"],
        padding_mask: Bool[Tensor, "batch source"] | None = None,
        hook: Hook = no_hook,
        *,
        signal: Signal | None = None,
    ) -> Float[Tensor, "batch key memory_dim"]:
        """The encoder's output, which the decoder attends to (its memory).

        For an image or a sound it covers the tokens in `source`, usually none, and the patches or frames. If the config
        says so, the last step is a linear map to the width of the decoder.
        """
        embedded = self.embed(source, self._read_signal(signal, hook), source=True)
        self._check_length("source", embedded.shape[1], self.config.for_stack("encoder").context_length)
        memory: Tensor = self.stack("encoder")(
            embedded, padding_mask, None, None, None, with_prefix(hook, "encoder"), None
        )
        return memory

    def encode_hidden(
        self,
        ids: Int[Tensor, "batch token_pos"],
        *,
        signal: Signal | None = None,
        source: Int[Tensor, "batch source"] | None = None,
        memory: Float[Tensor, "batch source memory_dim"] | None = None,
        padding_mask: Bool[Tensor, "batch key"] | None = None,
        source_padding_mask: Bool[Tensor, "batch source"] | None = None,
        mask: Bool[Tensor, "#batch #head pos key"] | None = None,
        segment_ids: Int[Tensor, "#batch token_pos"] | None = None,
        hook: Hook = no_hook,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "batch pos d_model"]:
        """The residual stream after the final norm; an encoder-decoder needs `source`, or its `memory`.

        `signal` is the image or the sound of a model that reads one; its patches or frames follow the tokens (in an
        encoder-decoder the tokens of `source`, which is then optional). `padding_mask` is True at tokens, `mask`
        forbids cells in addition to the config's masks, `segment_ids` are the token types of a pair, `cache` contains
        the tokens before `ids`. Raises TextError if the text is longer than the context, ImageError if an image or a
        sound is missing or not supported.
        """
        signal_read = None if self.config.has_cross_attention else self._read_signal(signal, hook)
        embedded = self.embed(ids, signal_read, padding_mask=padding_mask, segment_ids=segment_ids)
        length = embedded.shape[1] + (cache.length if cache else 0)
        self._check_length("text", length, self.config.context_length)
        if self.config.has_cross_attention and memory is None:
            memory = self._encode_source(ids, source, signal, source_padding_mask, hook)
        name = self.config.stacks[-1]
        final: Tensor = self.stack(name)(
            embedded, padding_mask, mask, memory, source_padding_mask, with_prefix(hook, name), cache, ids
        )
        if cache:
            cache.length = length
        return final

    def _encode_source(
        self, ids: Tensor, source: Tensor | None, signal: Tensor | None, padding_mask: Tensor | None, hook: Hook
    ) -> Tensor:
        if source is None and signal is None:
            kinds = {"image": "an image", "sound": "a sound"}
            kind = kinds.get(self.config.modalities[-1], "a source text")
            raise TextError(f"This model is an encoder-decoder; give it {kind}.")
        if source is None:
            source = torch.arange(self.config.first_source_tokens, device=ids.device).expand(len(ids), -1)
        return self.encode(source, padding_mask, hook, signal=signal)

    def _read_signal(self, signal: Tensor | None, hook: Hook) -> Tensor | None:
        if (self.signal_embedding is None) != (signal is None):
            wanted = {"image": "This model reads an image.", "sound": "This model hears a sound."}
            raise ImageError(wanted.get(self.config.modalities[-1], "This model reads texts, not images."))
        return None if signal is None else hook("pixels" if self.config.reads_image else "sound", signal)

    def answerable(
        self, ids: Int[Tensor, "batch pos"], padding_mask: Bool[Tensor, "batch pos"] | None = None
    ) -> Bool[Tensor, "batch pos"] | None:
        """The tokens that a pooling output head may use: neither padding nor the config's `pad_token_id`."""
        pad_token_id = self.config.output_head_config.pad_token_id
        if pad_token_id is None:
            return padding_mask
        return ids != pad_token_id if padding_mask is None else padding_mask & (ids != pad_token_id)

    def _check_length(self, what: str, length: int, limit: int) -> None:
        if length > limit:
            raise TextError(f"The {what} has {length} tokens; this model reads at most {limit}. Shorten it.")

    def forward(
        self,
        ids: Int[Tensor, "batch token_pos"],
        *,
        signal: Signal | None = None,
        source: Int[Tensor, "batch source"] | None = None,
        padding_mask: Bool[Tensor, "batch key"] | None = None,
        source_padding_mask: Bool[Tensor, "batch source"] | None = None,
        mask: Bool[Tensor, "#batch #head pos key"] | None = None,
        segment_ids: Int[Tensor, "#batch token_pos"] | None = None,
        hook: Hook = no_hook,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "*shape token"] | None:
        """The output head's logits; None without an output head."""
        final = self.encode_hidden(
            ids,
            signal=signal,
            source=source,
            padding_mask=padding_mask,
            source_padding_mask=source_padding_mask,
            mask=mask,
            segment_ids=segment_ids,
            hook=hook,
            cache=cache,
        )
        return self.logits(final, self.answerable(ids, padding_mask), hook)

    def logits(
        self,
        final_residual: Float[Tensor, "batch pos embedding_dim"],
        answerable: Bool[Tensor, "batch pos"] | None = None,
        hook: Hook = no_hook,
        positions: slice = ALL_POSITIONS,
    ) -> Float[Tensor, "*shape token"] | None:
        """The output head applied to the residual stream after the final norm, at some positions or all.

        [batch pos token]; [batch label] of the whole text, whatever the positions, if a classifier pools the
        `answerable` tokens; None without an output head.
        """
        if isinstance(self.output_head, SequenceClassifier):
            return hook("logits", self.output_head(final_residual, answerable))
        if positions != ALL_POSITIONS and hook_scope(hook, "logits") is HookScope.ALL:
            logits = self.logits(final_residual, answerable, hook)
            return None if logits is None else logits[:, positions]
        logits = self.output_head(final_residual[:, positions])
        if logits is None:
            return None
        if positions == ALL_POSITIONS:
            return hook("logits", logits)
        start, length = positions.indices(final_residual.shape[1])[0], final_residual.shape[1]
        return hook_for_rows(hook, start, length)("logits", logits)


class _SkipRandomInit(TorchFunctionMode):
    """Skips random initialization, which has no effect on the meta device.

    Torch would load its compiler for it, which takes over a second in every process that opens a model.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        keywords = kwargs or {}
        if getattr(func, "__name__", "") in RANDOM_INITIALIZERS:
            return args[0] if args else keywords["tensor"]
        return func(*args, **keywords)


def meta_model(config: Config) -> Transformer:
    """A model on the meta device, without memory for its parameters. Raises RuntimeError for sizes that overflow."""
    with torch.device("meta"), _SkipRandomInit():
        return Transformer(config)


def attention_at(model: Transformer, path: str) -> tuple[Attention, PositionalEncoding]:
    """The attention at a path like `decoder.3.self`, and its positional encoding. Raises EditError if none exists."""
    name, layer, kind = path.split(".") if path.count(".") == 2 else ("", "", "")
    stack = model.stack(name) if name in model.config.stacks else None
    layer_exists = stack is not None and layer.isdecimal() and len(layer) < 6 and int(layer) < len(stack.blocks)
    attention = (
        getattr(stack.blocks[int(layer)], f"{kind}_attention", None) if stack is not None and layer_exists else None
    )
    if stack is None or not isinstance(attention, Attention):
        raise EditError(f"This model has no attention {path!r}; a path reads STACK.LAYER.KIND, as in decoder.0.self.")
    return attention, stack.layer_positional_encodings[int(layer)] if kind == "self" else stack.no_position


_OF_EVERY_STACK = ("positional_encoding", "attention_function", "attention.scale")  # parts that no stack has alone


def variant(
    model: Transformer,
    *,
    positional_encoding: str | None = None,
    attention_function: str | None = None,
    masks: str | Sequence[str] | None = None,
    scale: bool | None = None,
    pooling: str | None = None,
) -> Transformer:
    """The same weights, shared and not copied, with the given parts replaced.

    `masks` may be in text form, `causal+window:8`; `pooling` only matters to classifiers of whole texts. New parameters
    (a learned table, a T5 bias) are zero and in `new_parameters`. Raises ConfigError or UnknownNameError for a part
    that does not exist.
    """
    if masks is not None:
        masks = parse_masks(masks) if isinstance(masks, str) else tuple(masks)
    requested = {
        "positional_encoding": positional_encoding,
        "attention_function": attention_function,
        "masks": masks,
        "attention.scale": scale,
        "pooling": pooling,
    }
    current = model.config
    changes: dict[str, Any] = {
        name: choice for name, choice in requested.items() if choice is not None and choice != attrgetter(name)(current)
    }
    if "masks" in changes:
        changes["per_layer"] = replace(current.per_layer, masks=())
    if "positional_encoding" in changes:
        changes["per_layer"] = replace(changes.get("per_layer", current.per_layer), positional_encodings=(), ropes=())
    if current.own_encoder is not None:
        own = current.own_encoder
        of_encoder = {name: changes[name] for name in _OF_EVERY_STACK if name in changes}
        if "positional_encoding" in of_encoder:
            of_encoder["per_layer"] = replace(own.per_layer, positional_encodings=(), ropes=())
        changes["own_encoder"] = own.replace(**of_encoder)
    config = current.replace(**changes)
    return model if config == current else _with_config(model, config)


def with_context_length(model: Transformer, context_length: int) -> Transformer:
    """The same weights, shared, for texts of another length; a new table of learned positions is zero."""
    return _with_config(model, model.config.replace(context_length=context_length))


def describe_missing_weights(model: Transformer) -> str:
    """Why the positional encoding of a variant has no effect, and what it would need; empty if it has an effect."""
    name = model.config.positional_encoding
    encoding = POSITIONAL_ENCODINGS[name]
    if not encoding.learned_weights or not model.new_parameters:
        return ""
    return (
        f"{encoding.title}: these positions need weights learned in training, {encoding.learned_weights}. "
        "This model has none: they are zero, so all numbers equal those without positional encoding. "
        f'It would take a model trained with positional_encoding = "{name}".'
    )


def _with_config(model: Transformer, config: Config) -> Transformer:
    """A model with another config that shares the weights of `model`; missing weights are zero."""
    rewired = meta_model(config)
    source_state, shapes = model.state_dict(), {name: weight.shape for name, weight in rewired.state_dict().items()}
    # Two encodings may use the same name for different tables: a table is only shared if its shape is equal.
    weights = {
        name: source_state[name]
        for name, shape in shapes.items()
        if name in source_state and source_state[name].shape == shape
    }
    missing = tuple(name for name in shapes if name not in weights)
    zeros = {
        name: torch.zeros(shapes[name], dtype=model.embedding.weight.dtype, device=model.device) for name in missing
    }
    rewired.load_state_dict({**weights, **zeros}, assign=True)
    rewired.tie_embeddings()
    rewired.share_packed_weights(model)
    rewired.origin = model.origin
    rewired.new_parameters = missing + tuple(name for name in model.new_parameters if name in weights)
    return rewired.requires_grad_(False).train(model.training)
