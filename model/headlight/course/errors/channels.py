"""The index j of the sinusoid: it counts pairs of channels, and frequency belongs to the channel."""

from __future__ import annotations

import torch

from headlight.array_types import Float
from headlight.course.controls import CountControl
from headlight.course.positions.waves import wavelengths, waves
from headlight.course.screen import Screen, ScreenRows
from headlight.nn.positional_encodings import SINUSOIDAL_BASE, Sinusoidal, sinusoids
from headlight.questions.asking import ask_number
from headlight.views.forms import agreement
from headlight.views.kinds import BarsView, LinesView, MatrixView, TableView
from headlight.views.rows import fold, row
from headlight.views.words import digits

STILL = 0.1  # a channel that changes by less within a text does not distinguish positions
SHOWN_ROWS, SHOWN_CHANNELS = 6, 4


def read_as_channels(length: int, d_model: int) -> Float[torch.Tensor, "pos d_model"]:
    """The encodings with j taken for the channel: channel c divides positions by base^(2c/d), not its pair's."""
    # With twice as many channels, the index of a pair is that of one channel here.
    twice = waves(length, 2 * d_model, SINUSOIDAL_BASE**2)
    sines, cosines = twice[:, 0::2], twice[:, 1::2]
    return torch.where(torch.arange(d_model) % 2 == 0, sines, cosines)


def channel_numbers(d_model: int, length: int) -> ScreenRows:
    """What j counts, where positions begin, and which channels are fast."""
    return (*_pair_numbers(d_model, length), *fold(*_first_position(length, d_model), *_fast_channels(d_model, length)))


def _pair_numbers(d_model: int, length: int) -> ScreenRows:
    """Wavelengths if j counts pairs, and if it is taken for the channel."""
    right, wrong = waves(length, d_model, SINUSOIDAL_BASE), read_as_channels(length, d_model)
    by_pair = wavelengths(d_model, SINUSOIDAL_BASE).repeat_interleave(2)
    by_channel = wavelengths(2 * d_model, SINUSOIDAL_BASE**2)
    still = {name: int((each.amax(0) - each.amin(0) < STILL).sum()) for name, each in (("j", right), ("c", wrong))}
    shown = sorted({*range(min(4, d_model)), d_model // 2, d_model - 1})
    return (
        row(
            LinesView(
                "Wavelength of each channel",
                range(d_model),
                {"j counts pairs": by_pair, "j taken for the channel": by_channel},
                "channel",
                "positions",
                log_y=True,
            ),
            TableView(
                ("channel", "its pair j", "j counts pairs", "j taken for the channel"),
                tuple((str(c), str(c // 2), f"{by_pair[c]:,.1f}", f"{by_channel[c]:,.1f}") for c in shown),
                title="Positions until a channel's wave repeats",
            ),
            question=ask_number(
                f"Which j does channel {d_model - 1}, the last one, have?",
                d_model // 2 - 1,
                (d_model - 1, "That is the channel; j counts pairs."),
                (d_model // 2, "Pairs are counted from 0."),
            ),
        ),
        f"If j is taken for the channel, the longest wave is {by_channel[-1]:,.0f} positions instead of "
        f"{by_pair[-1]:,.0f}. Within {length} tokens {still['c']} of {d_model} channels then hardly move (by less than "
        f"{digits(STILL, 1)}), but only {still['j']} should.",
    )


def _first_position(length: int, d_model: int) -> ScreenRows:
    from_0, from_1 = waves(length, d_model, SINUSOIDAL_BASE), waves(length + 1, d_model, SINUSOIDAL_BASE)[1:]
    moved = float((from_0 - from_1).abs().max())
    distances = torch.cdist(from_0, from_0)
    apart = float((distances - torch.cdist(from_1, from_1)).abs().max())
    names = tuple(f"token {number}" for number in range(1, min(length, SHOWN_ROWS) + 1))
    return (
        row(
            *(
                MatrixView(
                    title,
                    encoding[:SHOWN_ROWS, :SHOWN_CHANNELS],
                    rows=names,
                    column_axis="channel",
                    columns=tuple(map(str, range(min(d_model, SHOWN_CHANNELS)))),
                )
                for title, encoding in (("Positions from 0", from_0), ("Positions from 1", from_1))
            ),
            title="The first token is at position 0, even if a text counts its tokens from 1",
            text=f"{len(names)} of {length} tokens, {min(d_model, SHOWN_CHANNELS)} of {d_model} channels.",
        ),
        f"Counted from 1, a number changes by up to {moved:.2f}, and the first vector is not 0, 1, 0, 1. "
        + agreement(
            "The distances between positions stay the same, up to rounding: a model can be trained with either count, "
            "but must then be used with the same one.",
            apart,
            distances.max(),
        ).text,
    )


def sign_changes(encodings: Float[torch.Tensor, "pos d_model"]) -> torch.Tensor:
    """How often each channel crosses 0."""
    return (encodings[1:].sign() * encodings[:-1].sign() < 0).sum(0)


def _fast_channels(d_model: int, length: int) -> ScreenRows:
    """The number of zero crossings of the channels in the first and in the second half of the positions."""
    encodings = waves(length, d_model, SINUSOIDAL_BASE)
    halves = sign_changes(encodings[: length // 2]), sign_changes(encodings[-(length // 2) :])
    shown = sorted({2 * round(share * (d_model // 2 - 1) / 4) + 1 for share in range(5)})
    first, last = shown[0], shown[-1]
    return (
        row(
            LinesView(
                "One of the first channels, and one of the last",
                range(length),
                {f"channel {channel}": encodings[:, channel] for channel in (first, last)},
                "position",
                "value",
            ),
            BarsView(
                title="How often a channel crosses zero in each half of the text",
                labels=tuple(f"channel {channel}" for channel in shown),
                series={
                    name: half[shown].tolist() for name, half in zip(("first half", "second half"), halves, strict=True)
                },
                digits=0,
            ),
            title="The first channels are fast, not the first positions",
        ),
        f"Channel {first} crosses zero {int(halves[0][first])} times in the first half of the text and "
        f"{int(halves[1][first])} times in the second; channel {last} {int(halves[0][last])} and "
        f"{int(halves[1][last])} times. Channels are fast or slow, not positions: late tokens differ from their "
        "neighbours as much as early ones.",
    )


PAIRS = Screen(
    title="What does j count, and which channels are fast?",
    lesson="In the formula i is the position, from 0, and j is often said to be the channel. But j counts pairs: the "
    "channels 2j and 2j + 1 share one wave. (The paper writes pos for our i, and i for our j.)",
    controls={
        "d_model": CountControl("Channels d", "512", 4, 1024, step=2),
        "length": CountControl("Tokens", "100", 8, 1000),
    },
    compute=channel_numbers,
    formulas=(Sinusoidal.formula, r"\lambda_j = 2 \pi \cdot 10000^{2j/d}"),
    code=(sinusoids, read_as_channels, wavelengths, sign_changes),
)
