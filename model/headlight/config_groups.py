"""Nested groups of a Config; the defaults are the original Transformer's."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Literal

from headlight.errors import ConfigError, SoundError

CHANNEL_COUNTS = (1, 3, 4)  # of an image: grey, RGB, RGBA
ResamplingFilter = Literal["nearest", "lanczos", "bilinear", "bicubic", "box", "hamming"]  # in Pillow's order
MAX_PATCHES = 2**12  # bounds the cost of a hostile file: attention is quadratic in the number of patches
MAX_EXPERTS = 2**12
MAX_WIDTH = 2**20  # channels or neurons
MAX_STREAMS = 64  # residual streams, each as wide as the model
DROPPED_SHARE = 0.15 * 0.8  # share of tokens replaced by the mask token in training (Lin et al. 2023, ESM-2)
MAX_IMAGE_SIDE = 2**13  # pixels
MAX_FRAMES = 2**12  # of a sound; bounds the cost of attention as well
MAX_SAMPLES = 2**24  # of a sound
MAX_KERNEL, MAX_CHANNELS, MAX_CONVOLUTIONS = 2**12, 2**14, 64


@dataclass(frozen=True, kw_only=True)
class RopeConfig:
    """Rotary position embedding.

    `rotary_dim` channels of each head are rotated (0: all) at frequencies theta^(-2j/rotary_dim). A channel is paired
    with its neighbour if `interleaved`, else with the channel rotary_dim / 2 further on. `scaling`, a key of
    ROPE_SCALINGS, extends a context of `original_context_length` by `factor`; `low_freq_factor` and `high_freq_factor`
    bound the frequencies that it changes, `short_factor` and `long_factor` divide each pair's frequency in texts up to
    and beyond the original context. With proportional scaling only `rotated_share` of the pairs are rotated.
    `attention_factor` multiplies cos and sin.
    """

    theta: float = 10_000.0
    rotary_dim: int = 0
    interleaved: bool = False
    scaling: str = "none"
    factor: float = 1.0
    original_context_length: int = 0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 1.0
    truncate: bool = True
    attention_factor: float = 1.0
    rotated_share: float = 1.0
    short_factor: tuple[float, ...] = ()
    long_factor: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SinusoidalConfig:
    """Sinusoids: the number of a text's first position, and whether the slowest wavelength reaches the base.

    If it does not, it is one step shorter (Vaswani et al. 2017, section 3.5).
    """

    first_position: int = 0
    reaches_base: bool = False


@dataclass(frozen=True, kw_only=True)
class RelativePositionConfig:
    """Relative positions: distances grouped into `buckets`; the last bucket starts at `max_distance` tokens.

    `each_layer`: whether each layer has its own learned biases.
    For disentangled attention: whether there are content-to-position and position-to-content scores, whether the
    embeddings are `normalized`, and whether every distance has its own embedding (`exact_distances`).
    """

    buckets: int = 32
    max_distance: int = 128
    content_to_position: bool = True
    position_to_content: bool = True
    normalized: bool = False
    exact_distances: bool = False
    absolute_positions: bool = False
    each_layer: bool = False


@dataclass(frozen=True, kw_only=True)
class ExpertsConfig:
    """Mixture of experts instead of the feed-forward network: `count` experts (0: none) of `d_ff` neurons each.

    A `d_ff` of 0 means the model's `d_ff`. The first `dense_layers` have an ordinary network instead. `scoring` turns
    the router's scores into shares; each token goes to the `per_token` experts with the largest shares. The shares are
    normalized to sum 1 if `normalized`, then multiplied by `share_scale`. With `groups`, a token goes only to experts
    of the `chosen_groups`, the groups whose best `group_best` experts have the largest sum; with `choice_bias`, a
    learned number per expert affects the choice only. `shared_d_ff` is the number of neurons of an additional expert
    that reads every token (0: none). `bias`: whether the linear maps of experts and router have biases. `up_offset` is
    added to the linear half of each expert, and `limit` bounds both halves (0: no limit).
    """

    count: int = 0
    per_token: int = 2
    d_ff: int = 0
    dense_layers: int = 0
    scoring: Literal["softmax", "sigmoid"] = "softmax"
    normalized: bool = True
    share_scale: float = 1.0
    groups: int = 1
    chosen_groups: int = 1
    group_best: int = 1
    choice_bias: bool = False
    shared_d_ff: int = 0
    bias: bool = False
    up_offset: float = 0.0
    limit: float = 0.0

    def check(self) -> None:
        """Raise ConfigError for sizes that are out of range or do not fit together."""
        if not (0 <= self.count <= MAX_EXPERTS and (not self.count or 1 <= self.per_token <= self.count)):
            raise ConfigError(
                f"experts.count is {self.count} and experts.per_token {self.per_token}; there are at most "
                f"{MAX_EXPERTS:,} experts, and a token goes to at least one of them."
            )
        size, rest = divmod(self.count, max(self.groups, 1))
        enough = size >= self.group_best and self.per_token <= self.chosen_groups * size
        if self.count and (rest or not 1 <= self.chosen_groups <= self.groups or not enough):
            raise ConfigError(
                f"experts.groups is {self.groups} for {self.count} experts, of which {self.chosen_groups} are chosen; "
                f"groups must have equal sizes, and the chosen ones at least {self.per_token} experts together."
            )
        widths = {"experts.d_ff": self.d_ff, "experts.shared_d_ff": self.shared_d_ff}
        if too_wide := [name for name, width in widths.items() if not 0 <= width <= MAX_WIDTH]:
            raise ConfigError(f"{too_wide[0]} is {widths[too_wide[0]]}; it must be from 0 to {MAX_WIDTH:,}.")


@dataclass(frozen=True, kw_only=True)
class LatentConfig:
    """Latent attention (MLA): queries, or keys and values, are computed from a compressed, normed vector of a token.

    `query_channels` and `key_value_channels` are the channels of those vectors (0: not compressed).
    `shared_key_channels` of every key are the same in all heads; they are computed from the token directly.
    """

    query_channels: int = 0
    key_value_channels: int = 0
    shared_key_channels: int = 0

    def check(self, head_dim: int) -> None:
        """Raise ConfigError unless keys of `head_dim` channels can be computed in this way."""
        sizes = {"query_channels": self.query_channels, "key_value_channels": self.key_value_channels}
        for name, size in sizes.items():
            if not 0 <= size <= MAX_WIDTH:
                raise ConfigError(f"latent.{name} is {size}; it must be from 0 to {MAX_WIDTH:,}.")
        if not 0 <= self.shared_key_channels < head_dim or (self.shared_key_channels and not self.key_value_channels):
            raise ConfigError(
                f"latent.shared_key_channels is {self.shared_key_channels}; a key has {head_dim} channels, some of "
                "them its head's own, and they are shared where keys are compressed."
            )


@dataclass(frozen=True, kw_only=True)
class AlibiConfig:
    """ALiBi: the bias is multiplied by `scale`, and optionally computed in bfloat16, as in Falcon."""

    scale: float = 1.0
    bfloat16: bool = False


@dataclass(frozen=True, kw_only=True)
class EmbeddingConfig:
    """Token embeddings of `dim` channels (0: d_model), multiplied by `scale`.

    If `dim` is smaller than d_model, `projection` selects what is projected to d_model: the "tokens" (OPT), or "all",
    their sum with the positions (ALBERT). `segments` is the number of segment embeddings; every text is in the first
    segment. `separate_encoder` gives the encoder of an encoder-decoder its own table. The embedding of
    `dropped_token_id` is 0, and the others are scaled up accordingly, because DROPPED_SHARE of all tokens were dropped
    in training.
    """

    dim: int = 0
    scale: float = 1.0
    projection: Literal["none", "tokens", "all"] = "none"
    segments: int = 0
    separate_encoder: bool = False
    dropped_token_id: int | None = None


@dataclass(frozen=True, kw_only=True)
class LayerEmbeddingConfig:
    """A vector of `dim` channels (0: none) that each token has for each layer, besides its embedding.

    It is the sum of a row of a table and a projection of the embedding. The table has `vocabulary_size` rows (0: the
    model's vocabulary; tokens beyond it read the first row). Each block ends with a sublayer that reads the vector
    through a gate with this `activation` (per-layer embeddings; Gemma 3n).
    """

    dim: int = 0
    vocabulary_size: int = 0
    activation: str = "gelu-tanh"

    def check(self) -> None:
        """Raise ConfigError for sizes out of range."""
        for name, most in (("dim", MAX_WIDTH), ("vocabulary_size", 2**31)):
            if not 0 <= (size := getattr(self, name)) <= most:
                raise ConfigError(f"layer_embedding.{name} is {size}; it must be from 0 to {most:,}.")


@dataclass(frozen=True, kw_only=True)
class AlternatingUpdatesConfig:
    """Several residual streams side by side, `streams` of them, of which each block reads and writes the `active` one.

    The other streams are predicted, and corrected by the block's output (AltUp; Baykal et al. 2023).
    `output_scale`: whether the gate of a layer's embedding reads the active stream times a learned vector (Gemma 3n).
    """

    streams: int = 1
    active: int = 0
    output_scale: bool = False

    def check(self) -> None:
        """Raise ConfigError unless a model can have such streams."""
        if not 1 <= self.streams <= MAX_STREAMS:
            raise ConfigError(f"alternating_updates.streams is {self.streams}; it must be from 1 to {MAX_STREAMS}.")
        if not 0 <= self.active < self.streams:
            raise ConfigError(f"alternating_updates.active is {self.active}; there are {self.streams} streams, from 0.")


@dataclass(frozen=True, kw_only=True)
class PerLayerConfig:
    """The settings that differ between layers, one entry per layer; empty if all layers are equal.

    `masks` are combined with the model's masks ("window:8", "none"); the others replace the model's positional
    encoding, rope, score scale, channels of a head (in queries, keys and values), key/value heads, neurons, the share
    of neurons set to 0, and whether keys are the values. `key_value_layers` is the layer whose keys and values each
    layer reads: itself, or an earlier one.
    """

    masks: tuple[str, ...] = ()
    positional_encodings: tuple[str, ...] = ()
    ropes: tuple[RopeConfig, ...] = ()
    score_scales: tuple[float, ...] = ()
    head_dims: tuple[int, ...] = ()
    key_value_heads: tuple[int, ...] = ()
    d_ffs: tuple[int, ...] = ()
    activation_sparsities: tuple[float, ...] = ()
    keys_as_values: tuple[bool, ...] = ()
    key_value_layers: tuple[int, ...] = ()

    @property
    def positions_differ(self) -> bool:
        """Whether layers differ in how they encode positions."""
        return bool(self.positional_encodings or self.ropes or self.head_dims)


@dataclass(frozen=True, kw_only=True)
class OutputHeadConfig:
    """Options of the output head.

    `transform`, with `activation`, precedes the projection. Logits are multiplied by `logit_scale` and, if
    `logit_soft_cap` is not 0, limited to it smoothly. None means the default: a `transform` of "dense-norm" for a
    masked language model, else "none"; a `bias` for all but language models. Last-token pooling skips tokens with
    `pad_token_id`.
    """

    transform: Literal["none", "dense", "norm", "dense-norm"] | None = None
    activation: str = "gelu"
    logit_scale: float = 1.0
    logit_soft_cap: float = 0.0
    bias: bool | None = None
    pad_token_id: int | None = None


@dataclass(frozen=True, kw_only=True)
class ImageProcessorConfig:
    """Image preprocessing, as in Hugging Face image processors: resize, center crop, rescale, normalize.

    An image is resized to `height` x `width` pixels (0: the model's size), or until its shorter side has
    `shortest_edge` pixels, with the filter `resample`; a `crop_height` of 0 means no cropping. Each channel is
    multiplied by `rescale_factor`, minus `mean`, divided by `std`, which have one number for all channels or one for
    each.
    """

    resize: bool = True
    height: int = 0
    width: int = 0
    shortest_edge: int = 0
    resample: ResamplingFilter = "bilinear"
    crop_height: int = 0
    crop_width: int = 0
    rescale_factor: float = 1 / 255
    mean: tuple[float, ...] = (0.5,)
    std: tuple[float, ...] = (0.5,)


@dataclass(frozen=True, kw_only=True)
class ImageConfig:
    """The images that a model reads instead of a text, in pixels; with `channels` 0 it reads no images.

    An image is divided into patches of `patch_height` x `patch_width`, row by row; the rest at the right and the bottom
    is not read. `class_token`: whether a class token precedes the patches; `extra_tokens` are the names of further
    tokens between them. `patch_bias`: whether the patch embedding has a bias.
    """

    channels: int = 0
    height: int = 0
    width: int = 0
    patch_height: int = 0
    patch_width: int = 0
    processor: ImageProcessorConfig = ImageProcessorConfig()
    class_token: bool = True
    extra_tokens: tuple[str, ...] = ()
    patch_bias: bool = True

    @property
    def first_tokens(self) -> int:
        """The number of tokens before the patches."""
        return self.class_token + len(self.extra_tokens)

    @property
    def patch_rows(self) -> int:
        """The number of rows of patches."""
        return self.height // max(self.patch_height, 1)

    @property
    def patch_columns(self) -> int:
        """The number of columns of patches."""
        return self.width // max(self.patch_width, 1)

    def check(self) -> None:
        """Raise ConfigError unless a model can read such images."""
        image_sides, processor = ("height", "width", "patch_height", "patch_width"), self.processor
        processor_sides = ("height", "width", "shortest_edge", "crop_height", "crop_width")
        sides = {name: (getattr(self, name), 1) for name in image_sides}
        sides |= {f"processor.{name}": (getattr(processor, name), 0) for name in processor_sides}
        for name, (side, minimum) in sides.items():
            if not minimum <= side <= MAX_IMAGE_SIDE:
                raise ConfigError(f"image.{name} is {side}; a side has {minimum} to {MAX_IMAGE_SIDE:,} pixels.")
        if bool(processor.crop_height) != bool(processor.crop_width):
            raise ConfigError("image.processor crops a height without a width, or a width without a height.")
        if self.channels not in CHANNEL_COUNTS:
            raise ConfigError(f"image.channels is {self.channels}; images have {', '.join(map(str, CHANNEL_COUNTS))}.")
        if not 0 < self.patch_rows * self.patch_columns <= MAX_PATCHES:
            raise ConfigError(
                f"{self.height} x {self.width} pixels are {self.patch_rows} x {self.patch_columns} patches of "
                f"{self.patch_height} x {self.patch_width}; a model reads 1 to {MAX_PATCHES:,} patches."
            )
        self._check_normalization()

    def _check_normalization(self) -> None:
        processor = self.processor
        for name, numbers in (("mean", processor.mean), ("std", processor.std)):
            if len(numbers) not in (1, self.channels):
                raise ConfigError(f"image.processor.{name} has {len(numbers)} numbers for {self.channels} channels.")
        numbers, divisors = (processor.rescale_factor, *processor.mean), processor.std
        if not all(abs(number) <= 1e6 for number in numbers) or not all(1e-6 <= abs(d) <= 1e6 for d in divisors):
            raise ConfigError(
                "image.processor's rescale_factor and mean are at most 1e6, its std 1e-6 to 1e6; "
                f"here they are {', '.join(f'{number:g}' for number in (*numbers, *divisors))}."
            )


@dataclass(frozen=True, kw_only=True)
class SoundConfig:
    """The sounds that a model reads instead of a text, at `rate` samples per second; with rate 0 it reads no sounds.

    With `mel_bins` it reads a log-mel spectrogram with windows of `window` samples, `hop` samples apart; without, the
    samples themselves, scaled to mean 0 and variance 1 if `normalized`. Convolutions over time with these `channels`,
    `kernels` and `strides` turn it into frames: exactly `frames` of them (0: depending on the length of the sound). The
    convolutions may be `padded` with zeros, have a bias, and a norm: one over time after the first convolution, or one
    over the channels after each. Optionally, a projection follows, and the output of a convolution over
    `position_kernel` frames in `position_groups` (0: none) is added.
    """

    rate: int = 0
    mel_bins: int = 0
    window: int = 0
    hop: int = 1
    normalized: bool = False
    frames: int = 0
    channels: tuple[int, ...] = ()
    kernels: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    padded: bool = False
    activation: str = "gelu"
    convolution_bias: bool = True
    convolution_norm: Literal["none", "first-over-time", "each"] = "none"
    projection: Literal["none", "linear", "norm-linear"] = "none"
    position_kernel: int = 0
    position_groups: int = 1

    @property
    def frame_samples(self) -> int:
        """The number of samples from the start of one frame to the start of the next."""
        return self.hop * prod(self.strides)

    @property
    def frame_seconds(self) -> float:
        """The seconds from the start of one frame to the start of the next."""
        return self.frame_samples / self.rate

    @property
    def sample_count(self) -> int:
        """The number of samples that are read; 0 if a sound may have any length."""
        return self.frames * self.frame_samples

    def frame_count(self, steps: int) -> int:
        """The number of frames that the convolutions make from `steps` steps of a spectrogram, or samples."""
        for kernel, stride in zip(self.kernels, self.strides, strict=True):
            steps = (steps + 2 * (kernel // 2 if self.padded else 0) - kernel) // stride + 1
        return max(steps, 0)

    def step_count(self, frames: int) -> int:
        """The least number of steps, or samples, that the convolutions make so many frames from."""
        for kernel, stride in zip(reversed(self.kernels), reversed(self.strides), strict=True):
            frames = (frames - 1) * stride + kernel - 2 * (kernel // 2 if self.padded else 0)
        return frames

    def check_length(self, samples: int) -> None:
        """Raise SoundError if the model cannot read a sound of this many samples."""
        frames = self.frame_count(samples // self.hop)
        if not 1 <= frames <= MAX_FRAMES:
            most, advice = MAX_FRAMES * self.frame_seconds, "Cut out a part of it." if frames else "Take a longer one."
            raise SoundError(
                f"The recording takes {samples / self.rate:.2f} seconds; this model hears from "
                f"{self.frame_seconds:.2f} to {most:.0f} seconds. {advice}"
            )

    def check(self, d_model: int) -> None:
        """Raise ConfigError unless a model of `d_model` channels can read such sounds."""
        lists = {"channels": MAX_CHANNELS, "kernels": MAX_KERNEL, "strides": MAX_KERNEL}
        for name, largest in lists.items():
            numbers = getattr(self, name)
            if len(numbers) != len(self.kernels) or not all(1 <= number <= largest for number in numbers):
                raise ConfigError(
                    f"sound.{name} is {list(numbers)[:8]}; it has a number from 1 to {largest:,} for each convolution."
                )
        bounds = {
            "rate": (1_000, 192_000), "mel_bins": (0, 1024), "window": (2 if self.mel_bins else 0, MAX_KERNEL),
            "hop": (1, MAX_KERNEL), "frames": (0, MAX_FRAMES), "position_kernel": (0, MAX_KERNEL),
            "position_groups": (1, MAX_CHANNELS),
        }  # fmt: skip
        for name, (least, most) in bounds.items():
            if not least <= getattr(self, name) <= most:
                raise ConfigError(f"sound.{name} is {getattr(self, name)}; it can be from {least:,} to {most:,}.")
        if not 1 <= len(self.kernels) <= MAX_CONVOLUTIONS or self.sample_count > MAX_SAMPLES:
            raise ConfigError(
                f"A sound of {self.sample_count:,} samples through {len(self.kernels)} convolutions is too much; at "
                f"most {MAX_SAMPLES:,} samples and {MAX_CONVOLUTIONS} convolutions are possible."
            )
        if (self.projection == "none" and self.channels[-1] != d_model) or d_model % self.position_groups:
            raise ConfigError(
                f"The convolutions of a sound end with {self.channels[-1]} channels, and positions have "
                f"{self.position_groups} groups; that does not fit a model of {d_model} channels."
            )
