"""Spectrograms: the amplitude of each frequency in each short window of a sound, also in mel bins."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from headlight.array_types import Float

# The mel scale of Slaney 1998 (Auditory Toolbox): linear up to BREAK, logarithmic above.
HERTZ_PER_MEL, BREAK = 200 / 3, 1_000.0
MELS_AT_BREAK, MELS_PER_LOG = BREAK / HERTZ_PER_MEL, 27 / np.log(6.4)
HIGHEST = 8_000.0  # hertz
QUIETEST, RANGE = 1e-10, 8.0  # smallest power, and the dynamic range below the loudest bin, in powers of ten


def amplitudes(
    samples: Float[Tensor, "*row sample"], window: int, hop: int, centred: bool = False
) -> Float[Tensor, "*row frequency frame"]:
    """The amplitude of every frequency in every frame, by a Fourier transform with a Hann window.

    Frames start `hop` samples apart; if `centred`, the first is centred on the first sample.
    """
    hann = torch.hann_window(window, device=samples.device)
    return torch.stft(samples, window, hop, window=hann, center=centred, return_complex=True).abs()


def log_mel_spectrogram(
    samples: Float[Tensor, " sample"], rate: int, bins: int, window: int, hop: int
) -> Float[Tensor, "bin frame"]:
    """The logarithm of the power in each mel bin, at most RANGE below the loudest, shifted and scaled to about -1 to 1.

    Whisper reads this (Radford et al. 2022, section 2.2).
    """
    power = (amplitudes(samples, window, hop, centred=True)[:, :-1] ** 2).contiguous()
    filters = torch.from_numpy(mel_filters(rate, bins, window)).float()
    logarithms = (filters.T @ power).clamp(min=QUIETEST).log10()
    return (logarithms.maximum(logarithms.max() - RANGE) + 4) / 4


def mel_filters(rate: int, bins: int, window: int) -> Float[np.ndarray, "frequency bin"]:
    """The weight of each frequency in each mel bin: triangles of equal area, evenly spaced on the mel scale."""
    mels = np.linspace(0, MELS_AT_BREAK + np.log(HIGHEST / BREAK) * MELS_PER_LOG, bins + 2)
    above = BREAK * np.exp((mels - MELS_AT_BREAK) / MELS_PER_LOG)
    corners = np.where(mels < MELS_AT_BREAK, mels * HERTZ_PER_MEL, above)
    low, middle, high = corners[:-2], corners[1:-1], corners[2:]
    frequencies = np.linspace(0, rate // 2, window // 2 + 1)[:, None]
    triangles = np.minimum((frequencies - low) / (middle - low), (high - frequencies) / (high - middle))
    filters: np.ndarray = np.maximum(triangles, 0) * 2 / (high - low)
    return filters
