"""What pretraining buys: a small classifier on pretrained vectors needs only a few labelled lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.checkpoints.load import Checkpoint
from headlight.course.cards import Table, card_section, card_table
from headlight.course.controls import ModelControl, SeedControl, TextControl
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.tokens.model_vectors import text_vectors
from headlight.data.bag_of_words import NaiveBayes
from headlight.data.examples import Example
from headlight.data.text_tasks import SENTIMENT_LABELS
from headlight.errors import InputError, shortened
from headlight.evaluation.held_out import hand_written_examples
from headlight.evaluation.text_tasks import Accuracy
from headlight.nn.transformer import Transformer
from headlight.paths import assets_dir
from headlight.questions.asking import ask_whether
from headlight.views.kinds import LinesView, TableView, Verdict
from headlight.views.rows import Row, row
from headlight.views.words import percent, signed_percent

LEAST_LINES, MOST_LINES = 4, 60  # labelled lines
RIDGE = 1.0
DRAWS = 12  # of some of the lines
PRETRAINED, RANDOM = "pretrained network", "the same network, random weights"
LINE = re.compile(r"([+-])\s*(\S.*)")
LINES = """+ a lovely, clever film
- a dull and stupid film
+ the food was fresh and the staff were kind
- the food was cold and the waiter was rude
+ I would buy it again
- it broke after one week
+ full of warm and funny moments
- full of tired old jokes
+ it works perfectly and looks great
- it does not work at all
+ the best evening I have had in months
- the worst two hours of my life
+ beautiful pictures and wonderful music
- ugly pictures and terrible music
+ everyone in the family enjoyed it
- everyone in the family was bored
+ a touching story, simply told
- a silly story, badly told
+ they answered quickly and helped me
- they never answered my letters"""


@dataclass(frozen=True, eq=False)
class Classifier:
    """A linear classifier: a text is positive if its vector, times the weights, is."""

    weights: Float[Tensor, " channel"]
    mean: Float[Tensor, " channel"]
    deviation: Float[Tensor, " channel"]

    def scores(self, vectors: Float[Tensor, "text channel"]) -> Float[Tensor, " text"]:
        """Scores, above 0 for positive texts; the targets in training were 1 and -1."""
        return (vectors - self.mean) / self.deviation @ self.weights


@dataclass(frozen=True, eq=False)
class LabelCurve:
    """The share of right answers of each initialization, by number of labelled lines and draw."""

    counts: list[int]
    right: dict[str, Float[Tensor, "count draw"]]


def pretraining(model: Checkpoint, lines: str, sentence: str, seed: int) -> ScreenRows:
    """The accuracy of each initialization on the hand-written reviews, and its answer for the learner's sentence."""
    examples, tests = parse_lines(lines), reviews()
    asked = [*tests, sentence]
    vectors = embed(model, examples, asked, seed)
    answers = {name: classify(each, examples) for name, each in vectors.items()}
    bayes = NaiveBayes(examples)
    answers["no network: word counts (Naive Bayes)"] = [bayes.answer(text) for text in asked]
    scored = {
        name: Accuracy(sum(map(str.__eq__, given, tests.values())), len(tests)) for name, given in answers.items()
    }
    rows = tuple((name, given[-1], _spaced(str(scored[name]))) for name, given in answers.items())
    columns = ("classifier trained on your lines", "your sentence", f"{len(tests)} reviews written for this test")
    return (
        row(
            TableView(columns, rows),
            title=f"{len(examples)} labelled lines",
            question=ask_whether(
                "Does the pretrained network classify more reviews correctly than the one with random weights?",
                scored[PRETRAINED].right > scored[RANDOM].right,
            ),
        ),
        *_fewer_rows(accuracy_by_count(vectors, examples, seed)),
        _verdict(scored),
        _shipped_row(),
    )


def embed(
    model: Checkpoint, examples: Sequence[Example], texts: Sequence[str], seed: int
) -> dict[str, Float[Tensor, "text channel"]]:
    """The vectors of the labelled lines and other texts, in this order, in the pretrained network and a random one."""
    read = [*(one.text for one in examples), *texts]
    starts = {PRETRAINED: model, RANDOM: untrained(model, seed)}
    return {name: torch.tensor(text_vectors(start, read)) for name, start in starts.items()}


def accuracy_by_count(vectors: dict[str, Tensor], examples: Sequence[Example], seed: int) -> LabelCurve:
    """The share of reviews that each initialization gets right with different numbers of lines, over many draws.

    `vectors` are those of `embed`, where the reviews come first among the other texts. Both learn from the same lines
    of each draw, half of them positive, so that they differ only in the initialization.
    """
    tests, right = reviews(), dict[str, Tensor]()
    places = [[at for at, one in enumerate(examples) if one.answer == label] for label in SENTIMENT_LABELS]
    most, draws = min(map(len, places)), Random(seed)
    counts = [2**power for power in range(most.bit_length()) if 2**power < most] or [1]
    chosen = [[[at for each in places for at in draws.sample(each, n)] for _ in range(DRAWS)] for n in counts]
    targets, answers = (_targets(each) for each in ([one.answer for one in examples], [*tests.values()]))
    for name, read in vectors.items():
        own, new = read[: len(examples)], read[len(examples) : len(examples) + len(tests)]
        found = [[fit(own[lines], targets[lines]).scores(new) for lines in each] for each in chosen]
        right[name] = torch.stack([(torch.stack(each).sign() == answers).float().mean(1) for each in found])
    return LabelCurve([2 * count for count in counts], right)


def _targets(answers: Sequence[str]) -> Float[Tensor, " text"]:
    return torch.tensor([1.0 if answer == SENTIMENT_LABELS[1] else -1.0 for answer in answers])


