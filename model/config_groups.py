"""Choices that belong together, as groups of a Config; a group's defaults mean "as the plain transformer does it"."""

from __future__ import annotations

from dataclasses import dataclass

from model.errors import ConfigError

COLOURS = (1, 3, 4)  # of a picture: grey, red green blue, and these with transparency
RESAMPLES = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")  # in the order of their usual numbers
MOST_PATCHES = 2**12  # every patch looks at every other, whatever a hostile file says
LONGEST_SIDE = 2**13  # pixels


@dataclass(frozen=True, kw_only=True)
class Rotation:
    """How rotary positions turn queries and keys.

    `channels` of each head turn (0: all of them), paired with their neighbour where `interleaved`, else with the
    one half of them away. `scaling` is a key of SCALINGS that stretches a context of `original` tokens by `factor`;
    `low` and `high` bound the wavelengths it touches, `short` and `long` divide each pair's frequency in texts up to
    and past `original`; `strength` multiplies what was turned.
    """

    base: float = 10_000.0
    channels: int = 0
    interleaved: bool = False
    scaling: str = "none"
    factor: float = 1.0
    original: int = 0
    low: float = 1.0
    high: float = 1.0
    whole: bool = True
    strength: float = 1.0
    short: tuple[float, ...] = ()
    long: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Distances:
    """How relative schemes sort distances: into `buckets`, the last of which begins at `furthest` tokens.

    For disentangled attention: whether contents ask for positions (`to_position`) and positions for contents
    (`from_position`), whether the table is normed, and whether distances keep their own row each (`exact`).
    """

    buckets: int = 32
    furthest: int = 128
    to_position: bool = True
    from_position: bool = True
    normed: bool = False
    exact: bool = False


@dataclass(frozen=True, kw_only=True)
class Slopes:
    """How ALiBi's bias is counted: multiplied by `scale`, and in bfloat16 where `rounded`, as Falcon does."""

    scale: float = 1.0
    rounded: bool = False


@dataclass(frozen=True, kw_only=True)
class Embed:
    """How tokens become vectors: a table of `width` channels (0: the model's), multiplied by `scale`.

    Where the table is narrower, `project` says what is widened: the "tokens", or "all" that is summed and normed.
    `segments` is how many kinds of text a token may belong to; every text is of the first kind here. `apart` gives the
    encoder of an encoder-decoder a table of its own.
    """

    width: int = 0
    scale: float = 1.0
    project: str = "none"
    segments: int = 0
    apart: bool = False


@dataclass(frozen=True, kw_only=True)
class ByLayer:
    """What differs from layer to layer, one entry each; empty where all layers are alike.

    `masks` come on top of the model's masks ("window:8", "none"); `positions`, `rotations` and `scales` (what scores
    are multiplied by) stand in place of the model's.
    """

    masks: tuple[str, ...] = ()
    positions: tuple[str, ...] = ()
    rotations: tuple[Rotation, ...] = ()
    scales: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a top does before and after its last linear map.

    `transform` is "none", "dense" or "dense-norm", and `activation` bends between. Logits are multiplied by `scale`
    and, where `cap` is not 0, kept within it by a tanh. None is what is usual: as `transform` "dense-norm" for a
    masked-language head and "none" for all else, as `bias` none for a language head and one for all else. What answers
    from the last token passes over those with the number `passed`.
    """

    transform: str | None = None
    activation: str = "gelu"
    scale: float = 1.0
    cap: float = 0.0
    bias: bool | None = None
    passed: int | None = None


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """How a picture becomes numbers: resized, its middle cut out, divided, and shifted, in this order.

    It is resized to `height` x `width` pixels (0: as the model reads it), or until its shorter side has `shortest`,
    by the filter `resample`; a `crop_height` of 0 cuts nothing. Each colour is multiplied by `factor`, then loses
    `mean` and is divided by `deviation`, one number for all colours or one for each.
    """

    resize: bool = True
    height: int = 0
    width: int = 0
    shortest: int = 0
    resample: str = "bilinear"
    crop_height: int = 0
    crop_width: int = 0
    factor: float = 1 / 255
    mean: tuple[float, ...] = (0.5,)
    deviation: tuple[float, ...] = (0.5,)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """The pictures that a model reads in place of a text, in pixels; `channels` 0: it reads texts.

    They are cut into patches of `patch_height` x `patch_width`, row after row; what is left at the right and at the
    bottom is not read.
    """

    channels: int = 0
    height: int = 0
    width: int = 0
    patch_height: int = 0
    patch_width: int = 0
    prepare: Preparation = Preparation()

    @property
    def rows(self) -> int:
        """How many patches lie below each other."""
        return self.height // max(self.patch_height, 1)

    @property
    def columns(self) -> int:
        """How many patches lie side by side."""
        return self.width // max(self.patch_width, 1)

    def check(self) -> None:
        """Raise ConfigError unless a model can read such pictures."""
        own, prepare = ("height", "width", "patch_height", "patch_width"), self.prepare
        steps = ("height", "width", "shortest", "crop_height", "crop_width")
        sides = {name: (getattr(self, name), 1) for name in own}
        sides |= {f"prepare.{name}": (getattr(prepare, name), 0) for name in steps}
        for name, (side, least) in sides.items():
            if not least <= side <= LONGEST_SIDE:
                raise ConfigError(f"picture.{name} is {side}; a side has {least} to {LONGEST_SIDE:,} pixels.")
        if bool(prepare.crop_height) != bool(prepare.crop_width):
            raise ConfigError("picture.prepare cuts out a height without a width, or a width without a height.")
        if self.channels not in COLOURS:
            raise ConfigError(f"picture.channels is {self.channels}; pictures have {', '.join(map(str, COLOURS))}.")
        if not 0 < self.rows * self.columns <= MOST_PATCHES:
            raise ConfigError(
                f"{self.height} x {self.width} pixels are {self.rows} x {self.columns} patches of "
                f"{self.patch_height} x {self.patch_width}; a model reads 1 to {MOST_PATCHES:,} patches."
            )
        if prepare.resample not in RESAMPLES:
            raise ConfigError(f"picture.prepare.resample is {prepare.resample!r}; possible are {', '.join(RESAMPLES)}.")
        self._check_colours()

    def _check_colours(self) -> None:
        prepare = self.prepare
        for name, numbers in (("mean", prepare.mean), ("deviation", prepare.deviation)):
            if len(numbers) not in (1, self.channels):
                raise ConfigError(f"picture.prepare.{name} has {len(numbers)} numbers for {self.channels} colours.")
        numbers, divisors = (prepare.factor, *prepare.mean), prepare.deviation
        if not all(abs(number) <= 1e6 for number in numbers) or not all(1e-6 <= abs(d) <= 1e6 for d in divisors):
            raise ConfigError(
                "What colours are multiplied by and lose is at most 1e6, what they are divided by 1e-6 to 1e6; "
                f"here they are {', '.join(f'{number:g}' for number in (*numbers, *divisors))}."
            )
