"""SoundConfig: the sounds that a model reads, and how they become frames."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Literal

from headlight.errors import ConfigError, SoundError

MAX_FRAMES = 2**12  # of a sound; bounds the cost of attention
MAX_SAMPLES = 2**24  # of a sound
MAX_KERNEL, MAX_CHANNELS, MAX_CONVOLUTIONS = 2**12, 2**14, 64


@dataclass(frozen=True, kw_only=True)
class SoundConfig:
    """The sounds that a model reads instead of a text: convolutions over time turn them into frames."""

    rate: int = 0  # samples per second; 0: the model reads no sounds
    mel_bins: int = 0  # of the log-mel spectrogram that is read (Whisper); 0: the samples themselves (wav2vec 2.0)
    window: int = 0  # samples of a spectrum
    hop: int = 1  # samples from the start of one spectrum to the start of the next
    normalized: bool = False  # scale samples to mean 0 and variance 1, if the samples themselves are read
    frames: int = 0  # the number of frames of every sound; 0: it depends on the length of the sound
    channels: tuple[int, ...] = ()  # of each convolution, as the next two
    kernels: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    padded: bool = False  # convolutions are padded with zeros
    activation: str = "gelu"  # after each convolution, also that of positions
    convolution_bias: bool = True
    # A norm over time after the first convolution, or one over the channels after each.
    convolution_norm: Literal["none", "first-over-time", "each"] = "none"
    projection: Literal["none", "linear", "norm-linear"] = "none"  # of the frames to d_model
    position_kernel: int = 0  # frames of a convolution whose output is added to the frames; 0: none
    position_groups: int = 1  # of its channels

    @property
    def frame_samples(self) -> int:
        """The number of samples from the start of one frame to the start of the next."""
        return self.hop * prod(self.strides)

    @property
    def frame_seconds(self) -> float:
        """The seconds from the start of one frame to the start of the next."""
        return self.frame_samples / self.rate

    @property
    def sample_count(self) -> int:
        """The number of samples that are read; 0 if a sound may have any length."""
        return self.frames * self.frame_samples

    def frame_count(self, steps: int) -> int:
        """The number of frames that the convolutions make from `steps` steps of a spectrogram, or samples."""
        for kernel, stride in zip(self.kernels, self.strides, strict=True):
            steps = (steps + 2 * (kernel // 2 if self.padded else 0) - kernel) // stride + 1
        return max(steps, 0)

    def step_count(self, frames: int) -> int:
        """The least number of steps, or samples, that the convolutions make so many frames from."""
        for kernel, stride in zip(reversed(self.kernels), reversed(self.strides), strict=True):
            frames = (frames - 1) * stride + kernel - 2 * (kernel // 2 if self.padded else 0)
        return frames

    def check_length(self, samples: int) -> None:
        """Raise SoundError if the model cannot read a sound of this many samples."""
        frames = self.frame_count(samples // self.hop)
        if not 1 <= frames <= MAX_FRAMES:
            most, advice = MAX_FRAMES * self.frame_seconds, "Cut out a part of it." if frames else "Take a longer one."
            raise SoundError(
                f"The recording takes {samples / self.rate:.2f} seconds; this model hears from "
                f"{self.frame_seconds:.2f} to {most:.0f} seconds. {advice}"
            )

    def check(self, d_model: int) -> None:
        """Raise ConfigError unless a model of `d_model` channels can read such sounds."""
        lists = {"channels": MAX_CHANNELS, "kernels": MAX_KERNEL, "strides": MAX_KERNEL}
        for name, largest in lists.items():
            numbers = getattr(self, name)
            if len(numbers) != len(self.kernels) or not all(1 <= number <= largest for number in numbers):
                raise ConfigError(
                    f"sound.{name} is {list(numbers)[:8]}; it has a number from 1 to {largest:,} for each convolution."
                )
        bounds = {
            "rate": (1_000, 192_000), "mel_bins": (0, 1024), "window": (2 if self.mel_bins else 0, MAX_KERNEL),
            "hop": (1, MAX_KERNEL), "frames": (0, MAX_FRAMES), "position_kernel": (0, MAX_KERNEL),
            "position_groups": (1, MAX_CHANNELS),
        }  # fmt: skip
        for name, (least, most) in bounds.items():
            if not least <= getattr(self, name) <= most:
                raise ConfigError(f"sound.{name} is {getattr(self, name)}; it can be from {least:,} to {most:,}.")
        if not 1 <= len(self.kernels) <= MAX_CONVOLUTIONS or self.sample_count > MAX_SAMPLES:
            raise ConfigError(
                f"A sound of {self.sample_count:,} samples through {len(self.kernels)} convolutions is too much; at "
                f"most {MAX_SAMPLES:,} samples and {MAX_CONVOLUTIONS} convolutions are possible."
            )
        if (self.projection == "none" and self.channels[-1] != d_model) or d_model % self.position_groups:
            raise ConfigError(
                f"The convolutions of a sound end with {self.channels[-1]} channels, and positions have "
                f"{self.position_groups} groups; that does not fit a model of {d_model} channels."
            )