def _fewer_rows(curve: LabelCurve) -> ScreenRows:
    """What pretraining adds at each number of labels, with its standard error."""
    gains = curve.right[PRETRAINED] - curve.right[RANDOM]
    means, errors = gains.mean(1).tolist(), (gains.std(1) / DRAWS**0.5).tolist()
    sure = [n for n, gain, error in zip(curve.counts, means, errors, strict=True) if gain > 2 * error]
    told = f"With {' and '.join(map(str, sure))} lines," if sure else "For no number of lines,"
    return (
        row(
            LinesView(
                "Correctly classified reviews",
                curve.counts,
                {name: each.mean(1) for name, each in curve.right.items()},
                "labelled lines",
                "share",
            ),
            TableView(
                ("labelled lines", "more right", "standard error"),
                tuple(
                    (str(n), signed_percent(gain), percent(error))
                    for n, gain, error in zip(curve.counts, means, errors, strict=True)
                ),
                title="What pretraining adds",
            ),
            title=f"With fewer lines: the mean of {DRAWS} draws, with the same lines for both",
        ),
        Verdict(
            f"{told} pretraining adds more than twice its standard error. The error covers only the draws of lines: "
            "draw other random weights, and see which gains stay.",
            good=bool(sure),
        ),
    )


def parse_lines(text: str) -> list[Example]:
    """Labelled lines: + or - and a text. Raises InputError."""
    found = []
    for line in filter(str.strip, text.splitlines()):
        match = LINE.fullmatch(line.strip())
        if not match:
            raise InputError(f"Each line begins with + or -, then a text; {shortened(line.strip(), 40)!r} does not.")
        found.append(Example(match[2], SENTIMENT_LABELS[match[1] == "+"]))
    if not LEAST_LINES <= len(found) <= MOST_LINES or len({one.answer for one in found}) < len(SENTIMENT_LABELS):
        raise InputError(
            f"These are {len(found)} labelled lines; give {LEAST_LINES} to {MOST_LINES}, some with + and some with -."
        )
    return found


@lru_cache(maxsize=1)
def reviews() -> dict[str, str]:
    """The hand-written reviews that ship with Headlight, each with its label; they are not used in training."""
    return {one.text: one.answer for one in hand_written_examples("sentiment")}


def untrained(checkpoint: Checkpoint, seed: int) -> Checkpoint:
    """The same network with newly initialized weights."""
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        return replace(checkpoint, model=Transformer(checkpoint.model.config).eval())


def classify(vectors: Float[Tensor, "text channel"], examples: Sequence[Example]) -> list[str]:
    """The labels of the texts after the labelled lines, by a linear classifier on the network's mean vectors."""
    targets = _targets([one.answer for one in examples])
    scores = fit(vectors[: len(examples)], targets).scores(vectors[len(examples) :])
    return [SENTIMENT_LABELS[int(score > 0)] for score in scores]


def fit(vectors: Float[Tensor, "text channel"], targets: Float[Tensor, " text"]) -> Classifier:
    """Ridge regression of the targets on standardized vectors: w = X^T (X X^T + n I)^-1 y."""
    mean, deviation = vectors.mean(0), vectors.std(0) + 1e-6
    x = (vectors - mean) / deviation
    kernel = x @ x.T / x.shape[1]
    solved = torch.linalg.solve(kernel + RIDGE * torch.eye(len(x)), targets)
    return Classifier(x.T @ solved / x.shape[1], mean, deviation)


def _verdict(scored: dict[str, Accuracy]) -> Verdict:
    best = max(scored, key=lambda name: scored[name].right)
    error = max(one.standard_error for one in scored.values())
    return Verdict(
        f"“{best}” is most accurate. A difference of less than {percent(2 * error)} may be chance: write more "
        "lines, or draw other random weights."
    )


def variant_scores(card: str) -> Table:
    """The rows of a card's table of other ways to train its model, with the held-out texts classified correctly."""
    return card_table(_spaced(re.sub(r"`(.*?)`", r"“\1”", card_section(card, "Measured"))))[1:]


def _spaced(text: str) -> str:
    """A text with the percentages of a card (72.0%) as a page writes them."""
    return text.replace("%", " %")


def _shipped_row() -> Row:
    """The results in the shipped model's card, from thousands of lines."""
    card = (assets_dir() / "models" / "sentiment" / "README.md").read_text(encoding="utf-8")
    return row(
        TableView(("trained on all reviews", "held-out reviews"), variant_scores(card)),
        title="With many lines: the shipped model",
        text="Here all weights are trained, unless the table says otherwise. The figures are from the card of "
        "“sentiment”, which has a recipe for each line.",
    )


PRETRAINING = Screen(
    title="What pretraining buys",
    lesson="A network that has filled gaps in many texts knows something about words before it sees the first label. "
    "Write a few labelled lines: a linear classifier learns from them on the vectors of a pretrained network, and on "
    "those of the same network with random weights. A third classifier only counts words, without any network.",
    controls={
        "model": ModelControl(default="stories-masked"),
        "lines": TextControl("Labelled lines: + or - first", LINES, longest=3000, lines=12),
        "sentence": TextControl("Your sentence", "the soup was wonderful"),
        "seed": SeedControl(default="1"),
    },
    compute=pretraining,
    formulas=(r"w = X^T (X X^T + n I)^{-1} y",),
    code=(classify, accuracy_by_count, fit, untrained),
    explore=link("model", text="sentence"),
    elsewhere={"tasks": link(text="sentence", fixed={"model": "sentiment", "task": "classify"})},
)
