"""Choices that belong together, as groups of a Config; a group's defaults mean "as the plain transformer does it"."""

from __future__ import annotations

from dataclasses import dataclass

from model.errors import ConfigError

CHANNEL_COUNTS = (1, 3, 4)  # of a picture: grey, red green blue, and these with transparency
RESAMPLING_FILTERS = (
    "nearest",
    "lanczos",
    "bilinear",
    "bicubic",
    "box",
    "hamming",
)  # in the order of their usual numbers
MAX_PATCHES = 2**12  # every patch looks at every other, whatever a hostile file says
MAX_IMAGE_SIDE = 2**13  # pixels


@dataclass(frozen=True, kw_only=True)
class RopeConfig:
    """How rotary positions turn queries and keys.

    `channels` of each head turn (0: all of them), paired with their neighbour where `interleaved`, else with the
    one half of them away. `scaling` is a key of SCALINGS that stretches a context of `original` tokens by `factor`;
    `low` and `high` bound the wavelengths it touches, `short` and `long` divide each pair's frequency in texts up to
    and past `original`; `strength` multiplies what was turned.
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
    short_factor: tuple[float, ...] = ()
    long_factor: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RelativePositionConfig:
    """How relative schemes sort distances: into `buckets`, the last of which begins at `furthest` tokens.

    For disentangled attention: whether contents ask for positions (`to_position`) and positions for contents
    (`from_position`), whether the table is normed, and whether distances keep their own row each (`exact`).
    `absolute_positions` also adds a learned vector of each position to the embeddings.
    """

    buckets: int = 32
    max_distance: int = 128
    content_to_position: bool = True
    position_to_content: bool = True
    normalized: bool = False
    exact_distances: bool = False
    absolute_positions: bool = False


@dataclass(frozen=True, kw_only=True)
class AlibiConfig:
    """How ALiBi's bias is counted: multiplied by `scale`, and in bfloat16 where `rounded`, as Falcon does."""

    scale: float = 1.0
    bfloat16: bool = False


@dataclass(frozen=True, kw_only=True)
class EmbeddingConfig:
    """How tokens become vectors: a table of `width` channels (0: the model's), multiplied by `scale`.

    Where the table is narrower, `project` says what is widened: the "tokens", or "all" that is summed and normed.
    `segments` is how many kinds of text a token may belong to; every text is of the first kind here. `apart` gives the
    encoder of an encoder-decoder a table of its own.
    """

    dim: int = 0
    scale: float = 1.0
    projection: str = "none"
    segments: int = 0
    separate_encoder: bool = False


@dataclass(frozen=True, kw_only=True)
class PerLayerConfig:
    """What differs from layer to layer, one entry each; empty where all layers are alike.

    `masks` come on top of the model's masks ("window:8", "none"); `positions`, `rotations` and `scales` (what scores
    are multiplied by) stand in place of the model's.
    """

    masks: tuple[str, ...] = ()
    positional_encodings: tuple[str, ...] = ()
    ropes: tuple[RopeConfig, ...] = ()
    score_scales: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OutputHeadConfig:
    """What a top does before and after its last linear map.

    `transform` is "none", "dense" or "dense-norm", and `activation` bends between. Logits are multiplied by `scale`
    and, where `cap` is not 0, kept within it by a tanh. None is what is usual: as `transform` "dense-norm" for a
    masked-language head and "none" for all else, as `bias` none for a language head and one for all else. What answers
    from the last token passes over those with the number `passed`.
    """

    transform: str | None = None
    activation: str = "gelu"
    logit_scale: float = 1.0
    logit_soft_cap: float = 0.0
    bias: bool | None = None
    pad_token_id: int | None = None


@dataclass(frozen=True, kw_only=True)
class ImageProcessorConfig:
    """How a picture becomes numbers: resized, its middle cut out, divided, and shifted, in this order.

    It is resized to `height` x `width` pixels (0: as the model reads it), or until its shorter side has `shortest`,
    by the filter `resample`; a `crop_height` of 0 cuts nothing. Each colour is multiplied by `factor`, then loses
    `mean` and is divided by `deviation`, one number for all colours or one for each.
    """

    resize: bool = True
    height: int = 0
    width: int = 0
    shortest_edge: int = 0
    resample: str = "bilinear"
    crop_height: int = 0
    crop_width: int = 0
    rescale_factor: float = 1 / 255
    mean: tuple[float, ...] = (0.5,)
    std: tuple[float, ...] = (0.5,)


@dataclass(frozen=True, kw_only=True)
class ImageConfig:
    """The pictures that a model reads in place of a text, in pixels; `channels` 0: it reads texts.

    They are cut into patches of `patch_height` x `patch_width`, row after row; what is left at the right and at the
    bottom is not read.
    """

    channels: int = 0
    height: int = 0
    width: int = 0
    patch_height: int = 0
    patch_width: int = 0
    processor: ImageProcessorConfig = ImageProcessorConfig()

    @property
    def patch_rows(self) -> int:
        """How many patches lie below each other."""
        return self.height // max(self.patch_height, 1)

    @property
    def patch_columns(self) -> int:
        """How many patches lie side by side."""
        return self.width // max(self.patch_width, 1)

    def check(self) -> None:
        """Raise ConfigError unless a model can read such pictures."""
        image_sides, processor = ("height", "width", "patch_height", "patch_width"), self.processor
        processor_sides = ("height", "width", "shortest_edge", "crop_height", "crop_width")
        sides = {name: (getattr(self, name), 1) for name in image_sides}
        sides |= {f"processor.{name}": (getattr(processor, name), 0) for name in processor_sides}
        for name, (side, minimum) in sides.items():
            if not minimum <= side <= MAX_IMAGE_SIDE:
                raise ConfigError(f"image.{name} is {side}; a side has {minimum} to {MAX_IMAGE_SIDE:,} pixels.")
        if bool(processor.crop_height) != bool(processor.crop_width):
            raise ConfigError("image.processor cuts out a height without a width, or a width without a height.")
        if self.channels not in CHANNEL_COUNTS:
            raise ConfigError(f"image.channels is {self.channels}; images have {', '.join(map(str, CHANNEL_COUNTS))}.")
        if not 0 < self.patch_rows * self.patch_columns <= MAX_PATCHES:
            raise ConfigError(
                f"{self.height} x {self.width} pixels are {self.patch_rows} x {self.patch_columns} patches of "
                f"{self.patch_height} x {self.patch_width}; a model reads 1 to {MAX_PATCHES:,} patches."
            )
        if processor.resample not in RESAMPLING_FILTERS:
            raise ConfigError(
                f"image.processor.resample is {processor.resample!r}; possible are {', '.join(RESAMPLING_FILTERS)}."
            )
        self._check_normalization()

    def _check_normalization(self) -> None:
        processor = self.processor
        for name, numbers in (("mean", processor.mean), ("std", processor.std)):
            if len(numbers) not in (1, self.channels):
                raise ConfigError(f"image.processor.{name} has {len(numbers)} numbers for {self.channels} colours.")
        numbers, divisors = (processor.rescale_factor, *processor.mean), processor.std
        if not all(abs(number) <= 1e6 for number in numbers) or not all(1e-6 <= abs(d) <= 1e6 for d in divisors):
            raise ConfigError(
                "What colours are multiplied by and lose is at most 1e6, what they are divided by 1e-6 to 1e6; "
                f"here they are {', '.join(f'{number:g}' for number in (*numbers, *divisors))}."
            )
