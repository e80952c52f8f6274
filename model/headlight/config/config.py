"""Config: the sizes of a model and the names of its interchangeable parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import inf
from typing import Any, Literal

from headlight.config.attention import AttentionConfig, LatentConfig
from headlight.config.bounds import MAX_LAYERS, MAX_TOKENS, MAX_WIDTH, check_sizes
from headlight.config.embedding import EmbeddingConfig, LayerEmbeddingConfig
from headlight.config.experts import ExpertsConfig
from headlight.config.flat_names import in_groups
from headlight.config.generation import GenerationConfig
from headlight.config.image import ImageConfig
from headlight.config.output import OutputHeadConfig
from headlight.config.positions import AlibiConfig, RelativePositionConfig, RopeConfig, SinusoidalConfig
from headlight.config.residual import ResidualConfig
from headlight.config.sound import SoundConfig
from headlight.config.stacks import DecoderConfig, EncoderConfig, PerLayerConfig, RecurrenceConfig
from headlight.errors import ConfigError
from headlight.validation import check_choices, from_plain

BiasedModule = Literal["query", "key", "value", "output", "latent", "gate", "up", "down", "norm", "transform"]
Modality = Literal["text", "image", "sound"]
# The fields of a Config that may differ from layer to layer, with their names in PerLayerConfig.
_OF_EACH_LAYER = {
    "positional_encoding": "positional_encodings", "rope": "ropes", "head_dim": "head_dims",
    "value_head_dim": "head_dims", "key_value_heads": "key_value_heads", "d_ff": "d_ffs",
    "activation_sparsity": "activation_sparsities", "attention.keys_as_values": "keys_as_values",
    "attention.qk_norm": "qk_norms",
}  # fmt: skip
_PAIR = ("encoder-decoder", "encoder")  # architectures of a model with an encoder of its own, and of that encoder
# Layers that share keys and values must agree on these.
_SHARED = ("positional_encoding", "rope", "head_dim", "value_head_dim", "key_value_heads")
_MAX_SIZES = {
    "vocabulary_size": MAX_TOKENS, "context_length": MAX_TOKENS, "layers": MAX_LAYERS, "d_model": MAX_WIDTH,
    "heads": MAX_WIDTH, "key_value_heads": MAX_WIDTH, "head_dim": MAX_WIDTH, "value_head_dim": MAX_WIDTH,
    "d_ff": MAX_WIDTH,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Config:
    """The settings of a Transformer; names are keys of the registries in `headlight.nn`.

    Raises ConfigError for sizes that do not fit together.
    """

    # Sizes: counts of tokens, channels, layers and heads
    architecture: Literal["decoder", "encoder", "encoder-decoder"] = "decoder"
    vocabulary_size: int
    context_length: int  # the most tokens of a text
    d_model: int  # channels of the residual stream
    layers: int  # of an encoder-decoder, the decoder's
    heads: int  # heads of queries in each attention
    key_value_heads: int = 0  # groups of heads that share keys and values (Ainslie et al. 2023); 0: heads
    head_dim: int = 0  # channels of a head's queries and keys; 0: d_model / heads
    value_head_dim: int = 0  # channels of a head's values; 0: head_dim
    d_ff: int = 0  # neurons of the feed-forward network; 0: 4 d_model
    encoder: EncoderConfig = EncoderConfig()  # sizes of the encoder of an encoder-decoder
    own_encoder: Config | None = None  # all settings but its image, of an encoder that was a model of its own
    decoder: DecoderConfig = DecoderConfig()  # start and alignment of the decoder of an encoder-decoder
    per_layer: PerLayerConfig = PerLayerConfig()  # what differs between layers
    recurrence: RecurrenceConfig = RecurrenceConfig()  # further layers, which have no attention weights

    # Inputs. An encoder, or the encoder of an encoder-decoder, may read an image or a sound instead of a text.
    embedding: EmbeddingConfig = EmbeddingConfig()  # of tokens
    layer_embedding: LayerEmbeddingConfig = LayerEmbeddingConfig()  # of tokens, one for each layer (Gemma 3n)
    image: ImageConfig = ImageConfig()  # its patches, after a class token if a whole model has one (or `own_encoder`)
    sound: SoundConfig = SoundConfig()  # frames

    # Positions
    positional_encoding: str = "rope"  # key of POSITIONAL_ENCODINGS
    rope: RopeConfig = RopeConfig()  # options of rotary positions
    sinusoidal: SinusoidalConfig = SinusoidalConfig()  # of "sinusoidal-halves"
    relative_position: RelativePositionConfig = RelativePositionConfig()  # of relative and disentangled positions
    alibi: AlibiConfig = AlibiConfig()  # of ALiBi

    # Attention
    attention_function: str = "softmax"  # key of ATTENTION_FUNCTIONS: how scores become weights
    masks: tuple[str, ...] = ("causal",)  # of self-attention, except in the encoder of an encoder-decoder: "window:8"
    attention: AttentionConfig = AttentionConfig()  # scale, limits, sinks, latent vectors, norms

    # Residual stream and norms
    residual: ResidualConfig = ResidualConfig()  # what it has besides one sum after each sublayer
    norm: str = "rmsnorm"  # key of NORMS
    norm_epsilon: float = 1e-5  # added to the variance, or the mean square
    norm_placement: str = "pre"  # key of NORM_PLACEMENTS: before a sublayer, after it, both, or none
    first_norm: bool = True  # the first block has a norm before its attention (ModernBERT: false)
    final_norm: bool = True  # a norm after the last block, unless the norm placement already ends with one

    # Feed-forward network and biases
    feed_forward: str = "swiglu"  # key of FEED_FORWARDS
    activation_sparsity: float = 0.0  # about this share of neurons is set to 0 (Gemma 3n)
    experts: ExpertsConfig = ExpertsConfig()  # a mixture of experts instead
    bias: bool = False  # every kind of module in BiasedModule has a bias (an RMSNorm never has one)
    biases: tuple[BiasedModule, ...] = ()  # the kinds that have one if `bias` is false
    dropout: float = 0.0  # probability, in training

    # Output
    output_head: str = "language-model"  # key of OUTPUT_HEADS
    output_head_config: OutputHeadConfig = OutputHeadConfig()  # its options
    pooling: str = "first"  # key of POOLINGS: how a classifier of whole texts pools its tokens
    labels: tuple[str, ...] = ()  # of a classifier, in the order of its logits
    generation: GenerationConfig = GenerationConfig()  # when a text ends, and which tokens may follow

    def __post_init__(self) -> None:
        self._fill_in()
        self._check()
        self._check_numbers()
        self._check_layers()

    def _fill_in(self) -> None:
        def fill(name: str, size: int) -> None:
            if getattr(self, name) == 0:
                object.__setattr__(self, name, size)

        for name in ("masks", "labels", "biases"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        check_sizes(self, _MAX_SIZES)
        self.encoder.check()
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
        if own := self.own_encoder:
            same = replace(self.encoder, layers=own.layers, heads=own.heads, d_ff=own.d_ff)
            object.__setattr__(self, "encoder", same)
        elif self.architecture == "encoder-decoder" and self.encoder.layers == 0:
            object.__setattr__(self, "encoder", replace(self.encoder, layers=self.layers))

    def _check(self) -> None:
        check_choices(Config, vars(self), ConfigError)
        for name in _MAX_SIZES:
            if getattr(self, name) < 1 and name != "layers":
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least 1.")
        if self.heads % self.key_value_heads:
            raise ConfigError(
                f"{self.heads} heads cannot share {self.key_value_heads} key/value heads evenly; "
                "key_value_heads must divide heads."
            )
        self.rope.check(self.head_dim)
        if self.positional_encoding == "rope":
            self.rope.check_scaling(self.head_dim)
        self.attention.check(self.head_dim, self.value_head_dim)
        self.decoder.check(self.vocabulary_size, self.layers, self.heads)
        self.layer_embedding.check()
        self.residual.check()
        self.experts.check()
        if self.own_encoder is not None and (self.architecture, self.own_encoder.architecture) != _PAIR:
            raise ConfigError("own_encoder is an encoder, the whole an encoder-decoder.")
        if self.generation != GenerationConfig():
            self.generation.check(self.vocabulary_size)
        if self.image != ImageConfig():
            self.image.check()
        if self.sound != SoundConfig():
            self.sound.check(self.d_model)

    def _check_numbers(self) -> None:
        if not 0.0 <= self.dropout < 1.0:
            raise ConfigError(f"dropout is {self.dropout}; it must be at least 0 and below 1.")
        if not 0.0 <= self.norm_epsilon < inf:
            raise ConfigError(f"norm_epsilon is {self.norm_epsilon}; it must be a number that is not negative.")
        if not 0.0 <= self.activation_sparsity < 1.0 or (self.activation_sparsity and self.experts.count):
            raise ConfigError(
                f"activation_sparsity is {self.activation_sparsity}; it is from 0 to below 1, and 0 where experts are."
            )

    def _check_layers(self) -> None:
        self.per_layer.check(self.layers)
        if self.has_recurrence:
            self.recurrence.check(self.layers)
            if self.architecture != "decoder" or self.has_several_streams:
                raise ConfigError("recurrence.counts is for a decoder of one residual stream.")
        if self.experts.own_norms and self.norm_placement not in ("sandwich", "post-sublayer"):
            raise ConfigError(
                f"norm_placement is {self.norm_placement!r}; with experts.own_norms it is sandwich or post-sublayer."
            )
        key_value_layers, own = self.per_layer.key_value_layers, self._of_layers
        for layer, other in enumerate(key_value_layers if own else ()):
            if any(getattr(own[layer], name) != getattr(own[other], name) for name in _SHARED):
                raise ConfigError(f"Layer {layer} cannot read the keys of layer {other}, which have another form.")
        is_unusual = self.layer_embedding.dim or key_value_layers or self.has_several_streams
        if is_unusual and (self.has_cross_attention or self.reads_signal or self.attention.latent != LatentConfig()):
            raise ConfigError(
                "layer_embedding, residual.alternating_updates and per_layer.key_value_layers are for a model that "
                "reads one text, and whose keys and values are not compressed."
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
    def has_recurrence(self) -> bool:
        """Whether there are layers of linear attention, which have no attention weights."""
        return any(self.recurrence.counts)

    @property
    def has_feed_forward(self) -> bool:
        """Whether blocks have a feed-forward network besides attention."""
        return self.feed_forward != "none"

    @property
    def has_several_streams(self) -> bool:
        """Whether several residual streams run side by side."""
        return self.residual.alternating_updates.streams > 1

    @property
    def only_adds_sublayers(self) -> bool:
        """Whether each block only adds attentions and a feed-forward, with their norms, to one residual stream."""
        more = self.layer_embedding.dim or self.residual.scale or self.residual.laurel_rank or self.has_recurrence
        return not (more or self.has_several_streams)

    @property
    def expert_layers(self) -> tuple[int, ...]:
        """The layers that have experts instead of an ordinary feed-forward network."""
        every = range(self.layers) if self.experts.count else ()
        return tuple(layer for layer in every if layer not in self.experts.dense_layers)

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
        if self.own_encoder is not None:
            return self._own_encoder
        encoder_heads: dict[str, int] = {}
        if self.encoder.heads not in (0, self.heads):
            encoder_heads = {"heads": self.encoder.heads, "key_value_heads": 0, "head_dim": 0, "value_head_dim": 0}
        return self.replace(
            layers=self.encoder.layers,
            d_ff=self.encoder.d_ff or self.d_ff,
            context_length=self.sound.frames or self.context_length,
            masks=(),
            per_layer=PerLayerConfig(),
            decoder=replace(self.decoder, alignment_heads=()),
            **encoder_heads,
        )

    @cached_property
    def _own_encoder(self) -> Config:
        assert self.own_encoder is not None
        return self.own_encoder.replace(image=self.image)

    @property
    def memory_dim(self) -> int:
        """Channels of the encoder's output, which the decoder reads."""
        return self.d_model if self.own_encoder is None or self.encoder.projected else self.own_encoder.d_model

    @property
    def first_source_tokens(self) -> int:
        """The number of tokens before the patches that the encoder of an encoder-decoder reads."""
        return self.image.first_tokens if self.own_encoder is not None and self.reads_image else 0

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
            kind: self.replace(
                per_layer=PerLayerConfig(), recurrence=RecurrenceConfig(), **dict(zip(own, kind, strict=True))
            )
            for kind in dict.fromkeys(kinds)
        }
        return tuple(made[kind] for kind in kinds)

    def key_value_layer(self, layer: int) -> int:
        """The layer whose keys and values a layer reads: usually its own."""
        return self.per_layer.key_value_layers[layer] if self.per_layer.key_value_layers else layer

    def key_value_path(self, path: str) -> str:
        """The attention whose keys and values the one at `path` (`decoder.3.self`) reads: usually itself."""
        stack, layer, kind = path.split(".")
        key_value_layer = self.for_stack(stack).key_value_layer(int(layer)) if kind == "self" else layer
        return f"{stack}.{key_value_layer}.{kind}"

    def for_path(self, path: str) -> Config:
        """The config of the layer, or else of the stack, that a value's path (`decoder.3.self.q`) belongs to."""
        stack, _, rest = path.partition(".")
        own, layer = self.for_stack(stack), rest.partition(".")[0]
        return own.for_layer(int(layer)) if layer.isdecimal() and int(layer) < own.layers else own

    def num_layers(self, stack: str) -> int:
        """The number of layers of `stack`."""
        return self.encoder.layers if self.has_cross_attention and stack == "encoder" else self.layers

    def replace(self, **changes: Any) -> Config:
        """The same config with some fields replaced, checked again; a field in a group goes by its path."""
        return replace(self, **_into_groups(changes, self))

    def to_dict(self) -> dict[str, Any]:
        """The config as plain JSON values; the inverse of `from_dict`."""
        plain: dict[str, Any] = _tuples_to_lists(asdict(self))
        return plain

    def to_paths(self) -> dict[str, Any]:
        """The fields as plain JSON values by their paths, such as `rope.theta`; `own_encoder` is one value."""
        values = self.to_dict()
        own = {"own_encoder": values.pop("own_encoder")}
        return _by_path(values) | own

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Config:
        """A config from plain JSON values. Raises ConfigError for unknown, missing or mistyped fields."""
        return from_plain(cls, in_groups(values), "config", ConfigError)

    @classmethod
    def from_paths(cls, values: Mapping[str, Any]) -> Config:
        """A config from fields under their names, or their paths for fields in a group (`attention.qk_norm`)."""
        return cls(**_into_groups(values, cls))


def _into_groups(values: Mapping[str, Any], groups: object) -> dict[str, Any]:
    """The values with those under a path (`attention.qk_norm`) put into their group.

    If the group is not among the values it is the one of `groups`: a Config, or the class for the defaults.
    """
    found = {name: value for name, value in values.items() if "." not in name}
    for path, value in values.items():
        group, _, name = path.partition(".")
        if name:
            found[group] = replace(found.get(group, getattr(groups, group)), **{name: value})
    return found


def _by_path(values: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= _by_path(value, f"{path}{name}.") if isinstance(value, Mapping) else {path + name: value}
    return found


def _tuples_to_lists(value: Any) -> Any:
    """Converts tuples to lists at all depths, as in JSON."""
    if isinstance(value, dict):
        return {name: _tuples_to_lists(item) for name, item in value.items()}
    return [_tuples_to_lists(item) for item in value] if isinstance(value, tuple) else value
