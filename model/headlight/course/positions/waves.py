"""The sinusoidal encoding with adjustable numbers; the waves are those of the network, in 64 bits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import pi, tau

import torch
from torch import Tensor
from torch.nn import functional

from headlight.array_types import Float
from headlight.course.controls import ChoiceControl, CountControl, NumberControl
from headlight.course.requirements import require_index
from headlight.course.screen import Screen, ScreenRows, link
from headlight.nn.positional_encodings import Sinusoidal, sinusoids
from headlight.questions.asking import ask_largest, ask_nearest, ask_number, ask_whether
from headlight.questions.kinds import Question
from headlight.views.forms import agreement
from headlight.views.kinds import Arrow, ArrowsView, Equations, HeatMapView, LinesView, MatrixView, TableView, Verdict
from headlight.views.rows import Row, fold, row
from headlight.views.words import digits, three_digits


@dataclass(frozen=True)
class NearestPositions:
    """The two positions with the nearest vectors, and the distance of these vectors."""

    position: int
    other: int
    distance: float


@dataclass(frozen=True, eq=False)
class Rotation:
    """PE(p) rotated by k positions, beside PE(p + k); `error` is the largest difference of their channels.

    `matrices` are the 2 x 2 matrices that turn each pair (sin, cos); they depend on k and not on p.
    """

    start: Float[Tensor, " channel"]
    rotated: Float[Tensor, " channel"]
    target: Float[Tensor, " channel"]
    matrices: Float[Tensor, "pair 2 2"]
    error: float


def wavelengths(dim: int, base: float) -> Float[Tensor, " pair"]:
    """The number of positions after which the wave of each pair of channels repeats: 2 pi base^(2i/d)."""
    return tau * base ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim)


def waves(length: int, dim: int, base: float) -> Float[Tensor, "pos d_model"]:
    """The encodings of the positions 0 to `length` - 1."""
    return sinusoids(torch.arange(length, dtype=torch.float64), dim, base)


def nearest_positions(encodings: Float[Tensor, "pos d_model"]) -> NearestPositions:
    """The two positions with the nearest vectors; their distance is above 0 if all vectors are different."""
    # Squared differences summed channel by channel: a product would lose small distances to rounding.
    distances = torch.cdist(encodings, encodings, compute_mode="donot_use_mm_for_euclid_dist")
    distances.fill_diagonal_(torch.inf)
    position, other = divmod(int(distances.argmin()), len(distances))
    return NearestPositions(position, other, float(distances[position, other]))


def rotate(position: int, offset: int, dim: int, base: float) -> Rotation:
    """PE(position + offset) as a linear map of PE(position) (Vaswani et al. 2017, section 3.5)."""
    ids = torch.tensor([position, position + offset, offset], dtype=torch.float64)
    start, target, turn = sinusoids(ids, dim, base)
    sines, cosines = turn[0::2], turn[1::2]  # of the rotation angles; they are the encoding of the offset
    matrices = torch.stack((torch.stack((cosines, sines), -1), torch.stack((-sines, cosines), -1)), -2)
    rotated = (matrices @ start.view(-1, 2, 1)).flatten()
    return Rotation(start, rotated, target, matrices, float((rotated - target).abs().max()))


def similarity_without_band(
    encodings: Float[Tensor, "pos d_model"], position: int, dropped: slice
) -> Float[Tensor, " pos"]:
    """The cosine of one position's encoding with all others, after a band of channels is set to 0."""
    kept = encodings.clone()
    kept[:, dropped] = 0
    return functional.cosine_similarity(kept, kept[position][None], dim=-1)


SHOWN_WAVES, SHOWN_PAIRS = 4, 32
SHOWN_POSITIONS = 64
BANDS_DROPPED = {"fast": "without the fast ones", "slow": "without the slow ones"}
TOLERANCE = 1e-6  # largest difference of 64-bit numbers that count as equal here


