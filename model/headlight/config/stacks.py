"""What the encoder and the decoder of an encoder-decoder have of their own, and what layers have of their own."""

from __future__ import annotations

from dataclasses import dataclass, fields

from headlight.config.bounds import MAX_LAYERS, MAX_WIDTH, check_sizes
from headlight.config.positions import RopeConfig
from headlight.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """The sizes of the encoder of an encoder-decoder; 0: the decoder's."""

    layers: int = 0
    heads: int = 0
    d_ff: int = 0  # neurons of its feed-forward network

    def check(self) -> None:
        """Raise ConfigError for sizes out of range."""
        check_sizes(self, {"layers": MAX_LAYERS, "heads": MAX_WIDTH, "d_ff": MAX_WIDTH}, "encoder.")


@dataclass(frozen=True, kw_only=True)
class DecoderConfig:
    """The beginning of a decoder's text, and the heads that align it with the source; for an encoder-decoder."""

    start_token_id: int = 0  # the first token
    starts_with_last: bool = False  # a text that is labelled as a whole begins with its own last token (mBART)
    prompt_token_ids: tuple[int, ...] = ()  # tokens after it, if the text has no special tokens of its own at its start
    # The cross-attention heads (layer, head) that follow the source from token to token, according to the checkpoint.
    alignment_heads: tuple[tuple[int, int], ...] = ()

    def check(self, vocabulary_size: int, layers: int, heads: int) -> None:
        """Raise ConfigError for a token or a head that a model of these sizes does not have."""
        if not 0 <= self.start_token_id < vocabulary_size:
            raise ConfigError(
                f"decoder.start_token_id is {self.start_token_id}; it must be in the vocabulary of {vocabulary_size}."
            )
        for layer, head in self.alignment_heads:
            if not (0 <= layer < layers and 0 <= head < heads):
                raise ConfigError(
                    f"decoder.alignment_heads has head {head} of layer {layer}, which this model does not have."
                )


@dataclass(frozen=True, kw_only=True)
class PerLayerConfig:
    """The settings that differ between layers, one entry per layer; empty where all layers are equal."""

    masks: tuple[str, ...] = ()  # combined with the model's masks; "window:8", "none"
    # These replace the model's own settings.
    positional_encodings: tuple[str, ...] = ()
    ropes: tuple[RopeConfig, ...] = ()
    score_scales: tuple[float, ...] = ()  # instead of 1 / sqrt(head_dim)
    head_dims: tuple[int, ...] = ()  # channels of a head in queries, keys and values
    key_value_heads: tuple[int, ...] = ()
    d_ffs: tuple[int, ...] = ()
    activation_sparsities: tuple[float, ...] = ()
    keys_as_values: tuple[bool, ...] = ()
    qk_norms: tuple[str, ...] = ()
    key_value_layers: tuple[int, ...] = ()  # whose keys and values a layer reads: its own, or an earlier layer's

    @property
    def positions_differ(self) -> bool:
        """Whether layers differ in how they encode positions."""
        return bool(self.positional_encodings or self.ropes or self.head_dims)

    def check(self, layers: int) -> None:
        """Raise ConfigError unless each list has an entry for each layer, and layers read keys that there are."""
        for field in fields(self):
            entries = getattr(self, field.name)
            if entries and len(entries) != layers:
                raise ConfigError(f"per_layer.{field.name} has {len(entries)} entries for {layers} layers.")
        for layer, other in enumerate(self.key_value_layers):
            if not 0 <= other <= layer or self.key_value_layers[other] != other:
                raise ConfigError(
                    f"per_layer.key_value_layers has {other} for layer {layer}; it must be {layer}, or an earlier "
                    "layer that reads its own."
                )
