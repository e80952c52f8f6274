"""What a small model that continues stories is not: it answers no questions, and knows no facts."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import torch

from model.checkpoints.load import Checkpoint
from model.course.controls import ModelControl, SeedControl, TextControl
from model.course.language_modeling.next_token import word_pieces
from model.course.pictures import BarsPicture, Row, TablePicture, Verdict, row
from model.course.screen import Answer, Screen, StateFields
from model.course.sentences import sentence_batch, target_loss, value
from model.generation.generate import generate
from model.tracing.run import run

WRITTEN, TEMPERATURE, TOP_P = 24, 0.8, 0.95
BITS = "bits per token"
Table = tuple[tuple[str, ...], ...]


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
    pieces = word_pieces(model, answer)
    chance = probabilities[pieces[0]]
    rank = int((probabilities > chance).sum()) + 1
    best = model.tokenizer.stripped_token_text(int(probabilities.argmax()))
    part = f", or rather its first token “{model.tokenizer.stripped_token_text(pieces[0])}”," if len(pieces) > 1 else ""
    return row(
        Verdict(
            text=f"As the next word “{answer.strip()}”{part} is number {rank:,} of {len(probabilities):,}, with a "
            f"probability of {float(chance):.2g}; the first is “{best or 'a new line'}”."
        ),
        title="The answer that you know",
    )


def _card_rows(model: Checkpoint, prompt: str) -> Sequence[Row]:
    """What the card says of training and limits, and the held-out texts beside the learner's prompt."""
    card = model.card
    if not card.strip():
        return (row(Verdict(text="This model has no card, so nobody can tell on what it was trained.")),)
    rows = []
    if limits := card_section(card, "Limits"):
        rows.append(row(Verdict(text=" ".join(limits.split())), title="What its card says of its limits"))
    trained = card_table(card_section(card, "Training"))
    if trained:
        rows.append(row(TablePicture(columns=trained[0], rows=trained[1:]), title="What it has read"))
    measured = card_table(card_section(card, "Measured"))
    return [*rows, _held_out_row(model, prompt, measured)] if measured and BITS in measured[0] else rows


@torch.inference_mode()
def prompt_bits(model: Checkpoint, prompt: str) -> float:
    """How many bits a token of the prompt costs the model, on average."""
    _, batch = sentence_batch(model, prompt)
    return target_loss(model.model, batch) / math.log(2)


def _held_out_row(model: Checkpoint, prompt: str, measured: Table) -> Row:
    column = measured[0].index(BITS)
    texts = {line[0]: float(line[column]) for line in measured[1:]}
    numbers = {"your prompt": prompt_bits(model, prompt), **texts}
    return row(
        BarsPicture(
            labels=tuple(numbers), series={"": list(numbers.values())}, title="Loss in bits per token",
            note="The other bars are texts held out from training, as its card has them. A prompt is short, so "
            "its number says little by itself.",
        ),
        title="How well it predicts",
    )  # fmt: skip


def card_section(card: str, title: str) -> str:
    """The text under a heading of a card, empty where there is none."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", card, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def card_table(section: str) -> Table:
    """The first table of a section: its head and its rows; nothing where there is none."""
    table = re.search(r"^\|.*\n\|[-:| ]+\|\n(?:\|.*\n?)*", section, re.MULTILINE)
    if not table:
        return ()
    head, _, *lines = table[0].strip().splitlines()
    cells = [tuple(cell.strip() for cell in line.strip().strip("|").split("|")) for line in (head, *lines)]
    return tuple(line for line in cells if len(line) == len(cells[0]))


def _explore(model: str, prompt: str, answer: str, seed: int) -> StateFields:
    return {"model": model, "text": prompt}


def _generate(model: str, prompt: str, answer: str, seed: int) -> StateFields:
    """The same beginning and seed, to be written token by token."""
    return {"model": model, "text": prompt, "sampling": f"t{TEMPERATURE:g},p{TOP_P:g},s{seed}"}


NO_ASSISTANT = Screen(
    title="What these small models are not",
    lesson=(
        "A decoder continues texts: that is all it is trained for. Assistants are decoders, too, but a thousand times "
        "as large, trained on far more text, and then taught on questions with good answers to follow. Ask this one "
        "something that you know, and read what it has learned from."
    ),
    controls={
        "model": ModelControl(default="stories-causal", needs="continues-texts"),
        "prompt": TextControl(title="Prompt", default="The capital of France is"),
        "answer": TextControl(title="The true answer", default="Paris", longest=40),
        "seed": SeedControl(),
    },
    compute=no_assistant,
    formulas=(r"t_{n+1} \sim p(t \mid t_1, \ldots, t_n)",),
    code=(continuation, generate, prompt_bits),
    explore=_explore,
    elsewhere={"generate": _generate},
)
