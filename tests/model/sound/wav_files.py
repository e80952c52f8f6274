"""WAV files as other programs write them."""

import struct

import numpy as np

from headlight.sound.recording import Recording


def wav_file(encoding: int, bits: int, channels: int, rate: int, body: bytes, said: int | None = None) -> bytes:
    """A WAV file; `said` is the length stated in its header."""
    form = struct.pack("<HHIIHH", encoding, channels, rate, rate * channels * bits // 8, channels * bits // 8, bits)
    size = len(body) if said is None else said
    chunks = b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", size) + body
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def tone(rate: int, hertz: float = 440.0, seconds: float = 1.0) -> np.ndarray:
    """A sine wave."""
    found: np.ndarray = 0.5 * np.sin(2 * np.pi * hertz * np.arange(round(rate * seconds)) / rate)
    return found


def encoded(samples: np.ndarray, encoding: int, bits: int) -> bytes:
    """Samples in the encoding of the file."""
    if encoding == 3:
        return samples.astype("<f4").tobytes()
    if bits == 8:
        return (np.round(samples * 127) + 128).astype("u1").tobytes()
    whole = np.round(samples * (2 ** (bits - 1) - 1)).astype("<i4")
    return bytes(whole.view("u1").reshape(-1, 4)[:, : bits // 8])


def wav(recording: Recording) -> bytes:
    """A recording as a WAV file of 16 bits."""
    return wav_file(1, 16, 1, recording.rate, encoded(recording.samples, 1, 16))
