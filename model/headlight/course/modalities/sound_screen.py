"""Sounds of pure tones or recordings, their spectrograms, and attention among the frames of a sound."""

from __future__ import annotations

import re
import wave
from base64 import b64encode
from dataclasses import dataclass, replace
from io import BytesIO
from math import ceil

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.course.attention import NO_WEIGHTS, SHARPNESS, attend_by_similarity
from headlight.course.controls import CountControl, RecordingControl, TextControl
from headlight.course.requirements import require_index
from headlight.course.screen import Screen, ScreenRows
from headlight.errors import InputError, shortened
from headlight.questions.asking import ask_largest
from headlight.sound.recording import decode_recording
from headlight.sound.spectrogram import amplitudes
from headlight.views.forms import bars, shape_text
from headlight.views.kinds import HeatMapView, SoundView, TableView
from headlight.views.rows import row
from headlight.views.words import percent

SAMPLE_RATE = 8_000  # samples a second
SOUND_SAMPLES, FRAME_SAMPLES, HOP = 2_048, 512, 256  # samples of one sound, of one frame, from one frame to the next
FRAMES_PER_SOUND = SOUND_SAMPLES // HOP
FADE_SAMPLES = 64  # samples faded at both ends of a sound, to avoid clicks
LOWEST, HIGHEST = 60.0, 3_800.0  # hertz
MOST_SOUNDS, MOST_TONES = 12, 5
LOUDNESS = 0.6
_NOTE = re.compile(r"([A-Ga-g])([#♯b♭]?)([1-7])")
_SEMITONES = {"C": -9, "D": -7, "E": -5, "F": -4, "G": -2, "A": 0, "B": 2}  # from the A of the same octave


@dataclass(frozen=True)
class Sound:
    """Tones that sound together: their name as written, and their frequencies in hertz."""

    name: str
    frequencies: tuple[float, ...]


def parse_sounds(text: str) -> tuple[Sound, ...]:
    """Sounds one after another, such as "C4, 440, C4+E4+G4". Raises InputError."""
    names = [" ".join(part.split()) for part in re.split(r"[,;\n]", text) if part.strip()]
    if not 2 <= len(names) <= MOST_SOUNDS:
        raise InputError(f"Write 2 to {MOST_SOUNDS} sounds, with commas between; found {len(names)}.")
    return tuple(_parse_sound(name) for name in names)


def _parse_sound(name: str) -> Sound:
    tones = name.split("+")
    if len(tones) > MOST_TONES:
        raise InputError(f"{shortened(name, 30)!r} has {len(tones)} tones; at most {MOST_TONES} may sound together.")
    return Sound(name, tuple(parse_tone(tone.strip()) for tone in tones))


def parse_tone(tone: str) -> float:
    """The frequency in hertz of a note, or of a number. Raises InputError."""
    found = _NOTE.fullmatch(tone)
    if found:
        letter, sign, octave = found.groups()
        semitones = _SEMITONES[letter.upper()] + 12 * (int(octave) - 4)
        semitones += (sign in ("#", "♯")) - (sign in ("b", "♭"))
        frequency = 440.0 * 2 ** (semitones / 12)
    elif re.fullmatch(r"\d{1,5}(\.\d{1,3})?", tone):
        frequency = float(tone)
    else:
        raise InputError(f"{shortened(tone, 20)!r} is not a tone. Write a note (A4, C#5) or hertz (440).")
    if not LOWEST <= frequency <= HIGHEST:
        raise InputError(
            f"{tone} is {frequency:,.0f} Hz; {LOWEST:,.0f} to {HIGHEST:,.0f} Hz are possible at {SAMPLE_RATE:,} "
            "samples per second."
        )
    return frequency


def synthesize(sounds: tuple[Sound, ...]) -> Float[Tensor, " sample"]:
    """The samples, from -1 to 1: each sound is the mean of its sines, faded in and out."""
    seconds = torch.arange(SOUND_SAMPLES, dtype=torch.float64) / SAMPLE_RATE
    ramp = ((torch.arange(SOUND_SAMPLES) + 1) / FADE_SAMPLES).clamp(max=1)
    fade = LOUDNESS * ramp * ramp.flip(0)
    waves = [
        torch.stack([torch.sin(2 * torch.pi * each * seconds) for each in sound.frequencies]).mean(0)
        for sound in sounds
    ]
    return torch.cat([fade * each for each in waves]).float()


