"""The embedding of a sound: convolutions over time give a vector for each frame."""

from __future__ import annotations

from torch import Tensor, nn

from headlight.array_types import Float
from headlight.config import Config, SoundConfig
from headlight.errors import SoundError
from headlight.nn.layers import ACTIVATIONS, make_norm


class ChannelNorm(nn.LayerNorm):
    """LayerNorm over the channels of each step."""

    def forward(self, x: Float[Tensor, "batch channel step"]) -> Float[Tensor, "batch channel step"]:
        """Normalizes each step separately."""
        return super().forward(x.mT).mT


def _convolution_norm(sound: SoundConfig, layer: int) -> nn.Module:
    channels = sound.channels[layer]
    if sound.convolution_norm == "first-over-time" and layer == 0:
        return nn.GroupNorm(channels, channels)
    return ChannelNorm(channels) if sound.convolution_norm == "each" else nn.Identity()


class SoundEmbedding(nn.Module):
    """Embeds a spectrogram or samples as one vector for each frame, by convolutions over time.

    Whisper has two convolutions over a log-mel spectrogram (Radford et al. 2022, section 2.2). wav2vec 2.0 has seven
    over samples, a norm and a projection; its positions are a convolution over the frames, too (Baevski et al. 2020,
    section 2).
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        sound, d_model = config.sound, config.d_model
        self.sound, self.activation = sound, ACTIVATIONS[sound.activation]
        inputs = (sound.mel_bins or 1, *sound.channels)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(
                inputs[layer],
                sound.channels[layer],
                kernel,
                stride,
                padding=kernel // 2 if sound.padded else 0,
                bias=sound.convolution_bias,
            )
            for layer, (kernel, stride) in enumerate(zip(sound.kernels, sound.strides, strict=True))
        )
        self.convolution_norms = nn.ModuleList(_convolution_norm(sound, layer) for layer in range(len(sound.kernels)))
        has_norm = sound.projection == "norm-linear"
        self.projection_norm = make_norm(config, inputs[-1]) if has_norm else nn.Identity()
        self.projection = nn.Identity() if sound.projection == "none" else nn.Linear(inputs[-1], d_model)
        kernel = sound.position_kernel
        self.positions = (
            nn.Conv1d(d_model, d_model, kernel, padding=kernel // 2, groups=sound.position_groups) if kernel else None
        )

    def forward(self, signal: Float[Tensor, "batch channel step"]) -> Float[Tensor, "batch frame d_model"]:
        """The embedding of each frame. Raises SoundError for a sound with the wrong number of channels."""
        if signal.shape[1] != (self.sound.mel_bins or 1):
            raise SoundError(f"The sound has {signal.shape[1]} channels; this model reads {self.sound.mel_bins or 1}.")
        x = signal.to(next(self.parameters()).dtype)
        for convolution, norm in zip(self.convolutions, self.convolution_norms, strict=True):
            x = self.activation(norm(convolution(x)))
        frames: Tensor = self.projection(self.projection_norm(x.mT))
        if self.positions is None:
            return frames
        placed = self.positions(frames.mT)[:, :, : frames.shape[1]]
        return frames + self.activation(placed).mT
