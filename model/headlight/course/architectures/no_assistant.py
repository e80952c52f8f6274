"""What a small model that continues stories is not: it answers no questions, and knows no facts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from headlight.checkpoints.load import Checkpoint
from headlight.course.block.last_steps import ask_rank
from headlight.course.cards import bits_per_token, card_section, card_table
from headlight.course.controls import ModelControl, SeedControl, TextControl
from headlight.course.pictures import BarsPicture, Row, TablePicture, Verdict, row, verdict_row
from headlight.course.screen import Answer, Screen, link
from headlight.course.sentences import rank_word, sentence_batch, target_loss, value
from headlight.generation.generate import generate
from headlight.tracing.run import run

WRITTEN, TEMPERATURE, TOP_P = 24, 0.8, 0.95


def no_assistant(model: Checkpoint, prompt: str, answer: str, seed: int) -> Answer:
    """The model's continuations, the rank of the true answer, and what its card says that it has read."""
    rows = (
        row(
            Verdict(text=f"{prompt} ▸{continuation(model, prompt, temperature=0.0)}"),
            Verdict(text=f"{prompt} ▸{continuation(model, prompt, temperature=TEMPERATURE, seed=seed)}"),
            title="It goes on, as a text of its kind would",
            text="Behind the mark ▸: first the likeliest token each time, then drawn by the seed.",
        ),
        _fact_row(model, prompt, answer),
    )
    return (*rows, *_card_rows(model, prompt))


def continuation(model: Checkpoint, prompt: str, *, temperature: float, seed: int = 0) -> str:
    """What the model writes after a prompt."""
    steps = generate(
        model.model, model.tokenizer, prompt, steps=WRITTEN, temperature=temperature, top_p=TOP_P, seed=seed, keep=()
    )
    ids = [step.chosen_token for step in steps if step.chosen_token != model.tokenizer.end_id]
    return model.tokenizer.decode(ids).replace("\n", " ↵ ")


def _fact_row(model: Checkpoint, prompt: str, answer: str) -> Row:
    trace = run(model.model, model.tokenizer, prompt, keep=("logits",))
    probabilities = value(trace, "logits")[-1].softmax(-1)
    ranked = rank_word(model, answer, probabilities)
    best = model.tokenizer.stripped_token_text(int(probabilities.argmax()))
    part = f", or rather its first token “{ranked.name}”," if ranked.is_part else ""
    return row(
        Verdict(
            text=f"As the next word “{answer.strip()}”{part} is number {ranked.rank:,} of {len(probabilities):,}, with "
            f"a probability of {ranked.probability:.2g}; the first is “{best or 'a new line'}”."
        ),
        title="The answer that you know",
        question=ask_rank(ranked),
    )


def _card_rows(model: Checkpoint, prompt: str) -> Sequence[Row]:
    """What the card says of training and limits, and the held-out texts beside the learner's prompt."""
    card = model.card
    if not card.strip():
        return (verdict_row("This model has no card: what it was trained on is unknown."),)
    rows = []
    if limits := card_section(card, "Limits"):
        rows.append(verdict_row(" ".join(limits.split()), title="What its card says of its limits"))
    trained = card_table(card_section(card, "Training"))
    if trained:
        rows.append(row(TablePicture(columns=trained[0], rows=trained[1:]), title="What it has read"))
    measured = bits_per_token(card)
    return [*rows, _held_out_row(model, prompt, measured)] if measured else rows


@torch.inference_mode()
def prompt_bits(model: Checkpoint, prompt: str) -> float:
    """How many bits a token of the prompt costs the model, on average."""
    _, batch = sentence_batch(model, prompt)
    return target_loss(model.model, batch) / math.log(2)


def _held_out_row(model: Checkpoint, prompt: str, measured: dict[str, float]) -> Row:
    numbers = {"your prompt": prompt_bits(model, prompt), **measured}
    return row(
        BarsPicture(
            labels=tuple(numbers), series={"": list(numbers.values())}, title="Loss in bits per token",
            note="The other bars are texts held out from training, as its card has them. A prompt is short, so "
            "its number says little by itself.",
        ),
        title="How well it predicts",
    )  # fmt: skip


NO_ASSISTANT = Screen(
    title="What these small models are not",
    lesson="A decoder continues texts: that is all it is trained for. Assistants are decoders, too, but a thousand "
    "times as large, trained on far more text, and then taught on questions with good answers to follow. Ask this one "
    "something that you know, and read what it has learned from.",
    controls={
        "model": ModelControl(default="stories-causal", needs="continues-texts"),
        "prompt": TextControl(title="Prompt", default="The capital of France is"),
        "answer": TextControl(title="The true answer", default="Paris", longest=40),
        "seed": SeedControl(),
    },
    compute=no_assistant,
    formulas=(r"t_{n+1} \sim p(t \mid t_1, \ldots, t_n)",),
    code=(continuation, generate, prompt_bits),
    explore=link("model", text="prompt"),
    elsewhere={"generate": link("model", text="prompt", sampling=f"t{TEMPERATURE:g},p{TOP_P:g},s{{seed}}")},
)
