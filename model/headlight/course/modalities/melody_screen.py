"""A small sound encoder trained on the spot, its melodies, and its answer to the learner's own tones."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.cancellation import check_cancelled
from headlight.config import Config
from headlight.course.controls import NumberControl, RecordingControl, SeedControl, TextControl
from headlight.course.fitting import fit
from headlight.course.modalities.recording import pieces_of
from headlight.course.modalities.sound import (
    FADE_SAMPLES,
    FRAME_SAMPLES,
    FRAMES_PER_SOUND,
    LOUDNESS,
    SAMPLE_RATE,
    SOUND_SAMPLES,
    parse_sounds,
    spectrogram,
    synthesize,
    wav_url,
)
from headlight.course.modalities.sound_screen import sum_by_sound
from headlight.course.pictures import (
    BarsPicture,
    HeatMapPicture,
    LinesPicture,
    Row,
    SoundPicture,
    TablePicture,
    Verdict,
    row,
)
from headlight.course.questions import choose
from headlight.course.screen import Answer, Screen
from headlight.nn.hooks import Hook, no_hook
from headlight.nn.transformer import Transformer
from headlight.tracing.run import RecordingHook

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


TEST_ROWS = 120
SMOOTHED = 10  # losses, of which the mean is drawn


def show_melody(sounds: str, steps: int, seed: int, recording: Float[Tensor, " sample"] | None = None) -> Answer:
    """The encoder's training, its answer to the learner's sounds or recording, and the frames at which it looked."""
    heard = parse_sounds(sounds) if recording is None else pieces_of(recording)
    samples = synthesize(heard) if recording is None else recording
    encoder, losses = train_encoder(steps, seed)
    chances, weights = answer(encoder, samples)
    shares = sum_by_sound(weights.mean(0), len(heard))
    names = tuple(f"{number}. {sound.name}" for number, sound in enumerate(heard, 1))
    return (
        row(
            SoundPicture(title=f"Your melody, {len(samples) / SAMPLE_RATE:.1f} seconds", source=wav_url(samples)),
            BarsPicture(title="The answer", labels=LABELS, series={"": chances}, high=1.0),
            question=choose("What will the encoder say of your melody?", LABELS, int(chances.argmax())),
        ),
        *_frames_rows(samples, weights),
        row(
            BarsPicture(title="Weight of the class token on each sound", labels=names, series={"": shares}, high=1.0),
            title="At which sounds did it look?",
        ),
        _training_row(encoder, losses, seed),
        row(_verdict(chances)),
    )


@torch.no_grad()
def answer(
    encoder: MelodyEncoder, samples: Float[Tensor, " sample"]
) -> tuple[Float[Tensor, " label"], Float[Tensor, "head frame"]]:
    """The probability of each label for any sound, and the weights of the class token on its frames in the last layer.

    The weights are those on frames alone: what the class token looks at in itself is left out.
    """
    recorder = RecordingHook(no_hook, (f"{LAYERS - 1}.self.weights",))
    logits = encoder(melody_frames(samples[None]), recorder)
    return logits[0].softmax(-1), recorder.values[f"{LAYERS - 1}.self.weights"][0, :, 0, 1:]


@torch.no_grad()
def accuracies(encoder: MelodyEncoder, seed: int) -> dict[str, float]:
    """The share of right answers to new melodies of each label, as long as in training."""
    samples, labels = draw_melodies(TEST_ROWS, TONES[-1], torch.Generator().manual_seed(seed + 1_000_000))
    right = encoder(melody_frames(samples)).argmax(-1) == labels
    return {label: float(right[labels == at].float().mean()) for at, label in enumerate(LABELS)}


def _frames_rows(samples: Tensor, weights: Tensor) -> tuple[Row, Row]:
    """The frames as the encoder reads them, and the weights below, frame under frame."""
    frames = melody_frames(samples[None])[0]
    centres = [LOWEST_BAND * 2 ** (band / BANDS_PER_OCTAVE) for band in range(BANDS)]
    columns = tuple(map(str, range(len(frames))))
    return (
        row(
            HeatMapPicture(
                title=f"What it reads: {len(frames)} frames of {BANDS} bands of frequencies",
                values=frames.T.flip(0),
                rows=tuple(f"{centre:.0f} Hz" for centre in reversed(centres)),
                columns=columns,
                column_axis="frame",
                colours="positive",
                column_groups=FRAMES_PER_SOUND,
            )
        ),
        row(
            HeatMapPicture(
                title="Where the class token looks, in the last layer",
                values=weights,
                rows=tuple(f"head {head}" for head in range(HEADS)),
                columns=columns,
                column_axis="frame",
                colours="positive",
                column_groups=FRAMES_PER_SOUND,
            )
        ),
    )


def _training_row(encoder: MelodyEncoder, losses: list[float], seed: int) -> Row:
    means = torch.tensor(losses[: len(losses) // SMOOTHED * SMOOTHED]).view(-1, SMOOTHED).mean(1)
    return row(
        LinesPicture(
            title=f"Loss in training, in nats (mean of {SMOOTHED} steps)",
            x=[SMOOTHED * (at + 1) for at in range(len(means))],
            series={"loss": means},
            x_title="step",
            y_title="loss",
        ),
        TablePicture(
            title=f"{TEST_ROWS} new melodies of {TONES[-1]} tones",
            columns=("melody", "answered right"),
            rows=tuple((label, f"{share:.0%}") for label, share in accuracies(encoder, seed).items()),
        ),
        title="How it was trained just now",
        text=f"{MELODIES * len(TONES)} melodies were made at random, of single tones or gliding, with overtones and "
        "noise; their labels are known because they are made here.",
    )


def _verdict(chances: Tensor) -> Verdict:
    return Verdict(
        text=f"The answer is “{LABELS[int(chances.argmax())]}” ({float(chances.max()):.0%}). There are only these four "
        "answers, and every sound gets one of them: try two sounds in turn, or a chord. Encoders of speech and "
        "of everyday sounds read spectrograms in the same way, with far more layers and hours of recordings (AST, Gong "
        "et al. 2021); where a decoder writes about them, the answer is a text (Whisper, Radford et al. 2022)."
    )


MELODY = Screen(
    title="A sound encoder that answers",
    lesson="A class token stands in front of the frames of a sound, as in BERT it stands in front of a sentence. A "
    "small encoder is trained on the spot to say how a melody goes: rising, falling, steady, or up and down. Then it "
    "answers to yours, and its weights tell at which frames the class token looked.",
    controls={
        "sounds": TextControl(title="Your melody", default="C4, E4, G4, E4, C4", longest=240),
        "steps": NumberControl(title="Steps", default="300", low=20, high=600, step=20, whole=True),
        "seed": SeedControl(),
        "recording": RecordingControl(title="Or whistle one: a WAV file of at most 3 seconds"),
    },
    compute=show_melody,
    formulas=(r"p = \mathrm{softmax}(W_c\, z_0),\quad z = \mathrm{encoder}(x_{\mathrm{class}}, W x_1, \ldots, W x_n)",),
    code=(MelodyEncoder, train_encoder, fit, melody_frames, spectrogram),
    is_long=True,
)
