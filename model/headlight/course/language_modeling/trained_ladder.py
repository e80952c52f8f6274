"""The ladder of improvements once more: the shipped models, asked about the learner's own sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import log, nan

import torch
from torch import Tensor
from torch.nn import functional

from headlight.array_types import Float
from headlight.cancellation import check_cancelled
from headlight.checkpoints.load import Checkpoint, load
from headlight.course.cards import bits_per_token
from headlight.course.pictures import BarsPicture, Question, TablePicture, row, verdict_row
from headlight.course.questions import ask_largest
from headlight.course.screen import Answer
from headlight.course.sentences import sentence_batch, target_loss, token_labels
from headlight.generation.generate import generate
from headlight.paths import assets_dir

RUNGS = {
    "ladder-1-attention": "one head of self-attention",
    "ladder-2-positions": "+ positions",
    "ladder-3-heads": "+ four heads",
    "ladder-4-feed-forward": "+ feed-forward with ReLU",
    "ladder-5-mask": "+ causal mask",
    "ladder-6-residual": "+ residuals and norms",
    "ladder-7-depth": "+ four layers",
}
SENTENCE = (
    "One day, a girl named Mia found a red ball in the garden. She was very happy and ran to her mother. "
    "They played with it until it was dark."
)
WRITTEN, SHOWN_TOKENS = 16, 12
ENDS = "nothing: it ends the text at once"
CHEAT = 2.0  # nats between the two losses, from which a model is said to look ahead


@dataclass(frozen=True)
class RungAnswer:
    """What a rung makes of a sentence, with losses in nats for each token.

    `held_out_loss` is that of the stories which its card was measured on, `whole_loss` that of the sentence read at
    once, `writing_loss` that of the sentence token by token, with nothing behind.
    """

    held_out_loss: float
    whole_loss: float
    writing_loss: float
    written: str


def trained_ladder(text: str, beginning: str, temperature: float, seed: int, rung: str) -> Answer:
    """What each shipped rung makes of the sentence, and one of them of each token."""
    answers = {RUNGS[name]: ask_rung(shipped_rung(name), text, beginning, temperature, seed) for name in RUNGS}
    cheats = [name for name, answer in answers.items() if answer.writing_loss - answer.whole_loss > CHEAT]
    honest = min(answers, key=lambda name: answers[name].writing_loss)
    told = f"The lowest loss in writing, {answers[honest].writing_loss:.2f} nats, has “{honest}”."
    if cheats:
        told += f" Those that are much better when they see the whole sentence look ahead: {', '.join(cheats)}."
    return (
        row(
            BarsPicture(
                title="Loss of the sentence (nats for each token)",
                labels=tuple(answers),
                series={
                    "training": [one.whole_loss for one in answers.values()],
                    "writing": [one.writing_loss for one in answers.values()],
                },
                note="As in training the whole sentence is in view; in writing nothing stands behind the token that is "
                "asked for.",
            ),
            question=ask_rung_question({name: answer.writing_loss for name, answer in answers.items()}),
        ),
        row(_token_losses(shipped_rung(rung), RUNGS[rung], text)),
        row(
            TablePicture(
                title=f"What they write after “{beginning}”",
                columns=("model", f"up to {WRITTEN} tokens", "loss of held-out stories, as in training"),
                rows=tuple((name, answer.written or ENDS, answer.held_out_loss) for name, answer in answers.items()),
            )
        ),
        verdict_row(told),
    )


def ask_rung_question(writing: Mapping[str, float]) -> Question:
    """Which part lowers the loss in writing most; `writing` has the losses of the rungs in their order."""
    gains = {name: writing[before] - writing[name] for before, name in pairwise(writing)}
    told = ", ".join(f"{name} {gain:+.2f}" for name, gain in gains.items())
    mistake = "Positions and heads help to look ahead, too: without the mask the loss in writing says nothing of them."
    return ask_largest(
        "Which addition lowers the loss in writing most?",
        gains,
        {name: mistake for name in ("+ positions", "+ four heads")},
        f"What each takes off the loss, in nats: {told}.",
    )


@lru_cache(maxsize=len(RUNGS))
def shipped_rung(name: str) -> Checkpoint:
    """One of the seven, of some hundred kilobytes."""
    return load(assets_dir() / "models" / name)


def ask_rung(rung: Checkpoint, text: str, beginning: str, temperature: float, seed: int) -> RungAnswer:
    """Both losses of a sentence, and a continuation."""
    check_cancelled()
    batch = sentence_batch(rung, text)[1]
    steps = generate(rung.model, rung.tokenizer, beginning, steps=WRITTEN, temperature=temperature, seed=seed, keep=())
    written = rung.tokenizer.decode([step.chosen_token for step in steps])
    writing = float(writing_losses(rung, text).mean())
    return RungAnswer(held_out_loss(rung.card), target_loss(rung.model, batch), writing, written)


def held_out_loss(card: str) -> float:
    """The nats for each token that a card states, in bits."""
    return bits_per_token(card).get("tinystories", nan) * log(2)


@torch.inference_mode()
def writing_losses(rung: Checkpoint, text: str) -> Float[Tensor, " target"]:
    """The loss of each token after what stands before it, and nothing behind: a forward for each beginning."""
    batch = sentence_batch(rung, text)[1]
    losses = [
        functional.cross_entropy(rung.model(batch.ids[:, :length])[:, -1].float(), batch.targets[:, length - 1])
        for length in range(1, batch.ids.shape[1])
    ]
    return torch.stack(losses)


@torch.inference_mode()
def whole_losses(rung: Checkpoint, text: str) -> Float[Tensor, " target"]:
    """The loss of each token where the whole sentence is read at once, as in training."""
    batch = sentence_batch(rung, text)[1]
    return functional.cross_entropy(rung.model(batch.ids)[0, :-1].float(), batch.targets[0, :-1], reduction="none")


def _token_losses(rung: Checkpoint, name: str, text: str) -> BarsPicture:
    encoded, _ = sentence_batch(rung, text)
    losses = {"training": whole_losses(rung, text), "writing": writing_losses(rung, text)}
    return BarsPicture(
        title=f"“{name}”: loss of each token",
        labels=token_labels(encoded)[1 : SHOWN_TOKENS + 1],
        series={way: each[:SHOWN_TOKENS] for way, each in losses.items()},
        note="0 is certain. The first token has nothing before it and is not predicted.",
    )
