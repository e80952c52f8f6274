"""A sound encoder trained on the spot, and its answer to the learner's own tones."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.course.controls import NumberControl, RecordingControl, SeedControl, TextControl
from headlight.course.fitting import fit
from headlight.course.modalities.melodies import (
    BANDS,
    BANDS_PER_OCTAVE,
    HEADS,
    LABELS,
    LAYERS,
    LOWEST_BAND,
    MELODIES,
    TONES,
    MelodyEncoder,
    draw_melodies,
    melody_frames,
    train_encoder,
)
from headlight.course.modalities.recording import pieces_of
from headlight.course.modalities.sound import (
    FRAMES_PER_SOUND,
    SAMPLE_RATE,
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
    Question,
    Row,
    SoundPicture,
    TablePicture,
    Verdict,
    row,
)
from headlight.course.screen import Answer, Screen
from headlight.nn.hooks import no_hook
from headlight.tracing.run import RecordingHook

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
            question=Question("What will the encoder say of your melody?", LABELS, int(chances.argmax())),
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
    lesson=(
        "A class token stands in front of the frames of a sound, as in BERT it stands in front of a sentence. A small "
        "encoder is trained on the spot to say how a melody goes: rising, falling, steady, or up and down. Then it "
        "answers to yours, and its weights tell at which frames the class token looked."
    ),
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
