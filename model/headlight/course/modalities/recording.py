"""A sound of the learner's own: a WAV file as the samples that the screens hear."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.course.modalities.sound import LOUDNESS, MOST_SOUNDS, SAMPLE_RATE, SOUND_SAMPLES, Sound
from headlight.errors import InputError

EXTENSIBLE = 0xFFFE  # the encoding then stands further back
NUMBER_TYPES = {(1, 8): "u1", (1, 16): "<i2", (1, 24): "u1", (1, 32): "<i4", (3, 32): "<f4"}  # by encoding and bits
POSSIBLE = "PCM of 8, 16, 24 or 32 bits and floats of 32 bits are possible. Save it as WAV with 16 bits."
RATES = (4_000, 192_000)  # samples a second
SHORTEST, LONGEST = 2 * SOUND_SAMPLES / SAMPLE_RATE, MOST_SOUNDS * SOUND_SAMPLES / SAMPLE_RATE  # seconds
QUIETEST = 1e-4  # of full loudness


@dataclass(frozen=True)
class WavFormat:
    """What a WAV file says of its samples: their encoding (1: PCM, 3: floats), channels, samples a second and bits."""

    encoding: int
    channels: int
    rate: int
    bits: int


def decode_recording(data: bytes) -> Float[Tensor, " sample"]:
    """The sound of a WAV file: one channel, SAMPLE_RATE samples a second, from -LOUDNESS to LOUDNESS.

    It ends with silence, so that it is some whole pieces of SOUND_SAMPLES. The length is counted, not
    taken from the header. Raises InputError for other files, and for sounds that are too short, too long or silent.
    """
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise InputError("This is not a WAV file. Save the sound as WAV, with 16 bits, and choose that file.")
    chunks = dict(reversed(list(_chunks(data))))  # of two chunks of a name the first counts
    found = _read_format(chunks.get(b"fmt ", b""))
    samples = _read_samples(chunks.get(b"data", b""), found)
    resampled = torch.from_numpy(resample(samples, found.rate)).float()
    loudest = resampled.abs().max()
    if loudest < QUIETEST:
        raise InputError("This sound is silent. Record it louder, or choose another file.")
    padding = -len(resampled) % SOUND_SAMPLES
    return torch.nn.functional.pad(LOUDNESS * resampled / loudest, (0, padding))


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks with their names, as far as the file goes."""
    place = 12
    while place + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, place)
        yield name, data[place + 8 : place + 8 + size]
        place += 8 + size + size % 2


def _read_format(chunk: bytes) -> WavFormat:
    if len(chunk) < 16:
        raise InputError("This WAV file does not say how its samples are written. Save it anew as WAV with 16 bits.")
    encoding, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", chunk)
    if encoding == EXTENSIBLE and len(chunk) >= 26:
        (encoding,) = struct.unpack_from("<H", chunk, 24)
    if (encoding, bits) not in NUMBER_TYPES:
        raise InputError(f"This WAV file has samples of {bits} bits in encoding {encoding}. {POSSIBLE}")
    if channels not in (1, 2):
        raise InputError(f"This WAV file has {channels} channels; 1 or 2 are possible. Save it as mono.")
    if not RATES[0] <= rate <= RATES[1]:
        raise InputError(
            f"This WAV file has {rate:,} samples a second; from {RATES[0]:,} to {RATES[1]:,} are possible. Save it "
            "with 44,100."
        )
    return WavFormat(encoding, channels, rate, bits)


def _read_samples(chunk: bytes, found: WavFormat) -> Float[np.ndarray, " sample"]:
    """The mean of the channels, from -1 to 1; what is left of a broken sample at the end is dropped."""
    frame_bytes = found.channels * found.bits // 8
    count = len(chunk) // frame_bytes
    seconds = count / found.rate
    if not SHORTEST <= seconds <= LONGEST:
        raise InputError(
            f"This sound takes {seconds:.2f} seconds; from {SHORTEST:.2f} to {LONGEST:.2f} are possible. "
            f"{'Cut out a part of it.' if seconds > LONGEST else 'Choose a longer one.'}"
        )
    numbers = np.frombuffer(chunk[: count * frame_bytes], NUMBER_TYPES[found.encoding, found.bits])
    if found.bits == 24:  # the sign stands in the last of three bytes
        wide = np.zeros((numbers.size // 3, 4), np.uint8)
        wide[:, 1:] = numbers.reshape(-1, 3)
        numbers = wide.view("<i4").ravel()
    if not np.isfinite(numbers).all():
        raise InputError("This WAV file has samples that are not numbers. Save it anew as WAV with 16 bits.")
    values = numbers.astype(np.float64)
    if found.encoding == 1:
        values = values / 128 - 1 if found.bits == 8 else values / 2.0 ** (31 if found.bits > 16 else 15)
    mixed: np.ndarray = np.clip(values, -1, 1).reshape(-1, found.channels).mean(1)
    return mixed


def resample(samples: Float[np.ndarray, " sample"], rate: int) -> Float[np.ndarray, " resampled"]:
    """The same sound with SAMPLE_RATE samples a second: its Fourier transform without what is too high, and back."""
    count = round(len(samples) * SAMPLE_RATE / rate)
    spectrum = np.fft.rfft(samples)[: count // 2 + 1]
    resampled: np.ndarray = np.fft.irfft(spectrum, count) * (count / len(samples))
    return resampled


def pieces_of(samples: Float[Tensor, " sample"]) -> tuple[Sound, ...]:
    """The pieces of a recording as sounds, named by when they begin; their tones are unknown."""
    seconds = SOUND_SAMPLES / SAMPLE_RATE
    return tuple(Sound(f"{seconds * piece:.2f} s", ()) for piece in range(len(samples) // SOUND_SAMPLES))
