"""A sound as frames, which are represented like tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from headlight.array_types import Float
from headlight.config import SoundConfig
from headlight.errors import SoundError
from headlight.sound.recording import Recording
from headlight.sound.spectrogram import log_mel_spectrogram
from headlight.text.tokenizer import Encoded

SECONDS_AFTER = 60  # from a cut to what is heard: its ringing is then far below the rounding of 16 bits
SHOWN = (16_000, 64, 400, 160)  # rate, mel bins, window and hop of the spectrogram for models of raw samples


@dataclass(frozen=True, eq=False)
class ProcessedSound:
    """A recording as a model reads it; the array is read-only.

    `features` are the mel bins of each step, or the raw samples. The recording lasts `seconds`, of which `seconds_read`
    are read; silence may follow.
    """

    features: Float[np.ndarray, "channel step"]
    seconds: float
    seconds_read: float


def process_sound(recording: Recording, config: SoundConfig) -> ProcessedSound:
    """A recording at the model's sampling rate and length, as a spectrogram or as samples.

    For a model with a fixed input length, a longer recording is cut. Raises SoundError for a model that reads no sound,
    for a recording that is too short, and for one that is too long for a model with variable input length.
    """
    if not config.rate:
        raise SoundError("This model reads no sound.")
    part = recording
    if config.sample_count:  # far beyond what is heard, it is cut before it is resampled
        end = config.sample_count * recording.rate // config.rate + SECONDS_AFTER * recording.rate
        part = Recording(recording.samples[:end], recording.rate)
    else:
        config.check_length(round(len(recording.samples) * config.rate / recording.rate))
    samples = part.at_rate(config.rate)[: config.sample_count or None].astype(np.float32)
    seconds_read = len(samples) / config.rate
    if config.sample_count:
        samples = np.pad(samples, (0, config.sample_count - len(samples)))
    config.check_length(len(samples))
    features = samples[None]
    if config.mel_bins:
        bins = (config.rate, config.mel_bins, config.window, config.hop)
        features = log_mel_spectrogram(torch.from_numpy(samples), *bins).numpy()
    elif config.normalized:
        features = (features - features.mean()) / np.sqrt(features.var() + 1e-7)
    features.flags.writeable = False
    return ProcessedSound(features, recording.seconds, seconds_read)


@dataclass(frozen=True)
class EncodedSound(Encoded):
    """The frames of a sound as tokens, named by their start in seconds."""

    sound: ProcessedSound
    frame_seconds: float

    @property
    def input_ids(self) -> tuple[int, ...]:
        """The ids of the tokens before the frames: there are none."""
        return ()

    @property
    def signal(self) -> Float[np.ndarray, "channel step"]:
        """The features that the model reads."""
        return self.sound.features

    def spectrogram(self) -> Float[np.ndarray, "bin step"]:
        """The log-mel spectrogram of the part that is read: the model's own, or one only for display."""
        shown = self.sound.features
        if len(shown) == 1:
            shown = log_mel_spectrogram(torch.from_numpy(shown[0].copy()), *SHOWN).numpy()
        return shown[:, : max(1, shown.shape[1] * self.read_count // len(self.ids))]

    @property
    def read_count(self) -> int:
        """How many frames contain part of the recording."""
        return min(len(self.ids), round(self.sound.seconds_read / self.frame_seconds) or 1)


def encode_sound(sound: ProcessedSound, config: SoundConfig) -> EncodedSound:
    """The frames of a sound, numbered from 0."""
    count = config.frame_count(sound.features.shape[1])
    names = tuple(f"{config.frame_seconds * frame:.2f} s" for frame in range(count))
    return EncodedSound(
        text="",
        ids=tuple(range(count)),
        tokens=names,
        token_texts=names,
        offsets=((0, 0),) * count,
        special_mask=(False,) * count,
        sound=sound,
        frame_seconds=config.frame_seconds,
    )
