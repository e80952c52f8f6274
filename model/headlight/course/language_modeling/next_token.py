"""Next-token training: the targets are the tokens moved by one; and a new decoder that learns one sentence so."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import torch
from torch import Tensor
from torch.nn import functional

from headlight.array_types import Int
from headlight.checkpoints.load import Checkpoint
from headlight.config import Config
from headlight.course.controls import ChoiceControl, ModelControl, NumberControl, SeedControl, TextControl
from headlight.course.fitting import fit
from headlight.course.pictures import LinesPicture, TablePicture, TokensPicture, row, verdict_row
from headlight.course.questions import ask_nearest, choose
from headlight.course.screen import Answer, Screen, link
from headlight.course.sentences import counted, sentence_batch, target_loss, token_labels
from headlight.errors import InputError
from headlight.nn.transformer import Transformer

MOST_WORDS, D_MODEL, LEARNING_RATE = 24, 32, 1e-3
SHOWN = 8  # of the steps, with what is written then


def next_token_training(on: str, model: Checkpoint, text: str, given: int, steps: int, seed: int) -> Answer:
    """The targets of the sentence under a trained model, or a new model while it learns the sentence."""
    return shifted_targets(model, text) if on == "trained" else learned_here(text, given, steps, seed)


@torch.inference_mode()
def shifted_targets(model: Checkpoint, text: str) -> Answer:
    """Each token of the sentence and its target, with the target's probability and loss."""
    network, tokenizer = model.model, model.tokenizer
    encoded, batch = sentence_batch(model, text)
    labels = token_labels(encoded)
    probabilities = network(batch.ids)[0, :-1].float().softmax(-1).cpu()
    wanted = batch.targets[0, :-1].cpu()
    of_target = probabilities[torch.arange(len(wanted)), wanted]
    best = [tokenizer.stripped_token_text(int(token)) for token in probabilities.argmax(-1)]
    rows = tuple(
        (f"{labels[at]}", labels[at + 1], float(p), -float(p.log()), best[at]) for at, p in enumerate(of_target)
    )
    right = sum(token == label for token, label in zip(best, labels[1:], strict=True))
    return (
        row(TokensPicture(title="What the model reads", tokens=labels[:-1])),
        row(
            TokensPicture(title="Targets: the same, moved by one", tokens=labels[1:], shades=of_target),
            question=ask_nearest(
                f"From how many predictions does training on these {len(labels)} tokens learn at once?",
                {"1, the last": 1} | {str(count): count for count in (len(labels) // 2, len(labels) - 1, len(labels))},
                len(rows),
            ),
        ),
        row(TablePicture(columns=("after", "target", "probability", "loss", "first guess"), rows=rows, digits=3)),
        verdict_row(
            f"One sentence, {len(rows)} tasks, all computed at once: the causal mask hides each target from its own "
            f"prediction. The mean loss is {target_loss(network, batch):.3f} nats; {right} first guesses are right."
        ),
    )


@dataclass(frozen=True)
class Learning:
    """A training: the loss of each step, what is written before some of them, and from which on it stays right.

    `learned` is None where the last step's answer is still wrong.
    """

    losses: list[float]
    written: dict[int, str]
    learned: int | None


def learn_sentence(words: list[str], given: int, steps: int, seed: int) -> Learning:
    """A new decoder, and what it writes after the first `given` words while its weights are changed."""
    known = sorted(set(words))
    ids = torch.tensor([[known.index(word) for word in words]])
    config = Config(vocabulary_size=len(known), context_length=MOST_WORDS, d_model=D_MODEL, layers=1, heads=2)
    torch.manual_seed(seed)
    model, written, is_right = Transformer(config).train(), dict[int, str](), list[bool]()
    shown = {round(steps * part / SHOWN) for part in range(SHOWN + 1)}

    def loss() -> Tensor:
        logits = model(ids[:, :-1])[0]
        # Each word is right after the right ones before it, and so the whole is what the model writes by itself.
        is_right.append(bool((logits.argmax(-1) == ids[0, 1:])[given - 1 :].all()))
        return functional.cross_entropy(logits, ids[0, 1:])

    def keep(step: int) -> None:
        if step in shown:
            written[step] = " ".join(known[each] for each in complete(model, ids[0, :given], len(words)))

    losses = fit(torch.optim.AdamW(model.parameters(), LEARNING_RATE), loss, steps, after_backward=keep)
    losses.append(loss().item())
    keep(steps)
    learned = max((step + 1 for step, right in enumerate(is_right) if not right), default=0)
    return Learning(losses, written, learned if learned <= steps else None)


@torch.no_grad()
def complete(model: Transformer, given: Int[Tensor, " pos"], length: int) -> list[int]:
    """What the model writes after some words, the likeliest each time, until there are `length` of them."""
    ids = given
    while len(ids) < length:
        ids = torch.cat((ids, model(ids[None])[0, -1:].argmax(-1)))
    return ids[len(given) :].tolist()


def learned_here(text: str, given: int, steps: int, seed: int) -> Answer:
    """The losses of a new decoder on one sentence, and how it completes it step by step."""
    words = text.split()
    if not given < len(words) <= MOST_WORDS:
        raise InputError(
            f"The sentence has {counted(len(words), 'word')}; from {given + 1} to {MOST_WORDS} are possible where "
            f"{given} of them are given."
        )
    found, rest = learn_sentence(words, given, steps, seed), " ".join(words[given:])
    options = ("fewer than 10", "10 to 29", "30 or more", f"not in {steps}")
    answer = 3 if found.learned is None else sum(found.learned >= least for least in (10, 30))
    told = (
        f"{counted(steps, 'step')} were not enough: take more."
        if found.learned is None
        else f"After {counted(found.learned, 'step')} it completes the sentence, and goes on to do so."
    )
    return (
        row(TokensPicture(title="Given, and to be written", tokens=tuple(words), shades=[0.6] * given)),
        row(
            TablePicture(
                title=f"What it writes after “{' '.join(words[:given])}”",
                columns=("steps", "loss", "completion"),
                rows=tuple(
                    (str(step), found.losses[step], f"{line} {'✓' if line == rest else '✗'}")
                    for step, line in found.written.items()
                ),
                digits=3,
            ),
            LinesPicture(
                title="Mean loss of the next word", x=list(range(steps + 1)), series={"loss": found.losses},
                x_title="step", y_title="nats",
            ),
            question=choose(
                "After how many steps does it complete your sentence, and go on to do so?", options, answer, {}
            ),
        ),
        verdict_row(
            f"{told} Before the first step its loss is {found.losses[0]:.2f} nats; were all words equally likely, it "
            f"would be ln {len(set(words))} = {log(len(set(words))):.2f}. It learns one sentence by heart, and no "
            "language.",
            good=found.learned is not None,
        ),
    )  # fmt: skip


SHIFTED_TARGETS = Screen(
    title="Next-token training: the sentence is its own answer",
    lesson="The targets are the tokens themselves, moved by one place: at every token the model is asked for the "
    "next. No labels are needed. The shade of a target is the probability that a trained model gave it; or train a "
    "new one, and see its weights change until it completes your sentence.",
    controls={
        "on": ChoiceControl(
            title="Model",
            default="trained",
            options={"trained": "A trained one", "here": "A new one, trained on this sentence now"},
        ),
        "model": ModelControl(when="on=trained", default="stories-causal", needs="continues-texts"),
        "text": TextControl(title="Sentence", default="Once upon a time there was a little girl"),
        "given": NumberControl(title="Words that are given", when="on=here", default="2", low=1, high=8, whole=True),
        "steps": NumberControl(title="Steps", when="on=here", default="60", low=1, high=200, whole=True),
        "seed": SeedControl(when="on=here"),
    },
    compute=next_token_training,
    formulas=(r"L = -\frac{1}{n} \sum_i \log p(t_{i+1} \mid t_1, \ldots, t_i)",),
    code=(shifted_targets, target_loss, learn_sentence, complete, fit),
    explore=link("model", "text"),
)
