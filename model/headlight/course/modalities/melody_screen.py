"""A small sound encoder and text decoder, trained on the spot, that describe the learner's own tones."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.cancellation import check_cancelled
from headlight.config import Config
from headlight.course.controls import CountControl, RecordingControl, SeedControl, TextControl
from headlight.course.fitting import begin_anew, fit
from headlight.course.modalities.sound_screen import (
    FADE_SAMPLES,
    FRAME_SAMPLES,
    FRAMES_PER_SOUND,
    LOUDNESS,
    SAMPLE_RATE,
    SOUND_SAMPLES,
    parse_sounds,
    pieces_of,
    spectrogram,
    sum_by_sound,
    synthesize,
    wav_url,
)
from headlight.course.screen import Screen, ScreenRows
from headlight.nn.hooks import Hook, no_hook
from headlight.nn.transformer import Transformer
from headlight.questions.asking import choose
from headlight.questions.kinds import Question
from headlight.tracing.recording import RecordingHook
from headlight.views.kinds import HeatMapView, LinesView, MatrixView, SoundView, TableView, TokensView, Verdict
from headlight.views.rows import Row, row
from headlight.views.words import percent

REGISTERS, MOVES = ("low", "middle", "high"), ("falls", "stays", "rises")
WORDS = ("start", *REGISTERS, *MOVES, "end")
BOUNDS = torch.tensor([300.0, 560.0])  # hertz, between the registers
PLACES = ("first tone", "first half", "second half", "last tone")  # subjects of the words of a description
LOWEST_BAND, BANDS_PER_OCTAVE, BANDS = 110.0, 6, 30  # the channels of a frame: two semitones each, from 110 Hz
D_MODEL, LAYERS, HEADS = 32, 2, 2
ROWS, LEARNING_RATE = 24, 4e-3
TONES, MELODIES = (3, 5, 7), 300  # tones of a melody in training; melodies of each length
STEP = (2, 5)  # semitones from one tone to the next
LOWEST, HIGHEST = 260.0, 700.0  # hertz, of the middle of a melody
OVERTONES, NOISE = 3, 0.03  # the first is the tone itself


class MelodyWriter(nn.Module):
    """A linear map of each frame of a spectrogram, the project's encoder, and its decoder, which writes words."""

    def __init__(self) -> None:
        super().__init__()
        self.frames = nn.Linear(BANDS, D_MODEL)
        self.model = Transformer(
            Config(
                architecture="encoder-decoder", vocabulary_size=len(WORDS), context_length=1_024, d_model=D_MODEL,
                layers=LAYERS, heads=HEADS, d_ff=2 * D_MODEL, masks=("causal",), norm="layernorm", feed_forward="relu",
                output_head="language-model",
            )
        )  # fmt: skip
        begin_anew(self.model)

    def forward(
        self, frames: Float[Tensor, "row frame band"], words: Int[Tensor, "row word"], hook: Hook = no_hook
    ) -> Float[Tensor, "row word token"]:
        """Logits of the word after each word; the encoder reads the frames, and its output is the decoder's memory."""
        memory = self.model.stack("encoder")(self.frames(frames), None, None, None, None, no_hook, None)
        logits = self.model.logits(self.model.encode_hidden(words, memory=memory, hook=hook))
        assert logits is not None
        return logits


