"""Recordings: WAV files in all common encodings, as samples of one channel at any sampling rate."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import ceil, gcd
from pathlib import Path

import numpy as np

from headlight.array_types import Float
from headlight.errors import SoundError

MAX_FILE_BYTES = 2**25  # bytes
MAX_CHUNKS = 1_000  # that are looked at, of a file
BLOCK = 2**20  # samples that are converted at once
EXTENSIBLE = 0xFFFE  # the encoding then follows in the extension
# By encoding (1: PCM, 3: float) and bits.
NUMBER_TYPES = {
    (1, 8): "u1", (1, 16): "<i2", (1, 24): "u1", (1, 32): "<i4", (3, 32): "<f4", (3, 64): "<f8",
}  # fmt: skip
POSSIBLE = "PCM of 8, 16, 24 or 32 bits and floats of 32 or 64 bits are possible. Save it as WAV with 16 bits."
RATES = (4_000, 192_000)  # samples per second
RESAMPLING_MARGIN = 512  # minimum samples of silence at both ends, so that the end does not ring into the start


@dataclass(frozen=True, eq=False)
class Recording:
    """Samples of one channel, from -1 to 1, `rate` of them per second."""

    samples: Float[np.ndarray, " sample"]
    rate: int

    @property
    def seconds(self) -> float:
        """The duration in seconds."""
        return len(self.samples) / self.rate

    def at_rate(self, rate: int) -> Float[np.ndarray, " resampled"]:
        """The same sound at another sampling rate: Fourier transform, cut of too high frequencies, inverse."""
        if rate == self.rate:
            return self.samples
        step = self.rate // gcd(rate, self.rate)  # this many samples give a whole number of new samples
        margin = step * ceil(RESAMPLING_MARGIN / step)
        samples = np.pad(self.samples.astype(np.float64), (margin, margin + -len(self.samples) % step))
        count, start = (length * rate // self.rate for length in (len(samples), margin))
        spectrum = np.fft.rfft(samples)[: count // 2 + 1]
        resampled: np.ndarray = np.fft.irfft(spectrum, count) * (count / len(samples))
        return resampled[start : start + round(len(self.samples) * rate / self.rate)]


@dataclass(frozen=True)
class WavFormat:
    """The format chunk of a WAV file: encoding (1: PCM, 3: float), channels, samples per second and bits."""

    encoding: int
    channels: int
    rate: int
    bits: int


def read_recording(path: str | Path) -> Recording:
    """The sound of a WAV file. Raises SoundError for another file, and for one that is too large."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise SoundError(f"{path} cannot be read: {error.strerror}.") from error
    return decode_recording(raw)


def decode_recording(raw: bytes) -> Recording:
    """The sound of a WAV file, as the mean of its channels; the length is counted, not read from the header.

    Raises SoundError for other files, large ones and empty ones.
    """
    if len(raw) > MAX_FILE_BYTES:
        raise SoundError(f"This sound file is larger than {MAX_FILE_BYTES >> 20} MB; cut out a part of it.")
    if raw[:4] != b"RIFF" or raw[8:12] != b"WAVE":
        raise SoundError("This is not a WAV file. Save the sound as WAV, with 16 bits, and choose that file.")
    chunks = dict(reversed(list(islice(_chunks(raw), MAX_CHUNKS))))  # the first of two with the same name counts
    found = _read_format(chunks.get(b"fmt ", b""))
    return Recording(_read_samples(chunks.get(b"data", b""), found), found.rate)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks with their names, up to the end of the file."""
    place = 12
    while place + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, place)
        yield name, data[place + 8 : place + 8 + size]
        place += 8 + size + size % 2


def _read_format(chunk: bytes) -> WavFormat:
    if len(chunk) < 16:
        raise SoundError("This WAV file does not say how its samples are written. Save it again as WAV with 16 bits.")
    encoding, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", chunk)
    if encoding == EXTENSIBLE and len(chunk) >= 26:
        (encoding,) = struct.unpack_from("<H", chunk, 24)
    if (encoding, bits) not in NUMBER_TYPES:
        raise SoundError(f"This WAV file has samples of {bits} bits in encoding {encoding}. {POSSIBLE}")
    if channels not in (1, 2):
        raise SoundError(f"This WAV file has {channels} channels; 1 or 2 are possible. Save it as mono.")
    if not RATES[0] <= rate <= RATES[1]:
        raise SoundError(
            f"This WAV file has {rate:,} samples per second; from {RATES[0]:,} to {RATES[1]:,} are possible. Save it "
            "with 44,100."
        )
    return WavFormat(encoding, channels, rate, bits)


def _read_samples(chunk: bytes, found: WavFormat) -> Float[np.ndarray, " sample"]:
    """The mean of the channels, from -1 to 1; an incomplete sample at the end is dropped."""
    frame_bytes = found.channels * found.bits // 8
    count = len(chunk) // frame_bytes
    numbers = np.frombuffer(chunk[: count * frame_bytes], NUMBER_TYPES[found.encoding, found.bits])
    if found.bits == 24:  # the sign is in the last of three bytes
        wide = np.zeros((numbers.size // 3, 4), np.uint8)
        wide[:, 1:] = numbers.reshape(-1, 3)
        numbers = wide.view("<i4").ravel()
    if not np.isfinite(numbers).all():
        raise SoundError("This WAV file has samples that are not numbers. Save it again as WAV with 16 bits.")
    samples, frames = np.zeros(count, np.float32), numbers.reshape(-1, found.channels)
    for start in range(0, count, BLOCK):  # in pieces: each number takes eight bytes meanwhile
        values = frames[start : start + BLOCK].astype(np.float64)
        if found.encoding == 1:
            values = values / 128 - 1 if found.bits == 8 else values / 2.0 ** (31 if found.bits > 16 else 15)
        samples[start : start + BLOCK] = np.clip(values, -1, 1).mean(1)
    return samples
