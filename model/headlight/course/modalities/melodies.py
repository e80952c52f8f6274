"""A small encoder that answers how a melody goes, and the melodies on which it is trained."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.cancellation import check_cancelled
from headlight.config import Config
from headlight.course.fitting import fit
from headlight.course.modalities.sound import (
    FADE_SAMPLES,
    FRAME_SAMPLES,
    LOUDNESS,
    SAMPLE_RATE,
    SOUND_SAMPLES,
    spectrogram,
)
from headlight.nn.hooks import Hook, no_hook
from headlight.nn.transformer import Transformer

LABELS = ("rising", "falling", "steady", "up and down")
LOWEST_BAND, BANDS_PER_OCTAVE, BANDS = 110.0, 6, 30  # the channels of a frame: two semitones each, from 110 Hz
D_MODEL, LAYERS, HEADS = 32, 2, 2
ROWS, LEARNING_RATE = 24, 4e-3
TONES, MELODIES = (3, 5, 7), 300  # of a melody in training; so many melodies of each length
STEP = (2, 5)  # semitones from one tone to the next
LOWEST, HIGHEST = 260.0, 700.0  # hertz of the middle of a melody
OVERTONES, NOISE = 3, 0.03  # the first is the tone itself


class MelodyEncoder(nn.Module):
    """Each frame of a spectrogram through a linear map, a class token in front, and the project's encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.frames = nn.Linear(BANDS, D_MODEL)
        self.model = Transformer(
            Config(
                architecture="encoder", vocabulary_size=1, context_length=1_024, d_model=D_MODEL, layers=LAYERS,
                heads=HEADS, d_ff=2 * D_MODEL, masks=(), norm="layernorm", feed_forward="relu",
                output_head="sequence-classifier", pooling="first", labels=LABELS,
            )
        )  # fmt: skip
        for module in self.model.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                module.reset_parameters()

    def forward(self, frames: Float[Tensor, "row frame band"], hook: Hook = no_hook) -> Float[Tensor, "row label"]:
        """Logits of the labels."""
        start = self.model.embed(torch.zeros(len(frames), 1, dtype=torch.long))
        embedded = torch.cat([start, self.frames(frames)], 1)
        final = self.model.stack("encoder")(embedded, None, None, None, None, hook, None)
        logits: Tensor = self.model.output_head(final)
        return logits


def draw_melodies(
    rows: int, tones: int, generator: torch.Generator
) -> tuple[Float[Tensor, "row sample"], Int[Tensor, " row"]]:
    """Melodies with their labels: tones one after another, or gliding, with overtones, some noise and any loudness."""
    labels = torch.randint(len(LABELS), (rows,), generator=generator)
    steps = torch.randint(STEP[0], STEP[1] + 1, (rows, tones - 1), generator=generator)
    turn = torch.arange(1, tones) * 2 < tones  # up and down: up in the first half
    signs = torch.stack([torch.ones(tones - 1), -torch.ones(tones - 1), torch.zeros(tones - 1), 2.0 * turn - 1])
    semitones = functional.pad((steps * signs[labels]).cumsum(1), (1, 0))
    semitones -= (semitones.amax(1, keepdim=True) + semitones.amin(1, keepdim=True)) / 2
    middle = LOWEST * (HIGHEST / LOWEST) ** torch.rand(rows, 1, generator=generator)
    return play_tones(middle * 2 ** (semitones / 12), generator), labels


def play_tones(tones: Float[Tensor, "row tone"], generator: torch.Generator) -> Float[Tensor, "row sample"]:
    """The samples of tones in hertz: in half of the rows they glide into one another."""
    rows, count = tones.shape
    length = count * SOUND_SAMPLES
    steps = tones.repeat_interleave(SOUND_SAMPLES, 1)
    glides = functional.interpolate(tones[:, None], length, mode="linear", align_corners=True)[:, 0]
    is_gliding = torch.rand(rows, 1, generator=generator) < 0.5
    phases = 2 * torch.pi * torch.where(is_gliding, glides, steps).double().cumsum(1) / SAMPLE_RATE
    within = torch.arange(length) % SOUND_SAMPLES
    fade = (torch.minimum(within, SOUND_SAMPLES - 1 - within) / FADE_SAMPLES).clamp(max=1)
    strengths = torch.rand(rows, 1, generator=generator) ** torch.arange(OVERTONES)  # from a sine to a bright sound
    waves = sum(strengths[:, at, None] * torch.sin((at + 1) * phases).float() for at in range(OVERTONES))
    loudness = LOUDNESS * (0.2 + 0.8 * torch.rand(rows, 1, generator=generator)) / strengths.sum(1, keepdim=True)
    noise = NOISE * torch.rand(rows, 1, generator=generator) * torch.randn(rows, length, generator=generator)
    samples: Tensor = loudness * waves * torch.where(is_gliding, 1.0, fade) + noise
    return samples


def melody_frames(samples: Float[Tensor, "row sample"]) -> Float[Tensor, "row frame band"]:
    """The spectrogram of each row, made as loud as every other, in bands as wide as two semitones."""
    peaks = samples.abs().amax(1, keepdim=True).clamp(min=1e-6)
    return spectrogram(samples / peaks) @ band_filters()


def band_filters() -> Float[Tensor, "frequency band"]:
    """How much each frequency counts in each band: 1 at the band's own, and 0 at its neighbours' (log scale)."""
    frequencies = torch.arange(FRAME_SAMPLES // 2 + 1).clamp(min=1) * SAMPLE_RATE / FRAME_SAMPLES
    steps = BANDS_PER_OCTAVE * torch.log2(frequencies / LOWEST_BAND)
    filters: Tensor = (1 - (steps[:, None] - torch.arange(BANDS)).abs()).clamp(min=0)
    return filters


def train_encoder(steps: int, seed: int) -> tuple[MelodyEncoder, list[float]]:
    """A new encoder after so many steps of Adam on the same melodies, and the loss of each step."""
    torch.manual_seed(seed)
    encoder, generator = MelodyEncoder(), torch.Generator().manual_seed(seed)
    examples = draw_examples(generator)

    def loss() -> Tensor:
        frames, labels = examples[int(torch.randint(len(examples), (), generator=generator))]
        rows = torch.randint(len(labels), (ROWS,), generator=generator)
        return functional.cross_entropy(encoder(frames[rows]), labels[rows])

    optimizer = torch.optim.Adam(encoder.parameters(), LEARNING_RATE)
    return encoder, fit(optimizer, loss, steps, warm_up=True, clip=True)


def draw_examples(generator: torch.Generator) -> list[tuple[Tensor, Tensor]]:
    """The frames and labels of melodies for training, those of each length together."""
    examples = []
    for tones in TONES:
        samples, labels = draw_melodies(MELODIES, tones, generator)
        examples.append((melody_frames(samples), labels))
        check_cancelled()
    return examples
