"""One improvement after another: models with one more part each, trained here on a text, or shipped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import log, nan, sqrt
from statistics import mean
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.cancellation import check_cancelled
from headlight.checkpoints.load import Checkpoint, load
from headlight.config import Config, EmbeddingConfig
from headlight.course.cards import bits_per_token
from headlight.course.controls import ChoiceControl, CountControl, NumberControl, SeedControl, TextControl
from headlight.course.fitting import fit, parameter_count
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import continuation, sentence_batch, target_loss, token_labels
from headlight.course.tokens.split_screens import MAX_TRAINING_CHARACTERS, small_text
from headlight.errors import InputError
from headlight.nn.transformer import Transformer
from headlight.paths import assets_dir
from headlight.questions.asking import ask_largest
from headlight.questions.kinds import Question
from headlight.views.kinds import BarsView, LinesView, ScreenLink, TableView
from headlight.views.rows import row
from headlight.views.words import signed, three_digits

WINDOW, ROWS, D_MODEL = 24, 16, 32
LEARNING_RATE = 1e-2
BEGINNING, WRITTEN = 4, 48  # characters
MODELS = {"here": "Trained here and now", "shipped": "Shipped with Headlight"}
MASK = "+ causal mask"
ORDERS = {"notes": "The mask fifth, as in many notes", "mask-first": "The mask first, so that each gain shows"}
LAST = 20  # steps in the stated mean loss
RUNGS: dict[str, dict[str, Any]] = {
    "one head of self-attention": {},
    "+ positions": {"positional_encoding": "sinusoidal"},
    "+ four heads": {"heads": 4},
    "+ feed-forward with ReLU": {"feed_forward": "relu"},
    MASK: {"masks": ("causal",)},
    "+ residuals and norms": {"norm_placement": "pre", "final_norm": True},
    "+ three layers": {"layers": 3},
}  # additions of each model to the one before it
SHIPPED = {
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
WRITTEN_TOKENS, SHOWN_TOKENS = 16, 12
ENDS = "nothing: it ends the text at once"
CHEAT = 2.0  # nats between the two losses; a larger gap means that a model looks ahead


@dataclass(frozen=True)
class RungAnswer:
    """A model's losses and continuation, with losses in nats for each token.

    `held_out_loss` is that of the stories in its card, `whole_loss` that of the sentence read at once, `writing_loss`
    that of the sentence read token by token.
    """

    held_out_loss: float
    whole_loss: float
    writing_loss: float
    written: str


def trained_ladder(sentence: str, beginning: str, temperature: float, seed: int, rung: str) -> ScreenRows:
    """The losses and continuation of each shipped model, and one model's losses by token."""
    answers = {SHIPPED[name]: ask_rung(shipped_rung(name), sentence, beginning, temperature, seed) for name in SHIPPED}
    cheats = [name for name, answer in answers.items() if answer.writing_loss - answer.whole_loss > CHEAT]
    honest = min(answers, key=lambda name: answers[name].writing_loss)
    told = f"“{honest}” has the lowest loss in writing, {answers[honest].writing_loss:.2f} nats."
    if cheats:
        told += (
            f" These models are much better when they read the whole sentence, so they look ahead: {', '.join(cheats)}."
        )
    return (
        row(
            BarsView(
                title="Loss of the sentence (nats for each token)",
                labels=tuple(answers),
                series={
                    "training": [one.whole_loss for one in answers.values()],
                    "writing": [one.writing_loss for one in answers.values()],
                },
                note="In training the model reads the whole sentence, in writing only the tokens before the predicted "
                "one.",
            ),
            question=ask_rung_question({name: answer.writing_loss for name, answer in answers.items()}),
        ),
        _token_losses(shipped_rung(rung), SHIPPED[rung], sentence),
        TableView(
            ("model", f"up to {WRITTEN_TOKENS} tokens", "loss of held-out stories, as in training"),
            tuple((name, answer.written or ENDS, answer.held_out_loss) for name, answer in answers.items()),
            title=f"Continuations of “{beginning}”",
        ),
        told,
    )


def ask_rung_question(writing: Mapping[str, float], *, masked: bool = False) -> Question:
    """Asks which part lowers the loss in writing most; `writing` has the losses of the models in their order.

    If all but the first are `masked`, each gain is due to the part itself.
    """
    gains = {name: writing[before] - writing[name] for before, name in pairwise(writing)}
    told = ", ".join(f"{name} {signed(gain)}" for name, gain in gains.items())
    mistake = (
        "Positions and heads also help to look ahead: without the mask the loss in writing says nothing about them."
    )
    return ask_largest(
        "Which addition lowers the loss in writing most?",
        gains,
        {} if masked else {name: mistake for name in ("+ positions", "+ four heads")},
        f"Reduction of the loss by each, in nats: {told}.",
    )