def show_waves(dim: int, base: float, other: float, length: int) -> ScreenRows:
    """The encodings of the first positions as a heat map and as waves, and those of another base."""
    encodings, lengths = waves(length, dim, base), wavelengths(dim, base)
    pairs = sorted({round(share * (len(lengths) - 1) / (SHOWN_WAVES - 1)) for share in range(SHOWN_WAVES)})
    return (
        row(
            LinesView(
                "Single channels by position",
                range(length),
                {f"channel {2 * pair}": encodings[:, 2 * pair] for pair in pairs},
                "position",
                "value",
            ),
            question=_ask_wavelength(lengths, dim, base),
        ),
        _heat_map("The encoding: a row for each position", encodings),
        TableView(
            ("channels", "positions until the wave repeats"),
            tuple((f"{2 * pair} and {2 * pair + 1}", float(lengths[pair])) for pair in pairs),
            title="Wavelengths",
            digits=5,
        ),
        *fold(*_compare_bases(dim, base, other, length)),
    )


def _ask_wavelength(lengths: Tensor, dim: int, base: float) -> Question:
    """Asks for the longest wavelength; known wrong answers forget 2π or take j for the channel."""
    slowest = float(lengths[-1])
    forgotten, channel = slowest / (2 * pi), 2 * pi * base ** (2 * (dim - 1) / dim)

    def written(number: float) -> str:
        return f"{number:,.1f}" if number < 100 else f"{number:,.0f}"

    told = {written(each): each for each in sorted({2 * pi, forgotten, slowest, channel})}
    says = {
        written(2 * pi): "That is the fastest wave, of channels 0 and 1.",
        written(forgotten): "That is the divisor of the position; a sine repeats after 2π times as many positions.",
        written(channel): f"You have taken j for the channel. But j counts pairs, from 0 to {dim // 2 - 1}.",
    }
    says.pop(written(slowest), None)
    return ask_nearest("After how many positions does the slowest wave repeat?", told, slowest, says)


def _heat_map(title: str, encodings: Tensor) -> HeatMapView:
    """If there are many channels, only some are drawn, evenly spread, each sine with its cosine."""
    pairs = encodings.shape[1] // 2
    shown = sorted({round(index * (pairs - 1) / (SHOWN_PAIRS - 1)) for index in range(SHOWN_PAIRS)})
    channels = [channel for pair in shown for channel in (2 * pair, 2 * pair + 1)]
    return HeatMapView(
        title,
        encodings[:, channels],
        rows=tuple(map(str, range(len(encodings)))),
        columns=tuple(map(str, channels)),
        row_axis="position",
        column_axis="channel",
        note=f"{len(channels)} of {2 * pairs} channels, evenly spread." if len(shown) < pairs else "",
    )


def _compare_bases(dim: int, base: float, other: float, length: int) -> ScreenRows:
    first, second = wavelengths(dim, base), wavelengths(dim, other)
    channels = list(range(0, dim, 2))
    return (
        row(
            LinesView(
                "Wavelength of each pair of channels",
                channels,
                {f"base {base:,.0f}": first, f"base {other:,.0f}": second},
                "channel 2j",
                "positions",
                log_y=True,
            ),
            title="What the base does",
            text="Some notes write 10 to the power 4j/d where the paper has 10,000 to the power 2j/d. That is 100 to "
            "the power 2j/d: a base of 100.",
        ),
        _heat_map(f"Base {other:,.0f}", waves(length, dim, other)),
        f"With d = {dim}, the longest wave takes {float(first[-1]):,.0f} positions at base {base:,.0f} and "
        f"{float(second[-1]):,.0f} at base {other:,.0f}: {_times(float(first[-1] / second[-1]))}.",
    )


def _times(ratio: float) -> str:
    return (
        f"{three_digits(ratio)} times shorter"
        if ratio > 1
        else f"{three_digits(1 / ratio)} times longer"
        if ratio < 1
        else "the same"
    )