def draw_melodies(
    rows: int, tones: int, generator: torch.Generator
) -> tuple[Float[Tensor, "row sample"], Int[Tensor, "row word"]]:
    """Melodies and their descriptions: where they begin, the direction of each half, and where they end."""
    halves = torch.randint(-1, 2, (rows, 2), generator=generator)
    steps = torch.randint(STEP[0], STEP[1] + 1, (rows, tones - 1), generator=generator)
    signs = halves.repeat_interleave((tones - 1) // 2, 1)
    semitones = functional.pad((steps * signs).cumsum(1).float(), (1, 0))
    semitones -= (semitones.amax(1, keepdim=True) + semitones.amin(1, keepdim=True)) / 2
    middle = LOWEST * (HIGHEST / LOWEST) ** torch.rand(rows, 1, generator=generator)
    frequencies = middle * 2 ** (semitones / 12)
    ends = 1 + torch.bucketize(frequencies[:, [0, -1]], BOUNDS)
    moves = 1 + len(REGISTERS) + 1 + halves
    fixed = torch.tensor([[0, len(WORDS) - 1]]).expand(rows, 2)
    words = torch.cat([fixed[:, :1], ends[:, :1], moves, ends[:, 1:], fixed[:, 1:]], 1)
    return play_tones(frequencies, generator), words


def play_tones(tones: Float[Tensor, "row tone"], generator: torch.Generator) -> Float[Tensor, "row sample"]:
    """The samples of tones in hertz; in half of the rows they glide into one another."""
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
    """The spectrogram of each row, normalized in loudness, in bands two semitones wide."""
    peaks = samples.abs().amax(1, keepdim=True).clamp(min=1e-6)
    return spectrogram(samples / peaks) @ band_filters()


def band_filters() -> Float[Tensor, "frequency band"]:
    """The weight of each frequency in each band: 1 at the band's centre, and 0 at its neighbours' (log scale)."""
    frequencies = torch.arange(FRAME_SAMPLES // 2 + 1).clamp(min=1) * SAMPLE_RATE / FRAME_SAMPLES
    steps = BANDS_PER_OCTAVE * torch.log2(frequencies / LOWEST_BAND)
    filters: Tensor = (1 - (steps[:, None] - torch.arange(BANDS)).abs()).clamp(min=0)
    return filters


def train_writer(steps: int, seed: int) -> tuple[MelodyWriter, list[float]]:
    """A new model trained with Adam on the same melodies, and the loss of each step."""
    torch.manual_seed(seed)
    writer, generator = MelodyWriter(), torch.Generator().manual_seed(seed)
    examples = draw_examples(generator)

    def loss() -> Tensor:
        frames, words = examples[int(torch.randint(len(examples), (), generator=generator))]
        rows = torch.randint(len(words), (ROWS,), generator=generator)
        logits = writer(frames[rows], words[rows, :-1])
        return functional.cross_entropy(logits.flatten(0, 1), words[rows, 1:].flatten())

    optimizer = torch.optim.Adam(writer.parameters(), LEARNING_RATE)
    return writer, fit(optimizer, loss, steps, warm_up=True, clip=True)


def draw_examples(generator: torch.Generator) -> list[tuple[Tensor, Tensor]]:
    """The frames and words of training melodies, grouped by length."""
    examples = []
    for tones in TONES:
        samples, words = draw_melodies(MELODIES, tones, generator)
        examples.append((melody_frames(samples), words))
        check_cancelled()
    return examples


TEST_ROWS = 120
SMOOTHED = 10  # losses in each drawn mean


def show_melody(sounds: str, steps: int, seed: int, recording: Float[Tensor, " sample"] | None = None) -> ScreenRows:
    """The decoder's words about the learner's sounds or recording, where each word looks, and the training."""
    heard = parse_sounds(sounds) if recording is None else pieces_of(recording)
    samples = synthesize(heard) if recording is None else recording
    writer, losses = train_writer(steps, seed)
    written, weights = describe(writer, samples)
    shares = torch.stack([sum_by_sound(each, len(heard)) for each in weights])
    names = tuple(f"{number}. {sound.name}" for number, sound in enumerate(heard, 1))
    return (
        SoundView(title=f"Your melody, {len(samples) / SAMPLE_RATE:.1f} seconds", source=wav_url(samples)),
        row(TokensView("The decoder writes", written), question=_question(written)),
        *_frames_rows(samples, written, weights),
        row(
            MatrixView("The same, summed by sound", shares, rows=written, columns=names, colours="weights"),
            title="Which sounds did each word look at?",
        ),
        _training_row(writer, losses, seed),
        Verdict(
            f"It wrote “{', '.join(written)}”. Queries come from words, keys and values from frames of sound: the "
            f"decoder knows {len(WORDS) - 2} words and says something about every sound, a chord included. Speech "
            "models read spectrograms in the same way, with far more layers and many hours of training data (Whisper, "
            "Radford et al. 2022)."
        ),
    )


def _question(written: tuple[str, ...]) -> Question:
    """Asks for the decoder's words; the other options are those of known mistakes."""
    turned = dict(zip(MOVES, MOVES[::-1], strict=True))
    moved = tuple(turned.get(word, word) for word in written)
    opposite = dict(zip(REGISTERS, REGISTERS[::-1], strict=True))
    placed = tuple(opposite.get(word, word) for word in written)
    says = {
        ", ".join(moved): "If a tone is higher than the one before, the melody rises.",
        ", ".join(placed): "Listen to how high the first and the last tone are.",
    }
    options = tuple(sorted({", ".join(written), *says}))
    return choose("What will it write about your melody?", options, options.index(", ".join(written)), says)


@torch.no_grad()
def describe(
    writer: MelodyWriter, samples: Float[Tensor, " sample"]
) -> tuple[tuple[str, ...], Float[Tensor, "word frame"]]:
    """The likeliest words about any sound, one after another, and the cross-attention of each to the frames.

    The weights are the mean over the heads of the last layer. Each word is predicted at the position before its own.
    """
    ids, path = [0], f"decoder.{LAYERS - 1}.cross.weights"
    frames, recorder = melody_frames(samples[None]), RecordingHook(no_hook, (path,))
    while len(ids) <= len(PLACES):
        ids.append(int(writer(frames, torch.tensor([ids]), recorder)[0, -1].argmax()))
    return tuple(WORDS[each] for each in ids[1:]), recorder.values[path][0].mean(0)


@torch.no_grad()
def accuracies(writer: MelodyWriter, seed: int) -> dict[str, float]:
    """The share of right words about new melodies, by subject; each word is predicted from the right previous ones."""
    samples, words = draw_melodies(TEST_ROWS, TONES[-1], torch.Generator().manual_seed(seed + 1_000_000))
    right = writer(melody_frames(samples), words[:, :-1]).argmax(-1) == words[:, 1:]
    return {place: float(right[:, at].float().mean()) for at, place in enumerate(PLACES)}


def _frames_rows(samples: Tensor, written: tuple[str, ...], weights: Tensor) -> ScreenRows:
    """The encoder's frames, and the weights below them, aligned by frame."""
    frames = melody_frames(samples[None])[0]
    centres = [LOWEST_BAND * 2 ** (band / BANDS_PER_OCTAVE) for band in range(BANDS)]
    columns = tuple(map(str, range(len(frames))))
    return (
        HeatMapView(
            f"The input: {len(frames)} frames of {BANDS} frequency bands",
            frames.T.flip(0),
            rows=tuple(f"{centre:.0f} Hz" for centre in reversed(centres)),
            columns=columns,
            column_axis="frame",
            colours="sequential",
            column_groups=FRAMES_PER_SOUND,
        ),
        HeatMapView(
            "Where each word looks: cross-attention of the last layer",
            weights,
            rows=written,
            columns=columns,
            column_axis="frame",
            colours="sequential",
            column_groups=FRAMES_PER_SOUND,
        ),
    )


def _training_row(writer: MelodyWriter, losses: list[float], seed: int) -> Row:
    means = torch.tensor(losses[: len(losses) // SMOOTHED * SMOOTHED]).view(-1, SMOOTHED).mean(1)
    return row(
        LinesView(
            f"Loss in training, in nats (mean of {SMOOTHED} steps)",
            [SMOOTHED * (at + 1) for at in range(len(means))],
            {"loss": means},
            "step",
            "loss",
        ),
        TableView(
            ("word about the", "right"),
            tuple((place, percent(share, 0)) for place, share in accuracies(writer, seed).items()),
            title=f"{TEST_ROWS} new melodies of {TONES[-1]} tones",
        ),
        title="How it was trained just now",
        text=f"{MELODIES * len(TONES)} random melodies were made, of separate or gliding tones, with overtones and "
        "noise. The program knows the right description of each, since it made them.",
    )


MELODY = Screen(
    title="Sound in, words out",
    lesson="An encoder reads the frames of a sound, and a decoder writes words about it: how high the melody begins, "
    "whether its halves rise or fall, and how high it ends. Both are trained on the spot. Then they describe your "
    "melody, and the cross-attention shows which frames each word looked at.",
    controls={
        "sounds": TextControl("Your melody", "C4, E4, G4, E4, C4", longest=240),
        "steps": CountControl("Steps", "400", 20, 600, step=20),
        "seed": SeedControl(),
        "recording": RecordingControl(title="Or whistle one: a WAV file of at most 3 seconds"),
    },
    compute=show_melody,
    formulas=(r"M = \mathrm{encoder}(W x_1, \ldots, W x_n)", r"Q = Y W_Q,\quad K = M W_K,\quad V = M W_V"),
    code=(MelodyWriter, train_writer, describe, fit, melody_frames, spectrogram),
    is_long=True,
)
