"""What the encoder and the decoder of an encoder-decoder have of their own, and what layers have of their own."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import accumulate

from headlight.config.bounds import MAX_LAYERS, MAX_WIDTH, check_sizes
from headlight.config.positions import RopeConfig
from headlight.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """The sizes of the encoder of an encoder-decoder; 0: the decoder's."""

    layers: int = 0
    heads: int = 0
    d_ff: int = 0  # neurons of its feed-forward network
    projected: bool = False  # a linear map takes its output to the decoder's width, if it was a model of its own

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
class RecurrenceConfig:
    """Layers of linear attention, which have no attention weights, between those of attention (Yang et al. 2024)."""

    # How many there are before the first layer of attention, and after each; empty: none.
    counts: tuple[int, ...] = ()
    key_heads: int = 1  # heads of queries and keys
    value_heads: int = 1  # a multiple of key_heads
    key_channels: int = 1  # of a head
    value_channels: int = 1
    kernel: int = 1  # tokens of the convolution before

    @property
    def numbers_in_file(self) -> tuple[int, ...]:
        """The number of each layer of attention among all layers, as checkpoints count them."""
        return tuple(layer + before for layer, before in enumerate(accumulate(self.counts[:-1])))

    def describe(self) -> str:
        """A sentence on which layers are shown, under which numbers; empty if all are."""
        without, shown = sum(self.counts), self.numbers_in_file
        if not without:
            return ""
        return (
            f"{without} of the checkpoint's {without + len(shown)} layers have linear attention, a state instead of "
            f"attention weights; the others, its layers {', '.join(map(str, shown))}, are numbered from 0 here."
        )

    def check(self, layers: int) -> None:
        """Raise ConfigError unless the layers fit between `layers` layers of attention."""
        names = ("key_heads", "value_heads", "key_channels", "value_channels", "kernel")
        check_sizes(self, dict.fromkeys(names, MAX_WIDTH), "recurrence.")
        if self.counts and (len(self.counts) != layers + 1 or not all(0 <= each <= MAX_LAYERS for each in self.counts)):
            raise ConfigError(
                f"recurrence.counts is {list(self.counts)[:8]}; it has a number of layers before the first of "
                f"{layers:,} layers of attention, and one after each."
            )
        if not all(getattr(self, name) for name in names) or self.value_heads % self.key_heads:
            raise ConfigError(
                f"recurrence has {self.value_heads} value heads and {self.key_heads} key heads of {self.key_channels} "
                f"channels; sizes are at least 1, and key heads divide value heads."
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
