"""Spectrograms: how strong each frequency is in each short piece of a sound, and the same in mel bins."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from headlight.array_types import Float

# The mel scale of Slaney 1998 (Auditory Toolbox): even up to BREAK, by equal factors above.
HERTZ_PER_MEL, BREAK = 200 / 3, 1_000.0
MELS_AT_BREAK, MELS_PER_LOG = BREAK / HERTZ_PER_MEL, 27 / np.log(6.4)
HIGHEST = 8_000.0  # hertz
QUIETEST, RANGE = 1e-10, 8.0  # of power, and how far below the loudest bin a bin can be, in powers of ten


def amplitudes(
    samples: Float[Tensor, "*row sample"], window: int, hop: int, centred: bool = False
) -> Float[Tensor, "*row frequency frame"]:
    """The amplitude of every frequency in every frame: a Fourier transform of each piece, under a Hann window.

    Frames begin `hop` samples apart; where they are `centred` the first has its middle at the first sample.
    """
    hann = torch.hann_window(window, device=samples.device)
    return torch.stft(samples, window, hop, window=hann, center=centred, return_complex=True).abs()


def log_mel_spectrogram(
    samples: Float[Tensor, " sample"], rate: int, bins: int, window: int, hop: int
) -> Float[Tensor, "bin frame"]:
    """The logarithm of the power in each mel bin, at most RANGE below the loudest, shifted and scaled to about -1 to 1.

    This is what Whisper reads (Radford et al. 2022, section 2.2).
    """
    power = (amplitudes(samples, window, hop, centred=True)[:, :-1] ** 2).contiguous()
    filters = torch.from_numpy(mel_filters(rate, bins, window)).float()
    logarithms = (filters.T @ power).clamp(min=QUIETEST).log10()
    return (logarithms.maximum(logarithms.max() - RANGE) + 4) / 4


def mel_filters(rate: int, bins: int, window: int) -> Float[np.ndarray, "frequency bin"]:
    """How much of each frequency belongs to each bin: triangles, evenly spaced on the mel scale, of equal area."""
    mels = np.linspace(0, MELS_AT_BREAK + np.log(HIGHEST / BREAK) * MELS_PER_LOG, bins + 2)
    above = BREAK * np.exp((mels - MELS_AT_BREAK) / MELS_PER_LOG)
    corners = np.where(mels < MELS_AT_BREAK, mels * HERTZ_PER_MEL, above)
    low, middle, high = corners[:-2], corners[1:-1], corners[2:]
    frequencies = np.linspace(0, rate // 2, window // 2 + 1)[:, None]
    triangles = np.minimum((frequencies - low) / (middle - low), (high - frequencies) / (high - middle))
    filters: np.ndarray = np.maximum(triangles, 0) * 2 / (high - low)
    return filters
