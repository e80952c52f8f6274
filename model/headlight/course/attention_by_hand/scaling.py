"""Why scores are divided by the square root of d: their variance, sampled beside its proof."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor

from headlight.course.attention import attend
from headlight.course.controls import ChoiceControl, NumberControl, SeedControl
from headlight.course.pictures import BarsPicture, LinesPicture, TablePicture, row, verdict_row
from headlight.course.questions import ask_nearest
from headlight.course.screen import Answer, Screen, compare_link, link
from headlight.nn.attention import Attention
from headlight.nn.attention_functions import AttentionFunction

WIDTHS = tuple(2**power for power in range(10))
PAIRS = 4_000  # queries and keys of which each variance is taken
KEYS, ROWS = 8, 200  # of the rows of weights whose largest is taken
EXPLORE_UNSCALED = link(fixed={"model": "stories-causal", "scale": "off"})
COMPARE_UNSCALED = compare_link(link(fixed={"model": "stories-causal"}), link(fixed={"scale": "off"}))
DRAWS = {"normal": "Normal: mean 0, variance 1", "uniform": "torch.rand: from 0 to 1"}


def variance_of_scores(width: int, draw: str, seed: int) -> Answer:
    """The variance of q · k over d, and how far the softmax is saturated with and without the scale."""
    generator = torch.Generator().manual_seed(seed)
    products = {d: (_draw(draw, generator, PAIRS, d) * _draw(draw, generator, PAIRS, d)).sum(1) for d in WIDTHS}
    measured = torch.stack([products[d].var() for d in WIDTHS])
    widths = torch.tensor(WIDTHS, dtype=torch.float32)
    chosen = (_draw(draw, generator, PAIRS, width) * _draw(draw, generator, PAIRS, width)).sum(1)
    scaled, unscaled = (torch.stack([_largest_weight(draw, d, seed, scale) for d in WIDTHS]) for scale in (True, False))
    predicted = widths if draw == "normal" else widths * 7 / 144
    return (
        row(
            LinesPicture(
                title=f"Variance of q · k, of {PAIRS:,} pairs for each d",
                x=widths,
                series={"measured": measured, "proved": predicted, "after division by √d": measured / widths},
                broken=("proved",),
                x_title="d",
                y_title="variance",
                log_x=True,
                log_y=True,
            ),
            LinesPicture(
                title=f"The largest of {KEYS} weights, mean of {ROWS} rows",
                x=widths,
                series={"scores divided by √d": scaled, "as they are": unscaled},
                x_title="d",
                y_title="largest weight",
                log_x=True,
            ),
            question=ask_nearest(
                f"Add up the products of {width} pairs of random numbers. What is the variance of the sum nearest to?",
                {"1": 1, f"√{width}": width**0.5, str(width): width, f"{width}²": width**2},
                float(chosen.var()),
                {
                    "1": "Each product has the variance 1; variances of independent terms add up.",
                    f"√{width}": "That is its standard deviation, the root of the variance.",
                    f"{width}²": "The variance of a sum is the sum of the variances, not their product.",
                }
                if draw == "normal"
                else {str(width): "The variance of one product is 7/144 here, since the numbers lie between 0 and 1."},
            ),
        ),
        row(
            _histogram(f"q · k for d = {width}", chosen),
            _histogram(f"q · k / √{width}", chosen / width**0.5),
            title="The scores themselves",
        ),
        row(_facts(width, chosen)),
        verdict_row(
            f"At d = {WIDTHS[-1]} the largest of {KEYS} weights is {unscaled[-1]:.2f} without the scale and "
            f"{scaled[-1]:.2f} with it. A weight near 1 leaves almost no gradient: its slope is a (1 − a)."
            if draw == "normal"
            else "Numbers from 0 to 1 have a mean of ½, so all scores are large and alike: even without the scale "
            "no key stands out. The proof needs a mean of 0."
        ),
    )


def _draw(draw: str, generator: torch.Generator, count: int, width: int) -> Tensor:
    make = torch.randn if draw == "normal" else torch.rand
    return make(count, width, generator=generator)


def _largest_weight(draw: str, width: int, seed: int, scale: bool) -> Tensor:
    """The mean over rows of the largest weight that a head of this width gives."""
    generator = torch.Generator().manual_seed(seed)
    queries, keys = _draw(draw, generator, ROWS, width), _draw(draw, generator, KEYS, width)
    return attend(queries, keys, torch.zeros(KEYS, 1), scale=scale).weights.amax(-1).mean()


def _histogram(title: str, numbers: Tensor) -> BarsPicture:
    reach = max(float(numbers.abs().max()), 1e-6)
    edges = torch.linspace(-reach, reach, 12)
    counted = torch.histogram(numbers, edges).hist / len(numbers)
    labels = tuple(f"{low:.2g} to {high:.2g}".replace("-", "−") for low, high in pairwise(edges.tolist()))
    return BarsPicture(title=title, labels=labels, series={"share": counted}, note="Share of all pairs")


def _facts(width: int, products: Tensor) -> TablePicture:
    return TablePicture(
        columns=("", "mean", "variance", "largest"),
        rows=(
            ("q · k", float(products.mean()), float(products.var()), float(products.abs().max())),
            (
                f"q · k / √{width}",
                float(products.mean()) / width**0.5,
                float(products.var()) / width,
                float(products.abs().max()) / width**0.5,
            ),
        ),
    )


SCALING = Screen(
    title="Why the square root of d",
    lesson=(
        "A dot product of d random channels is a sum of d terms, and its variance grows with d. Large scores make the "
        "softmax choose one key outright, where it has almost no slope left to learn from. Dividing by √d brings the "
        "variance back to 1 for every width."
    ),
    controls={
        "width": NumberControl(title="d, for the scores below", default="64", low=1, high=512, whole=True),
        "draw": ChoiceControl(title="Channels", default="normal", options=DRAWS),
        "seed": SeedControl(),
    },
    compute=variance_of_scores,
    formulas=(
        r"\mathrm{E}[q_c k_c] = \mathrm{E}[q_c]\, \mathrm{E}[k_c] = 0",
        r"\mathrm{Var}(q_c k_c) = \mathrm{E}[q_c^2]\, \mathrm{E}[k_c^2] = 1",
        r"\mathrm{Var}(q \cdot k) = \sum_{c=1}^{d} \mathrm{Var}(q_c k_c) = d",
        r"\mathrm{Var}\left(\frac{q \cdot k}{\sqrt{d}}\right) = 1",
    ),
    code=(variance_of_scores, Attention.score_scales, AttentionFunction.score, attend),
    explore=EXPLORE_UNSCALED,
    elsewhere={"compare": COMPARE_UNSCALED},
)