@lru_cache(maxsize=len(SHIPPED))
def shipped_rung(name: str) -> Checkpoint:
    """One of the seven models, of some hundred kilobytes."""
    return load(assets_dir() / "models" / name)


def ask_rung(rung: Checkpoint, text: str, beginning: str, temperature: float, seed: int) -> RungAnswer:
    """Both losses of a sentence, and a continuation."""
    check_cancelled()
    batch = sentence_batch(rung, text)[1]
    written = continuation(rung, beginning, steps=WRITTEN_TOKENS, temperature=temperature, seed=seed)
    writing = float(writing_losses(rung, text).mean())
    return RungAnswer(held_out_loss(rung.card), target_loss(rung.model, batch), writing, written)


def held_out_loss(card: str) -> float:
    """The loss stated in a card in bits, converted to nats for each token."""
    return bits_per_token(card).get("tinystories", nan) * log(2)


@torch.inference_mode()
def writing_losses(rung: Checkpoint, text: str) -> Float[Tensor, " target"]:
    """The loss of each token given only the tokens before it: one forward pass for each beginning."""
    batch = sentence_batch(rung, text)[1]
    losses = [
        functional.cross_entropy(rung.model(batch.ids[:, :length])[:, -1].float(), batch.targets[:, length - 1])
        for length in range(1, batch.ids.shape[1])
    ]
    return torch.stack(losses)


@torch.inference_mode()
def whole_losses(rung: Checkpoint, text: str) -> Float[Tensor, " target"]:
    """The loss of each token if the whole sentence is read at once, as in training."""
    batch = sentence_batch(rung, text)[1]
    return functional.cross_entropy(rung.model(batch.ids)[0, :-1].float(), batch.targets[0, :-1], reduction="none")


def _token_losses(rung: Checkpoint, name: str, text: str) -> BarsView:
    encoded, _ = sentence_batch(rung, text)
    losses = {"training": whole_losses(rung, text), "writing": writing_losses(rung, text)}
    return BarsView(
        title=f"“{name}”: loss of each token",
        labels=token_labels(encoded)[1 : SHOWN_TOKENS + 1],
        series={way: each[:SHOWN_TOKENS] for way, each in losses.items()},
        note="0 means certain. The first token has no token before it and is not predicted.",
    )


@dataclass(frozen=True)
class Rung:
    """A trained model: its loss at each step, its loss in writing, without later characters, and a sample."""

    model: Transformer
    losses: list[float]
    writing_loss: float
    sample: str


def trained_here(text: str, order: str, steps: int, seed: int) -> ScreenRows:
    """Every model, trained from the same seed on the same batches of the learner's text."""
    rungs = {name: climb(text, config, steps, seed) for name, config in rung_configs(text, order).items()}
    learned = {name: mean(rung.losses[-LAST:]) for name, rung in rungs.items()}
    writing = {name: rung.writing_loss for name, rung in rungs.items()}
    return (
        row(
            BarsView(
                title="Loss (nats for each character)",
                labels=tuple(rungs),
                series={"training": list(learned.values()), "writing": list(writing.values())},
                note=f"Guessing at random costs {log(len(set(text))):.2f}. In training, models without the mask see "
                "the character to be predicted.",
            ),
            question=ask_rung_question(writing, masked=order == "mask-first"),
        ),
        TableView(
            ("model", f"the next {WRITTEN} characters", "parameters"),
            tuple((name, rung.sample, f"{parameter_count(rung.model):,}") for name, rung in rungs.items()),
            title=f"Continuations of “{text[:BEGINNING]}”",
        ),
        LinesView(
            "Loss in training",
            range(1, steps + 1),
            {name: rung.losses for name, rung in rungs.items()},
            "step",
            "nats for each character",
        ),
        _told(learned, writing),
    )


def rung_configs(text: str, order: str = "notes") -> dict[str, Config]:
    """The config of each model: that of the model before it plus one addition, in an order of ORDERS."""
    options: dict[str, Any] = {
        "vocabulary_size": len(characters(text)), "context_length": WINDOW, "d_model": D_MODEL, "layers": 1,
        "heads": 1, "masks": (), "positional_encoding": "none", "feed_forward": "none", "norm_placement": "none",
        "norm": "layernorm", "final_norm": False, "bias": True, "embedding": EmbeddingConfig(scale=sqrt(D_MODEL)),
    }  # fmt: skip
    configs = {}
    first, *others = RUNGS
    for name in (first, *sorted(others, key=lambda name: name != MASK)) if order == "mask-first" else RUNGS:
        options |= RUNGS[name]
        configs[name] = Config(**options)
    return configs