def show_rotation(position: int, offset: int, pair: int, dim: int, base: float) -> ScreenRows:
    """PE(p + k) beside PE(p) rotated, for one pair of channels as arrows and checked for all."""
    require_index(pair, dim // 2, "pair", "the encoding")
    found = rotate(position, offset, dim, base)
    channels = slice(2 * pair, 2 * pair + 2)
    (sine, cosine), (turned_sine, turned_cosine) = found.start[channels].tolist(), found.target[channels].tolist()
    speed = base ** (-2 * pair / dim)
    return (
        row(
            ArrowsView(
                title=f"Pair {pair}: channels {2 * pair} and {2 * pair + 1}",
                arrows=(
                    Arrow(f"PE({position})", cosine, sine),
                    Arrow(f"PE({position + offset})", turned_cosine, turned_sine, group=1),
                ),
                groups=("before", f"{offset} positions on"),
                note="Cosine to the right, sine upwards.",
            ),
            MatrixView(f"The matrix that turns pair {pair} by {offset} positions", found.matrices[pair], digits=4),
            question=ask_number(
                f"By what angle, in radians, does pair {pair} turn over {offset} positions?",
                offset * speed,
                ((position + offset) * speed, "The start does not matter: only the steps count."),
                (offset * base ** (-pair / dim), "The exponent is −2j/d, and j is the pair."),
                hints=("The angle is k · ω.", f"ω = {base:,.0f}^(−{2 * pair}/{dim}) = {digits(speed, 4)}."),
            ),
        ),
        Equations(
            title="With the numbers inserted",
            lines=(
                rf"\begin{{pmatrix}} {_matrix(found.matrices[pair])} \end{{pmatrix}}"
                rf"\begin{{pmatrix}} {sine:.4f} \\ {cosine:.4f} \end{{pmatrix}} ="
                rf"\begin{{pmatrix}} {turned_sine:.4f} \\ {turned_cosine:.4f} \end{{pmatrix}}",
            ),
        ),
        agreement(
            f"All {dim // 2} pairs were turned: PE({position}) becomes PE({position + offset}), up to rounding. The "
            f"matrices depend on the distance of {offset} positions, not on position {position}.",
            found.error,
            bound=TOLERANCE,
        ),
    )


def _matrix(matrix: Tensor) -> str:
    return r" \\ ".join(" & ".join(f"{number:.4f}" for number in line) for line in matrix.tolist())


def drop_bands(band: str, share: float, position: int, dim: int, base: float, length: int) -> ScreenRows:
    """Whether any two positions have the same vector, and the cosine of neighbours without some of the channels."""
    require_index(position, length, "position", "the text")
    encodings, count = waves(length, dim, base), 2 * round(share * dim / 200)
    bands = {"all channels": slice(0, 0), "without the fast ones": slice(0, count),
             "without the slow ones": slice(dim - count, dim)}  # fmt: skip
    series = {name: similarity_without_band(encodings, position, dropped) for name, dropped in bands.items()}
    neighbour = position + 1 if position + 1 < length else position - 1
    told = ", ".join(f"{float(values[neighbour]):.4f} {name}" for name, values in series.items())
    kept = encodings.clone()
    kept[:, bands[BANDS_DROPPED[band]]] = 0
    return (
        row(
            LinesView(f"Cosine with position {position}", range(length), series, "position", "cosine"),
            question=_ask_of_bands(
                position,
                neighbour,
                series if count else {"all channels": series["all channels"]},
                unique=nearest_positions(encodings).distance > TOLERANCE,
            ),
        ),
        row(
            replace(_heat_map("The rest of the encoding", kept[:SHOWN_POSITIONS]), is_small=True),
            HeatMapView(
                "Distance between each pair of these vectors",
                torch.cdist(kept, kept)[:SHOWN_POSITIONS, :SHOWN_POSITIONS],
                colours="sequential",
                row_axis="position",
                column_axis="position",
                is_small=True,
                note=f"The first {SHOWN_POSITIONS} positions." if length > SHOWN_POSITIONS else "",
            ),
        ),
        _nearest_row("With all channels", encodings),
        *((_nearest_row("With the remaining channels", kept),) if count else ()),
        f"The cosine of position {position} with its neighbour {neighbour}: {told}.",
    )


def _ask_of_bands(position: int, neighbour: int, series: dict[str, Tensor], *, unique: bool) -> Question:
    """Asks without which channels neighbours are most alike, or, if all are kept, whether two positions are equal."""
    if len(series) == 1:
        return ask_whether("Waves repeat. Do two of these positions have the same vector?", not unique)
    return ask_largest(
        f"In which case are position {position} and its neighbour {neighbour} most alike?",
        {name: float(values[neighbour]) for name, values in series.items()},
        {"without the slow ones": "The fast channels, which change from one position to the next, are still there."},
    )


def _nearest_row(what: str, encodings: Tensor) -> Row:
    """Whether any two positions have the same vector, from the distances of all pairs."""
    nearest, count = nearest_positions(encodings), len(encodings)
    unique = nearest.distance > TOLERANCE
    text = (
        f"{what}, of {count * (count - 1) // 2:,} pairs of positions, {nearest.position} and {nearest.other} are the "
        f"nearest: their vectors are {three_digits(nearest.distance)} apart. "
        + ("So every position has its own vector." if unique else "So these two cannot be distinguished.")
    )
    return row(Verdict(text, good=unique))


DIM = CountControl("Channels d", "32", 2.0, 512.0, step=2.0)
BASE = NumberControl("Base", "10000", 2.0, 1_000_000.0)
LENGTH = CountControl("Positions", "64", 8.0, 256.0)
SINUSOIDAL_MODEL = link(fixed={"model": "positions-encoder-sinusoidal"})
FORMULA = (Sinusoidal.formula,)

WAVES = Screen(
    title="Positions as waves",
    lesson="Attention sees a set of tokens, not a sequence, so each position adds a pattern of its own. Here it is "
    "made of waves: the first channels turn fast and distinguish neighbours, the last ones turn slowly and distinguish "
    "the beginning from the end, like the hands of a clock.",
    controls={
        "dim": DIM,
        "base": BASE,
        "other": NumberControl("Another base", "100", 2.0, 1_000_000.0),
        "length": LENGTH,
    },
    compute=show_waves,
    formulas=(*FORMULA, r"10^{4j/d} = (10^2)^{2j/d} = 100^{2j/d} \neq 10000^{2j/d}"),
    code=(sinusoids, waves, wavelengths),
    explore=SINUSOIDAL_MODEL,
    elsewhere={"positions": SINUSOIDAL_MODEL},
)
ROTATION = Screen(
    title="A step is a rotation",
    lesson="Each pair of channels, a sine and a cosine, is like the hand of a clock. Moving on by k positions turns it "
    "by an angle that depends only on k, wherever you start. So PE(p + k) is a linear map of PE(p), and a head can "
    "learn to look k tokens back.",
    controls={
        "position": CountControl("Position p", "7", 0.0, 1_000.0),
        "offset": CountControl("Steps k", "3", -100.0, 100.0),
        "pair": CountControl("Pair of channels shown", "1", 0.0, 63.0),
        "dim": CountControl("Channels d", "16", 2.0, 128.0, step=2.0, even=True),
        "base": BASE,
    },
    compute=show_rotation,
    formulas=(
        r"\begin{pmatrix} \sin \omega(p+k) \\ \cos \omega(p+k) \end{pmatrix} = "
        r"\begin{pmatrix} \cos \omega k & \sin \omega k \\ -\sin \omega k & \cos \omega k \end{pmatrix}"
        r"\begin{pmatrix} \sin \omega p \\ \cos \omega p \end{pmatrix}",
    ),
    code=(rotate, sinusoids),
    explore=SINUSOIDAL_MODEL,
    elsewhere={"positions": SINUSOIDAL_MODEL},
)
BANDS = Screen(
    title="Every position has its own vector",
    lesson="A single wave repeats, so two channels cannot distinguish positions for long; waves of many lengths "
    "together do not repeat within any text. Set a band of them to zero: without the fast channels, neighbours become "
    "nearly the same; without the slow ones, far positions can be as similar as near ones.",
    controls={
        "band": ChoiceControl(
            "Channels set to zero in the pictures below",
            "fast",
            {"fast": "The fast ones, first", "slow": "The slow ones, last"},
        ),
        "share": NumberControl("Share of channels set to zero, %", "50", 0.0, 90.0, step=5.0),
        "position": CountControl("Position to compare with", "32", 0.0, 1_023.0),
        "dim": replace(DIM, high=128.0, even=True),
        "base": BASE,
        "length": CountControl("Positions", "64", 8.0, 1_024.0),
    },
    compute=drop_bands,
    formulas=FORMULA,
    code=(similarity_without_band, nearest_positions, sinusoids),
    explore=SINUSOIDAL_MODEL,
    elsewhere={"positions": SINUSOIDAL_MODEL},
)
