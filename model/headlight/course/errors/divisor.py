"""What scores are divided by: nothing, the width of a head, that of the model, or the right root."""

from __future__ import annotations

import torch

from headlight.array_types import Float
from headlight.course.attention import HeadValues, attend, require_equal_heads
from headlight.course.attention_by_hand.scaling import COMPARE_UNSCALED, EXPLORE_UNSCALED
from headlight.course.controls import NumberControl, SeedControl
from headlight.course.pictures import BarsPicture, TablePicture, row, verdict_row
from headlight.course.questions import ask_largest
from headlight.course.screen import Answer, Screen
from headlight.nn.attention import Attention

ROOT = "√d_k, the width of one head"
QUERIES, DRAWS = 16, 25  # of which each figure is the mean


def divide(
    q: Float[torch.Tensor, "query head_dim"], k: Float[torch.Tensor, "key head_dim"], divisor: float
) -> HeadValues:
    """A head whose scores are divided by a number of one's choice."""
    return attend(q / divisor, k, torch.zeros(len(k), 1), scale=False)


def spread_and_choice(d_k: int, tokens: int, divisor: float, seed: int) -> tuple[float, float]:
    """The standard deviation of scores, and the largest of the weights, both the mean of many random heads."""
    generator, heads = torch.Generator().manual_seed(seed), []
    for _ in range(DRAWS):
        q, k = (torch.randn(count, d_k, generator=generator) for count in (QUERIES, tokens))
        heads.append(divide(q, k, divisor))
    spread = torch.stack([head.scores.square().mean() for head in heads]).mean().sqrt()
    return float(spread), float(torch.stack([head.weights.amax(-1).mean() for head in heads]).mean())


def divisors(d_model: int, heads: int, tokens: int, seed: int) -> Answer:
    """The spread of scores, and the largest weight, for each number that is said to divide them."""
    require_equal_heads(d_model, heads)
    d_k = d_model // heads
    said = {
        "nothing": 1.0,
        ROOT: d_k**0.5,
        "√d_model, the width of all heads": d_model**0.5,
        "d_k itself": float(d_k),
        "√n, the number of keys": tokens**0.5,
    }
    found = {name: spread_and_choice(d_k, tokens, divisor, seed) for name, divisor in said.items()}
    none, right, width, itself, _ = (largest for _, largest in found.values())
    return (
        row(
            BarsPicture(
                title=f"The largest of {tokens} weights, mean of {QUERIES * DRAWS} queries",
                labels=tuple(found),
                series={"": [largest for _, largest in found.values()]},
                high=1.0,
                note=f"Even weights would be {1 / tokens:.3g}.",
            ),
            question=ask_largest(
                "Divided by which of these have the scores a standard deviation nearest to 1?",
                {name: abs(spread - 1) for name, (spread, _) in found.items()},
                {name: f"Divided so, they have {spread:.3g}." for name, (spread, _) in found.items()},
                least=True,
            ),
        ),
        row(
            TablePicture(
                columns=("scores are divided by", "number", "their standard deviation", "largest weight"),
                rows=tuple((name, said[name], *figures) for name, figures in found.items()),
                digits=3,
            )
        ),
        verdict_row(
            f"Divided by √d_k = {d_k**0.5:.3g} scores have a standard deviation of {found[ROOT][0]:.2f}, and "
            f"the largest weight is {right:.2f}. Undivided it is {none:.2f}. Divided by d_k it is {itself:.2f}, by "
            f"the root of the whole width {width:.2f}; even ones would be {1 / tokens:.3g}. With one head both "
            "roots are the same."
        ),
    )


DIVISOR = Screen(
    title="Divided by what?",
    lesson="Notes leave the scale out, call d_k itself the factor, take the width of the whole model, or speak of the "
    "“dimension of the key matrix”, which has two. It is the root of d_k, the width of a query of one head.",
    controls={
        "d_model": NumberControl(title="Channels d_model", default="64", low=4, high=512, step=4, whole=True),
        "heads": NumberControl(title="Heads", default="4", low=1, high=16, whole=True),
        "tokens": NumberControl(title="Keys n", default="8", low=2, high=32, whole=True),
        "seed": SeedControl(),
    },
    compute=divisors,
    formulas=(r"\frac{Q K^\top}{\sqrt{d_k}}", r"d_k = \frac{d_\mathrm{model}}{h}"),
    code=(divide, Attention.score_scales, attend),
    explore=EXPLORE_UNSCALED,
    elsewhere={"compare": COMPARE_UNSCALED},
)
