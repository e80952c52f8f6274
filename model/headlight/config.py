"""Config: the sizes of a model and the names of its interchangeable parts."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from math import inf
from typing import Any, Literal

from headlight.config_groups import (
    AlibiConfig,
    AlternatingUpdatesConfig,
    EmbeddingConfig,
    ExpertsConfig,
    ImageConfig,
    LatentConfig,
    LayerEmbeddingConfig,
    OutputHeadConfig,
    PerLayerConfig,
    RelativePositionConfig,
    RopeConfig,
    SinusoidalConfig,
    SoundConfig,
)
from headlight.errors import ConfigError
from headlight.validation import check_choices, from_plain

BiasedModule = Literal["query", "key", "value", "output", "latent", "gate", "up", "down", "norm", "transform"]
Modality = Literal["text", "image", "sound"]
LARGEST_LIMIT = 1e30  # for float32, whose largest number is below 3.5e38
# The fields of a Config that may differ from layer to layer, with their names in PerLayerConfig.
_OF_EACH_LAYER = {
    "positional_encoding": "positional_encodings", "rope": "ropes", "head_dim": "head_dims",
    "value_head_dim": "head_dims", "key_value_heads": "key_value_heads", "d_ff": "d_ffs",
    "activation_sparsity": "activation_sparsities", "keys_as_values": "keys_as_values",
}  # fmt: skip
# Layers that share keys and values must agree on these.
_SHARED = ("positional_encoding", "rope", "head_dim", "value_head_dim", "key_value_heads")
# Maximum sizes, far above any real model: a hostile file can neither overflow a product nor cause an endless loop.
_MAX_SIZES = {
    **dict.fromkeys(("vocabulary_size", "context_length"), 2**31),
    **dict.fromkeys(("layers", "encoder_layers"), 2**10),
    **dict.fromkeys(("d_model", "heads", "encoder_heads", "key_value_heads", "laurel_rank"), 2**20),
    **dict.fromkeys(("head_dim", "value_head_dim", "d_ff", "encoder_d_ff"), 2**20),
}
_MAY_BE_NONE = ("layers", "encoder_layers", "encoder_heads", "encoder_d_ff", "laurel_rank")


@dataclass(frozen=True, kw_only=True)
class Config:
    """The settings of a Transformer; names are keys of the registries in `headlight.nn`.

    Sizes are counts (of tokens, channels, layers, heads). A size of 0 is filled in from the others: `key_value_heads`
    = heads, `head_dim` = d_model / heads, `value_head_dim` = head_dim, `d_ff` = 4 d_model, and the encoder's sizes are
    the decoder's. `masks` are written as in `nn.masks`. `score_soft_cap` limits scores smoothly, `qkv_limit` clips each
    number of queries, keys and values (0: no limit). With `attention_sinks` each head has a sink that takes a share of
    every row and belongs to no token. `value_norm`: whether the values of each head are divided by their root mean
    square; with `keys_as_values` the key projection also makes the values (Gemma 4). `parallel_residual`: attention and
    feed-forward of a block read the same input (GPT-J). `embedding_norm`: a norm of the embeddings before the first
    block; `stream_scale`: whether the residual stream after each block is multiplied by a learned number (Gemma 4);
    `first_norm`: whether the first block has a norm before its attention (ModernBERT: false). `laurel_rank` is the rank
    of a linear map in parallel to each self-attention (LAuReL; 0: none), `activation_sparsity` the share of
    feed-forward neurons that are set to 0. `bias` gives every linear map and norm a bias, `biases` only some.
    `start_token_id` is the decoder's first token in an encoder-decoder. With an `image` the sequence is the class token
    followed by the patches; in an encoder-decoder the encoder reads only the patches, and the decoder a text. A `sound`
    is read in the same way, as frames. `prompt_token_ids` follow the start token if the decoder's text has no special
    tokens of its own at the start; `alignment_heads` lists the cross-attention heads (layer, head) that follow the
    source from token to token, according to the checkpoint. With a `contact_end_id`, the token that ends a protein, a
    contact head reads the weights of all heads. Raises ConfigError for sizes that do not fit together.
    """

    architecture: Literal["decoder", "encoder", "encoder-decoder"] = "decoder"
    vocabulary_size: int
    context_length: int
    d_model: int
    layers: int
    encoder_layers: int = 0
    heads: int
    encoder_heads: int = 0
    key_value_heads: int = 0
    head_dim: int = 0
    value_head_dim: int = 0
    d_ff: int = 0
    encoder_d_ff: int = 0
    embedding: EmbeddingConfig = EmbeddingConfig()
    layer_embedding: LayerEmbeddingConfig = LayerEmbeddingConfig()
    image: ImageConfig = ImageConfig()
    sound: SoundConfig = SoundConfig()
    positional_encoding: str = "rope"
    rope: RopeConfig = RopeConfig()
    sinusoidal: SinusoidalConfig = SinusoidalConfig()
    relative_position: RelativePositionConfig = RelativePositionConfig()
    alibi: AlibiConfig = AlibiConfig()
    attention_function: str = "softmax"
    masks: tuple[str, ...] = ("causal",)
    scale: bool = True
    score_soft_cap: float = 0.0
    qkv_limit: float = 0.0
    attention_sinks: bool = False
    latent: LatentConfig = LatentConfig()
    qk_norm: str = "none"
    value_norm: bool = False
    keys_as_values: bool = False
    per_layer: PerLayerConfig = PerLayerConfig()
    norm: str = "rmsnorm"
    norm_epsilon: float = 1e-5
    norm_placement: str = "pre"
    parallel_residual: bool = False
    stream_scale: bool = False
    alternating_updates: AlternatingUpdatesConfig = AlternatingUpdatesConfig()
    laurel_rank: int = 0
    embedding_norm: bool = False
    first_norm: bool = True
    final_norm: bool = True
    feed_forward: str = "swiglu"
    activation_sparsity: float = 0.0
    experts: ExpertsConfig = ExpertsConfig()
    bias: bool = False
    biases: tuple[BiasedModule, ...] = ()
    output_head: str = "language-model"
    output_head_config: OutputHeadConfig = OutputHeadConfig()
    tied_embeddings: bool = True
    labels: tuple[str, ...] = ()
    start_token_id: int = 0
    prompt_token_ids: tuple[int, ...] = ()
    alignment_heads: tuple[tuple[int, int], ...] = ()
    pooling: str = "first"
    contact_end_id: int | None = None
    dropout: float = 0.0

    def __post_init__(self) -> None:
        self._fill_in()
        self._check()
        self._check_layers()
        if self.image != ImageConfig():
            self.image.check()
        if self.sound != SoundConfig():
            self.sound.check(self.d_model)
        for layer, head in self.alignment_heads:
            if not (0 <= layer < self.layers and 0 <= head < self.heads):
                raise ConfigError(f"alignment_heads has head {head} of layer {layer}, which this model does not have.")
        self.experts.check()
        self.latent.check(self.head_dim)

    def _fill_in(self) -> None:
        def fill(name: str, size: int) -> None:
            if getattr(self, name) == 0:
                object.__setattr__(self, name, size)

        for name in ("masks", "labels", "biases", "prompt_token_ids"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name, largest in _MAX_SIZES.items():
            size = getattr(self, name)
            if type(size) is not int or not 0 <= size <= largest:
                raise ConfigError(f"{name} is {size!r}; it must be a whole number, at most {largest:,}.")
        if self.heads < 1:
            raise ConfigError(f"heads is {self.heads}; a model needs at least one.")
        if self.head_dim == 0 and self.d_model % self.heads:
            raise ConfigError(
                f"d_model {self.d_model} does not divide into {self.heads} heads; "
                "give head_dim, or a d_model that is a multiple of heads."
            )
        fill("key_value_heads", self.heads)
        fill("head_dim", self.d_model // self.heads)
        fill("value_head_dim", self.head_dim)
        fill("d_ff", 4 * self.d_model)
        if self.architecture == "encoder-decoder":
            fill("encoder_layers", self.layers)

    def _check(self) -> None:
        check_choices(Config, vars(self), ConfigError)
        for name in _MAX_SIZES:
            if getattr(self, name) < 1 and name not in _MAY_BE_NONE:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least 1.")
        if self.heads % self.key_value_heads:
            raise ConfigError(
                f"{self.heads} heads cannot share {self.key_value_heads} key/value heads evenly; "
                "key_value_heads must divide heads."
            )
        rotary_dim = self.rope.rotary_dim
        if rotary_dim + rotary_dim % 2 > self.head_dim:
            raise ConfigError(f"rope.rotary_dim is {rotary_dim}, but a head has only {self.head_dim} channels.")
        pairs, rope = ((rotary_dim or self.head_dim // 2 * 2) + 1) // 2, self.rope
        factors = {len(rope.short_factor), len(rope.long_factor)}
        if rope.scaling == "longrope" and self.positional_encoding == "rope" and factors != {pairs}:
            raise ConfigError(f"rope has {max(factors)} factors for {pairs} rotated pairs of channels.")
        if self.keys_as_values and (self.latent != LatentConfig() or self.value_head_dim != self.head_dim):
            raise ConfigError("keys_as_values needs values of as many channels as keys, and none that are compressed.")
        self._check_numbers()
        if not 0 <= self.start_token_id < self.vocabulary_size:
            raise ConfigError(
                f"start_token_id is {self.start_token_id}; it must be in the vocabulary of {self.vocabulary_size}."
            )

    def _check_numbers(self) -> None:
        if not 0.0 <= self.dropout < 1.0:
            raise ConfigError(f"dropout is {self.dropout}; it must be at least 0 and below 1.")
        if not 0.0 <= self.norm_epsilon < inf:
            raise ConfigError(f"norm_epsilon is {self.norm_epsilon}; it must be a number that is not negative.")
        if not 0.0 < self.rope.theta < inf:
            raise ConfigError(f"rope.theta is {self.rope.theta}; it must be a number above 0.")
        if not 0.0 <= self.rope.rotated_share <= 1.0:
            raise ConfigError(f"rope.rotated_share is {self.rope.rotated_share}; it must be from 0 to 1.")
        if not 0.0 <= self.activation_sparsity < 1.0 or (self.activation_sparsity and self.experts.count):
            raise ConfigError(
                f"activation_sparsity is {self.activation_sparsity}; it is from 0 to below 1, and 0 where experts are."
            )
        for name in ("score_soft_cap", "qkv_limit"):
            if not 0.0 <= getattr(self, name) <= LARGEST_LIMIT:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be from 0 (no limit) to 1e30.")

    def _check_layers(self) -> None:
        for field in fields(self.per_layer):
            entries = getattr(self.per_layer, field.name)
            if entries and len(entries) != self.layers:
                raise ConfigError(f"per_layer.{field.name} has {len(entries)} entries for {self.layers} layers.")
        givers, own = self.per_layer.key_value_layers, self._of_layers or (self,) * self.layers
        for layer, giver in enumerate(givers):
            if not 0 <= giver <= layer or givers[giver] != giver:
                raise ConfigError(
                    f"per_layer.key_value_layers has {giver} for layer {layer}; it must be {layer}, or an earlier "
                    "layer that reads its own."
                )
            if any(getattr(own[layer], name) != getattr(own[giver], name) for name in _SHARED):
                raise ConfigError(f"Layer {layer} cannot read the keys of layer {giver}, which have another form.")
        self.layer_embedding.check()
        self.alternating_updates.check()
        is_unusual = self.layer_embedding.dim or self.per_layer.key_value_layers or self.has_several_streams
        if is_unusual and (self.has_cross_attention or self.reads_signal or self.latent != LatentConfig()):
            raise ConfigError(
                "layer_embedding, alternating_updates and per_layer.key_value_layers are for a model that reads one "
                "text, and whose keys and values are not compressed."
            )

    @property
    def stacks(self) -> tuple[str, ...]:
        """The stacks of this architecture, in the order in which they run."""
        return ("encoder", "decoder") if self.architecture == "encoder-decoder" else (self.architecture,)

    @property
    def has_cross_attention(self) -> bool:
        """Whether the decoder has cross-attention."""
        return self.architecture == "encoder-decoder"

    @property
    def reads_image(self) -> bool:
        """Whether the encoder, or the only stack, reads an image."""
        return self.image.channels > 0

    @property
    def reads_sound(self) -> bool:
        """Whether the encoder, or the only stack, reads a sound."""
        return self.sound.rate > 0

    @property
    def reads_signal(self) -> bool:
        """Whether the encoder, or the only stack, reads an image or a sound."""
        return self.reads_image or self.reads_sound

    @property
    def reads_text(self) -> bool:
        """Whether the stack with the output head reads a text; always true for the decoder of an encoder-decoder."""
        return "text" in self.modalities

    @property
    def reads_source_text(self) -> bool:
        """Whether the encoder of an encoder-decoder reads a text."""
        return self.has_cross_attention and not self.reads_signal

    @property
    def predicts_from_image(self) -> bool:
        """Whether the stack with the output head reads an image instead of a text."""
        return self.reads_image and not self.has_cross_attention

    @property
    def predicts_from_sound(self) -> bool:
        """Whether the stack with the output head reads a sound instead of a text."""
        return self.reads_sound and not self.has_cross_attention

    @property
    def modalities(self) -> tuple[Modality, ...]:
        """The inputs of the model: a text, an image, a sound, or a text and one of these."""
        if not self.reads_signal:
            return ("text",)
        signal: Modality = "image" if self.reads_image else "sound"
        return ("text", signal) if self.has_cross_attention else (signal,)

    @property
    def has_feed_forward(self) -> bool:
        """Whether blocks have a feed-forward network besides attention."""
        return self.feed_forward != "none"

    @property
    def has_several_streams(self) -> bool:
        """Whether several residual streams run side by side."""
        return self.alternating_updates.streams > 1

    @property
    def only_adds_sublayers(self) -> bool:
        """Whether each block only adds attentions and a feed-forward, with their norms, to one residual stream."""
        more = self.layer_embedding.dim or self.stream_scale or self.laurel_rank
        return not (more or self.has_several_streams)

    @property
    def token_sublayers(self) -> tuple[str, ...]:
        """The sublayers of a block that process each token separately, in the order in which they run."""
        has = {"feed_forward": self.has_feed_forward, "layer_embedding": self.layer_embedding.dim > 0}
        return tuple(name for name, is_there in has.items() if is_there)

    @property
    def embedding_dim(self) -> int:
        """Size of a token embedding."""
        return self.embedding.dim or self.d_model

    @property
    def embedding_sum_dim(self) -> int:
        """Size of the sum of token and position embeddings."""
        return self.embedding_dim if self.embedding.projection == "all" else self.d_model

    def has_bias(self, module: BiasedModule) -> bool:
        """Whether a linear map or norm has a bias."""
        return self.bias or module in self.biases

    def for_stack(self, stack: str) -> Config:
        """The config of one stack. The encoder of an encoder-decoder has no masks, and may have its own sizes."""
        if not (self.has_cross_attention and stack == "encoder"):
            return self
        encoder_heads: dict[str, int] = {}
        if self.encoder_heads not in (0, self.heads):
            encoder_heads = {"heads": self.encoder_heads, "key_value_heads": 0, "head_dim": 0, "value_head_dim": 0}
        return self.replace(
            layers=self.encoder_layers,
            d_ff=self.encoder_d_ff or self.d_ff,
            context_length=self.sound.frames or self.context_length,
            masks=(),
            per_layer=PerLayerConfig(),
            alignment_heads=(),
            **encoder_heads,
        )

    def for_layer(self, layer: int) -> Config:
        """The config of one layer, which may have its own sizes, positional encoding and rope."""
        return self._of_layers[layer] if self._of_layers else self

    @cached_property
    def _of_layers(self) -> tuple[Config, ...]:
        """The config of each layer, one object for equal layers; empty if no layer differs from the model."""
        entries = {name: getattr(self.per_layer, of_layers) for name, of_layers in _OF_EACH_LAYER.items()}
        own = {name: of_layers for name, of_layers in entries.items() if of_layers}
        kinds = list(zip(*own.values(), strict=True))
        made = {
            kind: self.replace(per_layer=PerLayerConfig(), **dict(zip(own, kind, strict=True)))
            for kind in dict.fromkeys(kinds)
        }
        return tuple(made[kind] for kind in kinds)

    def key_value_layer(self, layer: int) -> int:
        """The layer whose keys and values a layer reads: usually its own."""
        return self.per_layer.key_value_layers[layer] if self.per_layer.key_value_layers else layer

    def key_value_path(self, path: str) -> str:
        """The attention whose keys and values the one at `path` (`decoder.3.self`) reads: usually itself."""
        stack, layer, kind = path.split(".")
        giver = self.for_stack(stack).key_value_layer(int(layer)) if kind == "self" else layer
        return f"{stack}.{giver}.{kind}"

    def for_path(self, path: str) -> Config:
        """The config of the layer, or else of the stack, that a value's path (`decoder.3.self.q`) belongs to."""
        stack, _, rest = path.partition(".")
        own, layer = self.for_stack(stack), rest.partition(".")[0]
        return own.for_layer(int(layer)) if layer.isdecimal() and int(layer) < own.layers else own

    def num_layers(self, stack: str) -> int:
        """The number of layers of `stack`."""
        return self.encoder_layers if self.has_cross_attention and stack == "encoder" else self.layers

    def replace(self, **changes: Any) -> Config:
        """The same config with some fields replaced, checked again."""
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """The config as plain JSON values; the inverse of `from_dict`."""
        plain: dict[str, Any] = _tuples_to_lists(asdict(self))
        return plain

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Config:
        """A config from plain JSON values. Raises ConfigError for unknown, missing or mistyped fields."""
        return from_plain(cls, values, "config", ConfigError)


def _tuples_to_lists(value: Any) -> Any:
    """Converts tuples to lists at all depths, as in JSON."""
    if isinstance(value, dict):
        return {name: _tuples_to_lists(item) for name, item in value.items()}
    return [_tuples_to_lists(item) for item in value] if isinstance(value, tuple) else value
