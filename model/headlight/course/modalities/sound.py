"""Sounds made of pure tones, and their spectrograms: a vector for each moment."""

from __future__ import annotations

import re
import wave
from base64 import b64encode
from dataclasses import dataclass
from io import BytesIO

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.errors import InputError, shortened

SAMPLE_RATE = 8_000  # samples a second
SOUND_SAMPLES, FRAME_SAMPLES, HOP = 2_048, 512, 256  # of one sound, of one frame, from one frame to the next
FRAMES_PER_SOUND = SOUND_SAMPLES // HOP
FADE_SAMPLES = 64  # at both ends of a sound, so that it does not click
LOWEST, HIGHEST = 60.0, 3_800.0  # hertz
MOST_SOUNDS, MOST_TONES = 12, 5
LOUDNESS = 0.6
_NOTE = re.compile(r"([A-Ga-g])([#♯b♭]?)([1-7])")
_SEMITONES = {"C": -9, "D": -7, "E": -5, "F": -4, "G": -2, "A": 0, "B": 2}  # from the A of the same octave


@dataclass(frozen=True)
class Sound:
    """Tones that sound together: how they are written, and their frequencies in hertz."""

    name: str
    frequencies: tuple[float, ...]


def parse_sounds(text: str) -> tuple[Sound, ...]:
    """Sounds one after another, such as "C4, 440, C4+E4+G4". Raises InputError."""
    names = [" ".join(part.split()) for part in re.split(r"[,;\n]", text) if part.strip()]
    if not 2 <= len(names) <= MOST_SOUNDS:
        raise InputError(f"From 2 to {MOST_SOUNDS} sounds are possible, with commas between; found {len(names)}.")
    return tuple(_parse_sound(name) for name in names)


def _parse_sound(name: str) -> Sound:
    tones = name.split("+")
    if len(tones) > MOST_TONES:
        raise InputError(f"{shortened(name, 30)!r} has {len(tones)} tones; at most {MOST_TONES} sound together.")
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
            f"{tone} is {frequency:,.0f} Hz; from {LOWEST:g} to {HIGHEST:,g} Hz are possible at {SAMPLE_RATE:,} "
            "samples a second."
        )
    return frequency


def synthesize(sounds: tuple[Sound, ...]) -> Float[Tensor, " sample"]:
    """The samples, from -1 to 1: of each sound the mean of its sines, faded in and out."""
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
    window = torch.hann_window(FRAME_SAMPLES)
    transformed = torch.stft(samples, FRAME_SAMPLES, HOP, window=window, center=False, return_complex=True)
    return transformed.abs().log1p().mT


def frame_of(sound: int) -> int:
    """The frame in the middle of a sound."""
    return sound * FRAMES_PER_SOUND + FRAMES_PER_SOUND // 2 - 1


def sound_of_frames(frames: int) -> tuple[int, ...]:
    """The sound in which the middle of each frame lies."""
    return tuple((HOP * frame + FRAME_SAMPLES // 2) // SOUND_SAMPLES for frame in range(frames))


def wav_url(samples: Float[Tensor, " sample"]) -> str:
    """The samples as a WAV file of 16 bits in a data URL."""
    file = BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(SAMPLE_RATE)
        written.writeframes((samples.clamp(-1, 1) * 32_767).round().short().numpy().astype("<i2").tobytes())
    return f"data:audio/wav;base64,{b64encode(file.getvalue()).decode()}"