def spectrogram(samples: Float[Tensor, "*row sample"]) -> Float[Tensor, "*row frame frequency"]:
    """log(1 + amplitude) of every frequency in every frame: a Fourier transform of each piece, under a Hann window."""
    return amplitudes(samples, FRAME_SAMPLES, HOP).log1p().mT


def frame_of(sound: int) -> int:
    """The frame in the middle of a sound."""
    return sound * FRAMES_PER_SOUND + FRAMES_PER_SOUND // 2 - 1


def sound_of_frames(frames: int) -> tuple[int, ...]:
    """The sound that contains the middle of each frame."""
    return tuple((HOP * frame + FRAME_SAMPLES // 2) // SOUND_SAMPLES for frame in range(frames))


def wav_url(samples: Float[Tensor, " sample"]) -> str:
    """The samples as a 16-bit WAV file in a data URL."""
    file = BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(SAMPLE_RATE)
        written.writeframes((samples.clamp(-1, 1) * 32_767).round().short().numpy().astype("<i2").tobytes())
    return f"data:audio/wav;base64,{b64encode(file.getvalue()).decode()}"


SHORTEST, LONGEST = 2 * SOUND_SAMPLES / SAMPLE_RATE, MOST_SOUNDS * SOUND_SAMPLES / SAMPLE_RATE  # seconds
QUIETEST = 1e-4  # share of full loudness


def hear_recording(data: bytes) -> Float[Tensor, " sample"]:
    """The sound of a WAV file: one channel, SAMPLE_RATE samples a second, from -LOUDNESS to LOUDNESS.

    Silence at its end fills up a multiple of SOUND_SAMPLES. Raises SoundError for other files, InputError for sounds
    that are too short, too long or silent.
    """
    recording = decode_recording(data)
    if not SHORTEST <= recording.seconds <= LONGEST:
        raise InputError(
            f"This sound takes {recording.seconds:.2f} seconds; {SHORTEST:.2f} to {LONGEST:.2f} are allowed. "
            f"{'Cut out a part of it.' if recording.seconds > LONGEST else 'Choose a longer one.'}"
        )
    resampled = torch.from_numpy(recording.at_rate(SAMPLE_RATE)).float()
    loudest = resampled.abs().max()
    if loudest < QUIETEST:
        raise InputError("This sound is silent. Record it louder, or choose another file.")
    padding = -len(resampled) % SOUND_SAMPLES
    return torch.nn.functional.pad(LOUDNESS * resampled / loudest, (0, padding))


def pieces_of(samples: Float[Tensor, " sample"]) -> tuple[Sound, ...]:
    """The pieces of a recording as sounds, named by their start times; their tones are unknown."""
    seconds = SOUND_SAMPLES / SAMPLE_RATE
    return tuple(Sound(f"{seconds * piece:.2f} s", ()) for piece in range(len(samples) // SOUND_SAMPLES))


OWN_SOUND = (
    "Your sound is cut into pieces of a quarter of a second, named by their start times. Frames of the same "
    "frequencies are vectors of the same direction, so attention finds repeated vowels, notes or noises."
)
NEARLY_ALL = 0.99
MOST_ROWS = 48  # rows of a spectrogram
ROOM_ABOVE = 1.25  # factor on the highest tone, for the upper end of the spectrogram


def show_sound(
    sounds: str, asked: int, sharpness: float, recording: Float[Tensor, " sample"] | None = None
) -> ScreenRows:
    """The sounds to hear, their spectrogram, and attention among its frames. A recording replaces the tones."""
    heard = parse_sounds(sounds) if recording is None else pieces_of(recording)
    if recording is not None:
        asked = min(asked, len(heard))  # a short file may have fewer pieces than the slider's value
    require_index(asked, len(heard), "sound", "your line", first=1)
    samples = synthesize(heard) if recording is None else recording
    frames = spectrogram(samples)
    head = attend_by_similarity(frames, sharpness)
    query = frame_of(asked - 1)
    shares = sum_by_sound(head.weights[query], len(heard))
    labels = tuple(f"{number}. {sound.name}" for number, sound in enumerate(heard, 1))
    return (
        row(
            SoundView(title=f"{len(samples) / SAMPLE_RATE:.1f} seconds to hear", source=wav_url(samples)),
            _table(samples, frames, head.weights),
        ),
        _draw_spectrogram(heard, frames),
        row(
            bars(f"Where sound {asked}, {heard[asked - 1].name}, looks", labels, shares, name="weight", digits=3),
            HeatMapView(
                "All frames",
                head.weights,
                row_axis="query frame",
                column_axis="key frame",
                colours="sequential",
                row_groups=FRAMES_PER_SOUND,
                column_groups=FRAMES_PER_SOUND,
                is_small=True,
            ),
            title=f"Attention among the frames, and from frame {query}, the middle of sound {asked}",
            text=NO_WEIGHTS,
            question=ask_largest(
                f"Which sound will {heard[asked - 1].name} look at least?",
                dict(zip(labels, shares.tolist(), strict=True)),
                least=True,
            ),
        ),
        describe_shares(heard, asked - 1, shares) if recording is None else OWN_SOUND,
    )


def sum_by_sound(weights: Float[Tensor, " frame"], count: int) -> Float[Tensor, " sound"]:
    """The weight that one frame gives to the frames of each sound."""
    return torch.zeros(count).index_add(0, torch.tensor(sound_of_frames(len(weights))), weights)


def describe_shares(heard: tuple[Sound, ...], asked: int, shares: Float[Tensor, " sound"]) -> str:
    """The weights on the same sound elsewhere, on sounds with a common tone, and on the others."""
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
    said = [f"{percent(shares[members].sum(), 0)} {name}" for name, members in groups.items() if members]
    return (
        f"The weight of {heard[asked].name} falls: {', '.join(said)}. Attention knows nothing about tones: frames with "
        "the same frequencies are vectors of the same direction."
    )


def _table(samples: Tensor, frames: Tensor, weights: Tensor) -> TableView:
    return TableView(
        ("value", "shape", "axes"),
        (
            ("sound", shape_text(samples.shape), "samples"),
            ("sequence", shape_text(frames.shape), "frames × frequencies"),
            ("attention weights", shape_text(weights.shape), "queries × keys"),
        ),
        title="Shapes",
    )


def highest_frequency(heard: tuple[Sound, ...], frames: Float[Tensor, "frame frequency"]) -> float:
    """The highest tone, in hertz; for a recording, the frequency below which nearly all of its energy lies."""
    energy = frames.expm1().square().sum(0).cumsum(0)
    loudest = SAMPLE_RATE / FRAME_SAMPLES * int((energy < NEARLY_ALL * energy[-1]).sum())
    return max((tone for sound in heard for tone in sound.frequencies), default=max(loudest, LOWEST))


def _draw_spectrogram(heard: tuple[Sound, ...], frames: Tensor) -> HeatMapView:
    """The frames as columns, with low frequencies at the bottom, up to somewhat above the highest; some share a row."""
    spacing = SAMPLE_RATE / FRAME_SAMPLES
    shown = min(ceil(ROOM_ABOVE * highest_frequency(heard, frames) / spacing) + 1, frames.shape[1])
    step = ceil(shown / MOST_ROWS)
    values = torch.stack([part.amax(1) for part in torch.split(frames[:, :shown], step, 1)])
    return HeatMapView(
        f"Spectrogram: each column is a frame, a vector of {frames.shape[1]} frequencies",
        values.flip(0),
        rows=tuple(f"{spacing * step * number:.0f} Hz" for number in reversed(range(len(values)))),
        columns=tuple(map(str, range(len(frames)))),
        column_axis="frame",
        colours="sequential",
        column_groups=FRAMES_PER_SOUND,
    )


SOUND = Screen(
    title="A sound is a sequence of frames",
    lesson="Cut a sound into short overlapping pieces and measure how strong each frequency is in each piece: the "
    "spectrogram is a sequence of vectors. Write notes or hertz with commas between them, and + between tones that "
    "sound together, or choose a recording. The chord looks at itself, and then at its own notes.",
    controls={
        "sounds": TextControl("Sounds", "C4, E4, G4, C4, C4+E4+G4, A4", longest=240),
        "asked": CountControl("Query sound (1 is the first)", "5", 1, MOST_SOUNDS),
        "sharpness": replace(SHARPNESS, default="2"),
        "recording": RecordingControl(title="Or your own sound, as a WAV file of at most 3 seconds"),
    },
    compute=show_sound,
    formulas=(r"x_t = \ln(1 + |\mathrm{DFT}(w \cdot s_t)|)",),
    code=(spectrogram, amplitudes, synthesize, attend_by_similarity, hear_recording),
)
