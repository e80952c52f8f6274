"""What a model is trained on, and a model that is trained here beside a shipped one."""

from __future__ import annotations

from math import exp, log

import torch

from headlight.checkpoints import Checkpoint
from headlight.course.controls import CountControl, TextControl
from headlight.course.first_reading.reading import MODEL, STORY, largest, losses, read, token_names
from headlight.course.fitting import fit
from headlight.course.language_modeling.ladder import LAST, characters, climb, rung_configs, shipped_rung, write
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import continuation
from headlight.course.tokens.split_screens import MAX_TRAINING_CHARACTERS, small_text
from headlight.nn.transformer import Transformer
from headlight.questions.asking import ask_largest, ask_measured
from headlight.training.train_step import cross_entropy
from headlight.views.forms import bars
from headlight.views.kinds import LinesView, TableView, TokensView
from headlight.views.rows import row
from headlight.views.words import digits, format_count, places

BEGINNING, WRITTEN_TOKENS, SEED = 3, 24, 2  # words; tokens; of the model and of what is drawn
SHIPPED = "stories-causal"


def targets(text: str, model: Checkpoint) -> ScreenRows:
    """Each token of a text as the target of the one before, and how much it surprises the model."""
    trace = read(model, text)
    names, found = token_names(trace.text), losses(trace)
    most, least = largest(found, range(len(found)), 3), largest(-found, range(len(found)), 2)
    options = {names[at + 1]: float(found[at]) for at in sorted({*most, *least})}
    says = {
        name: f"Its loss is {places(loss)} nats: a probability of {_chance(loss)}." for name, loss in options.items()
    }
    best = max(options, key=lambda name: options[name])
    mean = float(found.mean())
    return (
        row(
            TokensView("The model reads", names[:-1]),
            TokensView("It has to predict", names[1:], note="The same text, shifted by one token."),
        ),
        row(
            bars("Loss of each token (nats)", names[1:], found),
            question=ask_largest(
                "Which of these surprises the model most, after the words before it?",
                options,
                says,
                f"Its probability was {_chance(options[best])}, so its loss is {places(options[best])} nats.",
            ),
        ),
        f"The mean of these {len(found)} losses is {places(mean)} nats, as if the model chose each time among "
        f"{exp(mean):,.0f} equally likely tokens. Training changes all tables and networks a little, again and again, "
        "so that this number falls. No labels are needed: the text is its own answer.",
    )


def _chance(loss: float) -> str:
    """The probability behind a loss, which may be very small."""
    return f"{digits(100 * exp(-loss), 2)} %"


TARGETS = Screen(
    title="What is a model trained to do?",
    lesson="To predict the next token, at every token of a text at once: the mask hides each answer. The loss says how "
    "surprised it was.",
    controls={"text": STORY, "model": MODEL},
    compute=targets,
    formulas=(r"L = -\frac{1}{n} \sum_i \log p(t_{i+1} \mid t_1, \ldots, t_i)",),
    code=(targets, cross_entropy),
    explore=link("model", "text"),
)


def _size(network: Transformer) -> str:
    return format_count(sum(each.numel() for each in network.parameters()))


def two_writers(text: str, steps: int) -> ScreenRows:
    """A new model that learns a text letter by letter, and stories-causal, both continuing its first words."""
    known = characters(text)
    *_, config = rung_configs(text).values()
    rung = climb(text, config, steps, SEED)
    words = text.split()[:BEGINNING]
    beginning = " ".join(words)
    given = text[: text.index(words[-1], sum(map(len, words[:-1]))) + len(words[-1])]
    ids = torch.tensor([known.index(each) for each in given])
    chance, reached = log(len(known)), sum(rung.losses[-LAST:]) / LAST
    own = write(rung.model, known, ids, SEED)
    shipped = shipped_rung(SHIPPED)
    written = continuation(shipped, beginning, steps=WRITTEN_TOKENS, temperature=0.8, seed=SEED)
    return (
        f"At first the model knows nothing: to guess among {len(known)} characters costs ln {len(known)} = "
        f"{places(chance)} nats for each of them.",
        row(
            LinesView(
                "Loss in training",
                range(1, steps + 1),
                {"loss": rung.losses},
                "step",
                "nats for each character",
            ),
            question=ask_measured(
                f"Which loss did it reach, as the mean of the last {LAST} of its {steps} steps?",
                [share * chance for share in (1, 0.7, 0.4, 0.1)],
                reached,
                places,
            ),
        ),
        TableView(
            ("writer", "reads", "learned numbers", f"continuation of “{beginning}”"),
            (
                ("the model trained here", f"{len(known)} characters", _size(rung.model), own),
                (SHIPPED, f"{shipped.tokenizer.vocabulary_size:,} tokens", _size(shipped.model), written),
            ),
            title="Two writers",
        ),
        f"The loss fell from {places(rung.losses[0])} to {places(reached)} nats for each character. Both are decoders "
        f"of the parts that you have met: the one trained here has {config.layers} layers of {config.heads} heads, "
        f"{SHIPPED} {shipped.model.config.layers} layers of {shipped.model.config.heads}. They also differ in what "
        "they read, characters or pieces of words, in how much of it they have read, and in details such as the norms.",
    )


TWO_WRITERS = Screen(
    title="Can a model that you train write?",
    lesson="All parts are together now. Train a small model on a text, and let it write beside one that has read "
    "thousands of stories.",
    controls={
        "text": TextControl("Text to learn", small_text(), longest=MAX_TRAINING_CHARACTERS, lines=6),
        "steps": CountControl("Steps", "300", LAST, 600, step=20),
    },
    compute=two_writers,
    formulas=(r"\theta \leftarrow \theta - \eta \frac{\partial L}{\partial \theta}",),
    code=(two_writers, climb, fit, write),
    explore=link(fixed={"model": SHIPPED}),
    elsewhere={"generate": link(fixed={"model": SHIPPED, "text": "Once upon a time"})},
    is_long=True,
)
