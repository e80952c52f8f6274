"""Why scores are divided by the square root of d: their sampled variance beside the proof."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.course.attention import attend
from headlight.course.controls import ChoiceControl, CountControl, SeedControl
from headlight.course.screen import Screen, ScreenRows, compare_link, link
from headlight.nn.attention import Attention
from headlight.nn.attention_functions import AttentionFunction
from headlight.questions.asking import ask_measured
from headlight.questions.kinds import Question
from headlight.views.forms import bars, weights_map
from headlight.views.kinds import BarsView, LinesView, TableView
from headlight.views.rows import Row, fold, row
from headlight.views.words import digits, three_digits

WIDTHS = tuple(2**power for power in range(10))
PAIRS = 4_000  # pairs of queries and keys in each variance
ROWS = 200  # rows of weights in the mean of the largest
ROOT = "√d_k, the width of one head"
EXPLORE_UNSCALED = link(fixed={"model": "stories-causal", "scale": "off"})
COMPARE_UNSCALED = compare_link(link(fixed={"model": "stories-causal"}), link(fixed={"scale": "off"}))
DRAWS = {"normal": "torch.randn: mean 0, variance 1", "uniform": "torch.rand: from 0 to 1"}


def variance_of_scores(width: int, heads: int, keys: int, draw: str, seed: int) -> ScreenRows:
    """The variance of q · k over d, the saturation of the softmax, and the effect of each divisor on both."""
    generator = torch.Generator().manual_seed(seed)
    products = {d: (_draw(draw, generator, PAIRS, d) * _draw(draw, generator, PAIRS, d)).sum(1) for d in WIDTHS}
    measured = torch.stack([products[d].var() for d in WIDTHS])
    widths = torch.tensor(WIDTHS, dtype=torch.float32)
    chosen = (_draw(draw, generator, PAIRS, width) * _draw(draw, generator, PAIRS, width)).sum(1)
    scaled, unscaled = (
        torch.stack([largest_weight(draw, d, keys, d**power, seed) for d in WIDTHS]) for power in (0.5, 0.0)
    )
    predicted = widths if draw == "normal" else widths * 7 / 144
    return (
        row(
            LinesView(
                f"Variance of q · k, of {PAIRS:,} pairs for each d",
                widths,
                {"measured": measured, "proved": predicted, "after division by √d": measured / widths},
                "d",
                "variance",
                broken=("proved",),
                log_x=True,
                log_y=True,
            ),
            LinesView(
                f"The largest of {keys} weights, mean of {ROWS} rows",
                widths,
                {"scores divided by √d": scaled, "as they are": unscaled},
                "d",
                "largest weight",
                log_x=True,
            ),
            question=_ask_of_best_key(width, keys, float(largest_weight(draw, width, keys, 1.0, seed))),
        ),
        row(
            *_histograms({f"q · k for d = {width}": chosen, f"q · k / √{width}": chosen / width**0.5}),
            title="The scores themselves",
        ),
        f"At d = {WIDTHS[-1]} the largest of {keys} weights is {unscaled[-1]:.2f} without the scale and "
        f"{scaled[-1]:.2f} with it. A weight near 1 leaves almost no gradient: its slope is a (1 − a)."
        if draw == "normal"
        else "All numbers of torch.rand are positive, with a mean of ½, so all scores are large and similar: even "
        "without the scale no key stands out. The proof needs a mean of 0; torch.randn has it.",
        *fold(
            row(
                *(
                    weights_map(title, random_weights(draw, width, keys, divisor, seed)[:keys], is_small=True)
                    for title, divisor in (
                        ("Weights without the scale", 1.0),
                        (f"Weights, scores divided by √{width}", width**0.5),
                    )
                ),
                title=f"Weights of {keys} random queries",
            ),
            _divisors_row(width, heads, keys, draw, seed, chosen),
        ),
    )


def _ask_of_best_key(width: int, keys: int, weight: float) -> Question:
    """The largest weight of random keys without a scale."""
    even = 1 / keys
    shares = [even + (1 - even) * part for part in (0.0, 0.3, 0.6, 0.9)]
    return ask_measured(
        f"Queries and keys have {width} random channels, and their scores are not divided. What weight does the best "
        f"of {keys} keys get, on average?",
        shares,
        weight,
        "{:.2f}".format,
        {even: "That is an even share: all scores would have to be equal."},
    )


def _divisors_row(width: int, heads: int, keys: int, draw: str, seed: int, products: Tensor) -> Row:
    """The spread of scores and the largest weight, for each proposed divisor."""
    said = {
        "nothing": 1.0,
        ROOT: width**0.5,
        "√d_model, the width of all heads": (heads * width) ** 0.5,
        "d_k itself": float(width),
        "√n, the number of keys": keys**0.5,
    }
    found = {name: float(largest_weight(draw, width, keys, divisor, seed)) for name, divisor in said.items()}
    rows = (
        (name, divisor, float(products.mean() / divisor), float(products.std() / divisor), found[name])
        for name, divisor in said.items()
    )
    columns = ("scores are divided by", "number", "their mean", "their standard deviation", "largest weight")
    return row(
        bars(
            f"The largest of {keys} weights, mean of {ROWS} rows",
            found,
            high=1.0,
            note=f"Even weights would be {three_digits(1 / keys)}.",
        ),
        TableView(columns, tuple(rows), digits=3),
        title="Divided by what?",
        text="Notes leave out the scale, call d_k itself the factor, take the width of the whole model, or speak of "
        "the “dimension of the key matrix”, which has two. The divisor is the square root of d_k, the width of a query "
        "of one head.",
    )


def _draw(draw: str, generator: torch.Generator, count: int, width: int) -> Tensor:
    make = torch.randn if draw == "normal" else torch.rand
    return make(count, width, generator=generator)


def random_weights(draw: str, width: int, keys: int, divisor: float, seed: int) -> Float[Tensor, "query key"]:
    """The weights of a head with random queries and keys of this width, and its scores divided by a number."""
    generator = torch.Generator().manual_seed(seed)
    queries, others = _draw(draw, generator, ROWS, width), _draw(draw, generator, keys, width)
    return attend(queries / divisor, others, torch.zeros(keys, 1), scale=False).weights


def largest_weight(draw: str, width: int, keys: int, divisor: float, seed: int) -> Tensor:
    """The mean over rows of the largest weight."""
    return random_weights(draw, width, keys, divisor, seed).amax(-1).mean()


def _histograms(numbers: Mapping[str, Tensor]) -> tuple[BarsView, ...]:
    """The shares of all pairs whose numbers lie in the same intervals, and with the same scale."""
    reach = max(1e-6, *(float(each.abs().max()) for each in numbers.values()))
    edges = torch.linspace(-reach, reach, 12)
    labels = tuple(f"{digits(low, 2)} to {digits(high, 2)}" for low, high in pairwise(edges.tolist()))
    shares = {title: torch.histogram(each, edges).hist / len(each) for title, each in numbers.items()}
    high = max(float(each.max()) for each in shares.values())
    return tuple(
        bars(title, labels, each, name="share", high=high, note="Share of all pairs") for title, each in shares.items()
    )


SCALING = Screen(
    title="Why the square root of d",
    lesson="A dot product of d random channels is a sum of d terms, and its variance grows with d. Large scores make "
    "the softmax choose a single key, and its slope there is almost 0, so little can be learned. Dividing by √d brings "
    "the variance back to 1 for every width.",
    controls={
        "width": CountControl("d_k, the width of a head", "64", 1, 512),
        "heads": CountControl("Heads of the model", "4", 1, 16),
        "keys": CountControl("Keys n", "8", 2, 32),
        "draw": ChoiceControl("Channels", "normal", DRAWS),
        "seed": SeedControl(),
    },
    compute=variance_of_scores,
    formulas=(
        r"\mathrm{E}[q_c k_c] = \mathrm{E}[q_c]\, \mathrm{E}[k_c] = 0",
        r"\mathrm{Var}(q_c k_c) = \mathrm{E}[q_c^2]\, \mathrm{E}[k_c^2] = 1",
        r"\mathrm{Var}(q \cdot k) = \sum_{c=1}^{d} \mathrm{Var}(q_c k_c) = d",
        r"\mathrm{Var}\left(\frac{q \cdot k}{\sqrt{d}}\right) = 1",
        r"d_k = \frac{d_\mathrm{model}}{h}",
    ),
    code=(variance_of_scores, random_weights, Attention.scale_and_sinks, AttentionFunction.score, attend),
    explore=EXPLORE_UNSCALED,
    elsewhere={"compare": COMPARE_UNSCALED},
)
