"""Choices that belong together, as groups of a Config; a group's defaults mean "as the plain transformer does it"."""

from __future__ import annotations

from dataclasses import dataclass


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
    `segments` is how many kinds of text a token may belong to; every text is of the first kind here.
    """

    width: int = 0
    scale: float = 1.0
    project: str = "none"
    segments: int = 0


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

    `transform` is "none", "dense" or "dense-norm", and `activation` bends between; a masked-language head always has
    "dense-norm". Logits are multiplied by `scale` and, where `cap` is not 0, kept within it by a tanh. `bias` None
    is what is usual: none for a language head, one for all else.
    """

    transform: str = "none"
    activation: str = "gelu"
    scale: float = 1.0
    cap: float = 0.0
    bias: bool | None = None
