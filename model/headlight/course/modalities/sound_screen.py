"""Attention among the frames of a spectrogram: what sounds alike finds itself again."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.course.controls import NumberControl, RecordingControl, TextControl
from headlight.course.modalities.patches import shape_text
from headlight.course.modalities.recording import decode_recording, pieces_of
from headlight.course.modalities.similarity import NO_WEIGHTS, SHARPNESS, attend_by_similarity
from headlight.course.modalities.sound import (
    FRAME_SAMPLES,
    FRAMES_PER_SOUND,
    LOWEST,
    MOST_SOUNDS,
    SAMPLE_RATE,
    Sound,
    frame_of,
    parse_sounds,
    sound_of_frames,
    spectrogram,
    synthesize,
    wav_url,
)
from headlight.course.pictures import (
    BarsPicture,
    HeatMapPicture,
    SoundPicture,
    TablePicture,
    row,
    verdict_row,
)
from headlight.course.questions import ask_largest
from headlight.course.screen import Answer, Screen
from headlight.errors import InputError

OWN_SOUND = (
    "Your sound is cut into pieces of a quarter of a second, named by when they begin. Frames of the same frequencies "
    "are vectors of the same direction: a vowel, a note or a noise that comes again is found again."
)
NEARLY_ALL = 0.99
MOST_ROWS = 48  # of a spectrogram
ROOM_ABOVE = 1.25  # of the highest tone, as far as the spectrogram is drawn


def show_sound(sounds: str, asked: int, sharpness: float, recording: Float[Tensor, " sample"] | None = None) -> Answer:
    """The sounds to hear, their spectrogram, and attention among its frames. A recording takes the place of tones."""
    heard = parse_sounds(sounds) if recording is None else pieces_of(recording)
    if recording is not None:
        asked = min(asked, len(heard))  # a shorter file may have fewer pieces than the slider says
    if asked > len(heard):
        raise InputError(f"There is no sound {asked}: you wrote {len(heard)}.")
    samples = synthesize(heard) if recording is None else recording
    frames = spectrogram(samples)
    head = attend_by_similarity(frames, sharpness)
    query = frame_of(asked - 1)
    shares = sum_by_sound(head.weights[query], len(heard))
    labels = tuple(f"{number}. {sound.name}" for number, sound in enumerate(heard, 1))
    return (
        row(
            SoundPicture(title=f"{len(samples) / SAMPLE_RATE:.1f} seconds to hear", source=wav_url(samples)),
            _table(samples, frames, head.weights),
        ),
        row(_draw_spectrogram(heard, frames)),
        row(
            BarsPicture(
                title=f"Where sound {asked}, {heard[asked - 1].name}, looks",
                labels=labels,
                series={"weight": shares},
                digits=3,
            ),
            HeatMapPicture(
                title="All frames",
                values=head.weights,
                row_axis="query frame",
                column_axis="key frame",
                colours="positive",
                row_groups=FRAMES_PER_SOUND,
                column_groups=FRAMES_PER_SOUND,
                is_small=True,
            ),
            title=f"Attention among the frames, and of frame {query}, the middle of sound {asked}",
            text=NO_WEIGHTS,
            question=ask_largest(
                f"Which sound will {heard[asked - 1].name} look at least?",
                dict(zip(labels, shares.tolist(), strict=True)),
                least=True,
            ),
        ),
        verdict_row(describe_shares(heard, asked - 1, shares) if recording is None else OWN_SOUND),
    )


def sum_by_sound(weights: Float[Tensor, " frame"], count: int) -> Float[Tensor, " sound"]:
    """How much of a frame's weight falls on the frames of each sound."""
    return torch.zeros(count).index_add(0, torch.tensor(sound_of_frames(len(weights))), weights)


def describe_shares(heard: tuple[Sound, ...], asked: int, shares: Float[Tensor, " sound"]) -> str:
    """What was found: the same sound again, and what has a tone in common with it."""
    own = set(heard[asked].frequencies)
    groups = {
        "on itself": [asked],
        "on the same sound elsewhere": [
            at for at, each in enumerate(heard) if at != asked and set(each.frequencies) == own
        ],
        "on sounds that share a tone with it": [
            at for at, each in enumerate(heard) if set(each.frequencies) != own and own & set(each.frequencies)
        ],
        "on the others": [at for at, each in enumerate(heard) if not own & set(each.frequencies)],
    }
    said = [f"{float(shares[members].sum()):.0%} {name}" for name, members in groups.items() if members]
    return (
        f"The weight of {heard[asked].name} falls: {', '.join(said)}. Attention was not told what a tone is: frames "
        "with the same frequencies are vectors of the same direction."
    )


def _table(samples: Tensor, frames: Tensor, weights: Tensor) -> TablePicture:
    return TablePicture(
        title="Shapes",
        columns=("value", "shape", "axes"),
        rows=(
            ("sound", shape_text(samples.shape), "samples"),
            ("sequence", shape_text(frames.shape), "frames × frequencies"),
            ("attention weights", shape_text(weights.shape), "queries × keys"),
        ),
    )


def highest_frequency(heard: tuple[Sound, ...], frames: Float[Tensor, "frame frequency"]) -> float:
    """The highest tone, in hertz; of a recording the frequency below which nearly all of its energy lies."""
    energy = frames.expm1().square().sum(0).cumsum(0)
    loudest = SAMPLE_RATE / FRAME_SAMPLES * int((energy < NEARLY_ALL * energy[-1]).sum())
    return max((tone for sound in heard for tone in sound.frequencies), default=max(loudest, LOWEST))


def _draw_spectrogram(heard: tuple[Sound, ...], frames: Tensor) -> HeatMapPicture:
    """The frames as columns, low frequencies at the bottom, up to somewhat above the highest; some share a row."""
    spacing = SAMPLE_RATE / FRAME_SAMPLES
    shown = min(ceil(ROOM_ABOVE * highest_frequency(heard, frames) / spacing) + 1, frames.shape[1])
    step = ceil(shown / MOST_ROWS)
    values = torch.stack([part.amax(1) for part in torch.split(frames[:, :shown], step, 1)])
    return HeatMapPicture(
        title=f"Spectrogram: each column is a frame, a vector of {frames.shape[1]} frequencies",
        values=values.flip(0),
        rows=tuple(f"{spacing * step * number:.0f} Hz" for number in reversed(range(len(values)))),
        columns=tuple(map(str, range(len(frames)))),
        column_axis="frame",
        colours="positive",
        column_groups=FRAMES_PER_SOUND,
    )


SOUND = Screen(
    title="A sound is a sequence of frames",
    lesson="Cut a sound into short overlapping pieces and measure how strong each frequency is in each piece: the "
    "spectrogram is a sequence of vectors. Write notes or hertz with commas between them, and + for what sounds "
    "together, or choose a recording. The chord looks at itself, and then at its own notes.",
    controls={
        "sounds": TextControl(title="Sounds", default="C4, E4, G4, C4, C4+E4+G4, A4", longest=240),
        "asked": NumberControl(
            title="Sound that asks (1 is the first)", default="5", low=1, high=MOST_SOUNDS, whole=True
        ),
        "sharpness": replace(SHARPNESS, default="2"),
        "recording": RecordingControl(title="Or your own sound, as a WAV file of at most 3 seconds"),
    },
    compute=show_sound,
    formulas=(r"x_t = \ln(1 + |\mathrm{DFT}(w \cdot s_t)|)",),
    code=(spectrogram, synthesize, attend_by_similarity, decode_recording),
)
