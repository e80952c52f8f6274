"""Order matters: the same words in another order, with and without positions and mask."""

from __future__ import annotations

import torch

from headlight.checkpoints import Checkpoint
from headlight.course.controls import ChoiceControl, ModelControl, SeedControl, TextControl
from headlight.course.pictures import MatrixPicture, TablePicture, TokensPicture, row, verdict_row
from headlight.course.positions.order import OrderTest, compare_orders, shuffled
from headlight.course.questions import ask_whether
from headlight.course.screen import Answer, Screen, StateFields, compared, link
from headlight.nn.attention import Attention
from headlight.nn.transformer import variant

SAME = 1e-4  # differences below this share of a vector's length are rounding of 32 bits
SETTINGS = {
    "positions, no mask": (None, "none"),
    "no positions, no mask": ("none", "none"),
    "positions, causal mask": (None, "causal"),
    "no positions, causal mask": ("none", "causal"),
}


def two_orders(model: Checkpoint, one: str, order: str, other: str, seed: int) -> Answer:
    """The vectors of the same words in two orders, under every wiring of one model."""
    other = other_order(one, order, other, seed)
    tests = {
        name: compare_orders(model, one, other, positional_encoding=encoding, masks=masks)
        for name, (encoding, masks) in SETTINGS.items()
        if encoding or model.model.config.positional_encoding != "none"
    }
    return (
        row(
            *(
                TokensPicture(title=title, tokens=tuple(text.split()))
                for title, text in (("One order", one), ("The other order", other))
            )
        ),
        row(
            MatrixPicture(
                title="How far each word's last vector is from the same word's in the other order",
                values=torch.tensor([test.differences for test in tests.values()]),
                rows=tuple(tests),
                columns=tests["no positions, no mask"].words,
                note="As a share of the vector's length.",
            ),
            question=ask_whether(
                "Without positions and without a mask: does a word's last vector tell that the order is another one?",
                _notices(tests["no positions, no mask"]),
            ),
        ),
        row(
            TablePicture(
                title="Told in numbers",
                columns=(
                    "wiring of the same weights",
                    "largest difference of a word",
                    "difference of the mean of all words",
                    "order",
                ),
                rows=tuple(
                    (
                        name,
                        f"{max(test.differences):.2g}",
                        f"{test.mean_difference:.2g}",
                        "noticed" if _notices(test) else "not noticed",
                    )
                    for name, test in tests.items()
                ),
            )
        ),
        verdict_row(_verdict(tests)),
    )


def _notices(test: OrderTest) -> bool:
    return max(test.differences) > SAME


def _verdict(tests: dict[str, OrderTest]) -> str:
    bag, masked = tests["no positions, no mask"], tests["no positions, causal mask"]
    if _notices(bag):
        return "This model notices the order even without positions and mask: something else in it tells it."
    return (
        "Without positions and mask each word gets the same vector wherever it stands: the vectors move with their "
        "words (equivariant), and only their mean stays what it was (invariant). "
        + (
            "With a causal mask and still no positions the order is noticed: how many words one may look back at tells "
            "where one stands. A mask and a positional encoding are two things."
            if _notices(masked)
            else "A causal mask changes nothing here, as both orders begin alike for every word."
        )
    )


def other_order(one: str, order: str, other: str, seed: int) -> str:
    """The second order: as it was typed, or drawn by the seed."""
    return other if order == "typed" else shuffled(one, seed)


def compare_both(model: str, one: str, order: str, other: str, seed: int) -> StateFields:
    """Both orders side by side."""
    second = other_order(one, order, other, seed)
    return compared(INSIDE(model=model, one=one), {"text": f" {second}"})


INSIDE = link("model", text=" {one}")  # read as here: with a space in front, as inside a sentence
ORDER = Screen(
    title="Cat chased dog, dog chased cat",
    lesson=(
        "The same words in another order mean something else, but attention by itself sees only which words there are. "
        "Positions tell it the order, and so does a causal mask. Every wiring below has the same trained weights: type "
        "another order, or let chance draw one, and compare how far each word's vector moves."
    ),
    controls={
        "model": ModelControl(default="stories-masked"),
        "one": TextControl(title="One order", default="cat chased dog"),
        "order": ChoiceControl(
            title="The other order", default="typed", options={"typed": "As typed", "drawn": "Drawn at random"}
        ),
        "other": TextControl(title="Typed", default="dog chased cat", when="order=typed"),
        "seed": SeedControl(when="order=drawn"),
    },
    compute=two_orders,
    formulas=(r"f(X_{\pi}) = f(X)_{\pi}", r"\mathrm{mean}\,f(X_{\pi}) = \mathrm{mean}\,f(X)"),
    code=(compare_orders, shuffled, variant, Attention.weighted_sum),
    explore=INSIDE,
    elsewhere={"compare": compare_both},
)
