"""Order matters: the same words in another order, with and without positions and mask."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
import torch

from headlight.analysis.run_comparison import align
from headlight.checkpoints import Checkpoint
from headlight.course.controls import ChoiceControl, ModelControl, SeedControl, TextControl
from headlight.course.screen import Screen, ScreenRows, StateFields, compared, link
from headlight.errors import InputError
from headlight.nn.attention import Attention
from headlight.nn.transformer import variant
from headlight.questions.asking import ask_whether
from headlight.tracing.run import run
from headlight.views.kinds import MatrixView, TableView, TokensView
from headlight.views.rows import row
from headlight.views.words import digits


@dataclass(frozen=True, eq=False)
class OrderTest:
    """The same words in two orders under one model.

    `words` are the corresponding tokens of both texts; `differences` are the distances of their last vectors (relative
    to their length), and `mean_difference` is that of the means of all vectors.
    """

    words: tuple[str, ...]
    differences: tuple[float, ...]
    mean_difference: float


def shuffled(text: str, seed: int) -> str:
    """The words of a text in another order; a full stop stays at the end. Raises InputError for a single word."""
    ending = text[len(text.rstrip(".!? ")) :].strip()
    words = text.rstrip(".!? ").split()
    if len(set(words)) < 2:
        raise InputError("There is only one word, which has no other order. Type two or more.")
    order = list(words)
    random = Random(seed)
    while order == words:
        random.shuffle(order)
    return " ".join(order) + ending


def compare_orders(
    checkpoint: Checkpoint, text: str, other: str, *, positional_encoding: str | None, masks: str | None
) -> OrderTest:
    """Both texts under the same weights, optionally with another positional encoding and other masks.

    Each word is compared with itself at its other position. Raises InputError if the texts have different words.
    """
    if sorted(text.split()) != sorted(other.split()):
        raise InputError("The two lines must have the same words, equally often; only their order may differ.")
    model = variant(checkpoint.model, positional_encoding=positional_encoding, masks=masks)
    # With a space in front, the first word has the same token as inside a sentence.
    traces = [run(model, checkpoint.tokenizer, " " + line, keep=("*.final_residual",)) for line in (text, other)]
    pairs = align(traces[0].text, traces[1].text, "words")
    one, two = (trace[f"{trace.config.stacks[-1]}.final_residual"].astype(np.float64) for trace in traces)
    return OrderTest(
        tuple(traces[0].text.token_texts[first].strip() for first, _ in pairs),
        tuple(_relative_distance(one[first], two[second]) for first, second in pairs),
        _relative_distance(one.mean(0), two.mean(0)),
    )


def _relative_distance(one: np.ndarray, other: np.ndarray) -> float:
    length = max(float(np.linalg.norm(one)), float(np.linalg.norm(other)), float(np.finfo(np.float32).tiny))
    return float(np.linalg.norm(one - other)) / length


SAME = 1e-4  # differences below this share of a vector's length are rounding errors of 32 bits
SETTINGS = {
    "positions, no mask": (None, "none"),
    "no positions, no mask": ("none", "none"),
    "positions, causal mask": (None, "causal"),
    "no positions, causal mask": ("none", "causal"),
}


def two_orders(model: Checkpoint, one: str, order: str, other: str, seed: int) -> ScreenRows:
    """The vectors of the same words in two orders, under every combination of positions and mask."""
    other = other_order(one, order, other, seed)
    tests = {
        name: compare_orders(model, one, other, positional_encoding=encoding, masks=masks)
        for name, (encoding, masks) in SETTINGS.items()
        if encoding or model.model.config.positional_encoding != "none"
    }
    return (
        row(
            *(
                TokensView(title, tuple(text.split()))
                for title, text in (("One order", one), ("The other order", other))
            )
        ),
        row(
            MatrixView(
                "Distance between each word's last vectors in the two orders",
                torch.tensor([test.differences for test in tests.values()]),
                rows=tuple(tests),
                columns=tests["no positions, no mask"].words,
                note="As a share of the vector's length." + _said_of_marks(tests["no positions, no mask"].words, one),
            ),
            question=ask_whether(
                "No positions, no mask: does a word's last vector change when the words are in another order?",
                _notices(tests["no positions, no mask"]),
                "Attention by itself sees which words there are, but not where they are.",
            ),
        ),
        TableView(
            (
                "settings, with the same weights",
                "largest difference of a word",
                "difference of the mean of all words",
                "order",
            ),
            tuple(
                (
                    name,
                    _told(max(test.differences)),
                    _told(test.mean_difference),
                    "noticed" if _notices(test) else "not noticed",
                )
                for name, test in tests.items()
            ),
            title="In numbers",
        ),
        _verdict(tests),
    )


def _said_of_marks(tokens: tuple[str, ...], text: str) -> str:
    """A note on the tokens that the text does not contain."""
    marks = " and ".join(token for token in tokens if token not in text)
    return f" {marks}: special tokens that this model's tokenizer puts around a text." if marks else ""


def _told(difference: float) -> str:
    return digits(difference, 2) if difference > SAME else f"less than {SAME}"


def _notices(test: OrderTest) -> bool:
    return max(test.differences) > SAME


def _verdict(tests: dict[str, OrderTest]) -> str:
    bag, masked = tests["no positions, no mask"], tests["no positions, causal mask"]
    if _notices(bag):
        return (
            "This model notices the order even without positions and mask: something else in it depends on the order."
        )
    return (
        "Without positions and mask, each word gets the same vector wherever it is: the vectors move with their words "
        "(equivariant), and their mean stays the same (invariant). "
        + (
            "With a causal mask, the order is noticed even without positions: the number of visible earlier words "
            "depends on a word's position. A mask and a positional encoding are two different things."
            if _notices(masked)
            else "A causal mask changes nothing here, since every word has the same words before it in both orders."
        )
    )


def other_order(one: str, order: str, other: str, seed: int) -> str:
    """The second order, as typed or drawn by the seed."""
    return other if order == "typed" else shuffled(one, seed)


def compare_both(model: str, one: str, order: str, other: str, seed: int) -> StateFields:
    """Both orders side by side."""
    second = other_order(one, order, other, seed)
    return compared(INSIDE(model=model, one=one), {"text": f" {second}"})


INSIDE = link("model", text=" {one}")  # as on this screen: with a space in front, as inside a sentence
ORDER = Screen(
    title="Cat chased dog, dog chased cat",
    lesson="The same words in another order mean something else. Where does a model get the order from: attention by "
    "itself, a causal mask, or the positions? All settings below have the same trained weights: type another order, or "
    "draw one at random, and compare how far each word's vector moves.",
    controls={
        "model": ModelControl(default="stories-masked"),
        "one": TextControl("One order", "cat chased dog"),
        "order": ChoiceControl("The other order", "typed", {"typed": "As typed", "drawn": "Drawn at random"}),
        "other": TextControl("Typed", "dog chased cat", when="order=typed"),
        "seed": SeedControl(when="order=drawn"),
    },
    compute=two_orders,
    formulas=(r"f(X_{\pi}) = f(X)_{\pi}", r"\mathrm{mean}\,f(X_{\pi}) = \mathrm{mean}\,f(X)"),
    code=(compare_orders, shuffled, variant, Attention.weighted_sum),
    explore=INSIDE,
    elsewhere={"compare": compare_both},
)