def climb(text: str, config: Config, steps: int, seed: int) -> Rung:
    """A model of a config, trained for some steps to predict each next character."""
    known = characters(text)
    ids = torch.tensor([known.index(each) for each in text])
    torch.manual_seed(seed)
    model, batches = Transformer(config).train(), windows(ids, WINDOW + 1, steps, seed)

    def loss() -> Tensor:
        batch = next(batches)
        return functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())

    losses = fit(torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, fused=True), loss, steps)
    model.eval()
    return Rung(model, losses, writing_loss(model, ids, seed), write(model, known, ids[:BEGINNING], seed))


@torch.no_grad()
def writing_loss(model: Transformer, ids: Int[Tensor, " pos"], seed: int) -> float:
    """The mean loss of a character after beginnings of every length, without later characters, as in writing."""
    losses = []
    for length in range(1, WINDOW + 1):
        [batch] = windows(ids, length + 1, 1, seed + length)
        losses.append(functional.cross_entropy(model(batch[:, :-1])[:, -1], batch[:, -1]).item())
    return mean(losses)


@torch.no_grad()
def write(model: Transformer, known: list[str], beginning: Int[Tensor, " pos"], seed: int) -> str:
    """A model's continuation of a beginning, each character drawn from its probabilities."""
    generator, ids = torch.Generator().manual_seed(seed), beginning
    for _ in range(WRITTEN):
        probabilities = torch.softmax(model(ids[None, -WINDOW:])[0, -1], -1)
        ids = torch.cat((ids, torch.multinomial(probabilities, 1, generator=generator)))
    return "".join(known[each] for each in ids[len(beginning) :]).replace("\n", " ")


def windows(
    ids: Int[Tensor, " pos"], length: int, count: int, seed: int, rows: int = ROWS
) -> Iterator[Int[Tensor, "row window"]]:
    """Batches of pieces of a text, drawn at random."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        starts = torch.randint(len(ids) - length + 1, (rows, 1), generator=generator)
        yield ids[starts + torch.arange(length)]


def characters(text: str) -> list[str]:
    """The characters of a text, each once. Raises InputError if it is too short or all characters are equal."""
    if len(text) <= 2 * WINDOW:
        raise InputError(f"The text has {len(text)} characters; more than {2 * WINDOW} are needed to learn from.")
    if len(set(text)) < 2:
        raise InputError("The text has only one kind of character; there is nothing to learn. Type some sentences.")
    return sorted(set(text))


def _told(learned: dict[str, float], writing: dict[str, float]) -> str:
    gaps = {name: writing[name] - learned[name] for name in writing}
    cheat = max(gaps, key=lambda name: gaps[name])
    first, *_, last = writing
    return (
        f"From “{first}” to “{last}” the loss in writing goes from {writing[first]:.2f} to {writing[last]:.2f}. "
        f"“{cheat}” has the largest gap between the two losses, {three_digits(gaps[cheat])} nats. A model without a "
        "mask may look good in training, but its writing shows that it has learned something else."
    )


LADDER = Screen(
    title="One improvement after another",
    lesson="Begin with one head of self-attention and add the other parts of a Transformer, one at a time. The seven "
    "models are trained here and now on your text, or they are shipped ones, trained on 4 million tokens of stories. "
    "Compare their loss in training with their loss in writing, when no later tokens are there.",
    controls={
        "on": ChoiceControl("Models", "here", MODELS),
        "text": TextControl("Text to learn", small_text(), longest=MAX_TRAINING_CHARACTERS, lines=6),
        "order": ChoiceControl("Order", "notes", ORDERS),
        "steps": CountControl("Steps", "200", LAST, 600, step=20),
        "seed": SeedControl(default="2"),  # with this seed, models without a mask look ahead early
        "sentence": TextControl("Sentence", SENTENCE),
        "beginning": TextControl("Beginning that they continue", "Once upon a time"),
        "temperature": NumberControl("Temperature", "0.8", 0.0, 2.0, step=0.1),
        "rung": ChoiceControl("Token by token", "ladder-2-positions", SHIPPED),
    },
    compute={"here": trained_here, "shipped": trained_ladder},
    formulas=(r"\mathrm{FFN}(x) = \max(0, x W_1 + b_1) W_2 + b_2", r"x \leftarrow x + f(\mathrm{LN}(x))"),
    code=(rung_configs, climb, fit, writing_loss, write, ask_rung, whole_losses),
    explore=link(text="sentence", model="rung"),
    elsewhere={"generate": link(text="beginning", model="rung", sampling="t{temperature:g},s{seed}")},
    see_also=(ScreenLink("masks", "cheating"),),
    is_long=True,
)
