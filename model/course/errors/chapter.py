"""The chapter on claims of notes and tutorials that do not hold, each with the number that shows it."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from model.course.attention import attend
from model.course.controls import NumberControl, SeedControl
from model.course.errors.reading import READING
from model.course.pictures import BarsPicture, LinesPicture, MatrixPicture, TablePicture, Verdict, row
from model.course.screen import Answer, Chapter, Screen
from model.nn.attention import Attention
from model.nn.attention_functions import SoftmaxAttention
from model.registry import Registry


def wavelengths(d_model: int, base: float) -> Tensor:
    """The wave of each pair of channels of the sinusoid, in tokens."""
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    return 2 * math.pi * base ** (2 * pairs / d_model)


def base(d_model: int) -> Answer:
    """10^(4i/d) is written for 10000^(2i/d): which base is that?"""
    usual, other = wavelengths(d_model, 10_000.0), wavelengths(d_model, 100.0)
    pairs = torch.arange(len(usual), dtype=torch.float64)
    series = {"10000^(2i/d)": usual, "10^(4i/d)": 2 * math.pi * 10 ** (4 * pairs / d_model)}
    line = LinesPicture(
        title="Wavelength of each pair of channels",
        x=pairs,
        series=series,
        x_title="pair i",
        y_title="tokens",
        log_y=True,
    )
    longest = f"{float(usual[-1]):,.0f} tokens with 10000, and {float(other[-1]):,.0f} with 10^(4i/d)"
    return (
        row(line),
        row(Verdict(text=f"10^(4i/d) is 100^(2i/d): the base is 100. At d = {d_model} the longest wave is {longest}.")),
    )


def after_softmax(tokens: int, seed: int) -> Answer:
    """A causal mask before the softmax, and weights set to 0 after it."""
    q, k, v = _drawn(3, tokens, 4, seed)
    allowed = torch.ones(tokens, tokens, dtype=torch.bool).tril()
    before, after = attend(q, k, v, allowed=allowed).weights, attend(q, k, v).weights * allowed
    sums = after.sum(-1)
    alone = torch.softmax(torch.full((1, tokens), -torch.inf), -1)
    ours = attend(q[:1], k, v, allowed=torch.zeros(1, tokens, dtype=torch.bool)).weights
    return (
        row(
            MatrixPicture(title="−∞ before the softmax", values=before, colours="weights", row_sums=True),
            MatrixPicture(title="0 after the softmax", values=after, colours="weights", row_sums=True),
        ),
        row(
            Verdict(
                text=f"Rows that are masked after the softmax add up to {float(sums.min()):.2f} to "
                f"{float(sums.max()):.2f} instead of 1. The hidden keys still decide how much the others get.",
                good=False,
            )
        ),
        row(
            MatrixPicture(title="Softmax of −∞ alone", values=alone, colours="none"),
            MatrixPicture(title="The same row in Headlight", values=ours, colours="weights", row_sums=True),
            title="A query that may look at nothing",
            text="0 / 0 is NaN, and one such row spoils the whole loss. Headlight gives weights of 0.",
        ),
    )


def order(tokens: int, seed: int) -> Answer:
    """Attention of shuffled tokens: the outputs are shuffled likewise; only their mean stays the same."""
    (x,) = _drawn(1, tokens, 4, seed)
    shuffle = torch.randperm(tokens, generator=torch.Generator().manual_seed(seed))
    causal = torch.ones(tokens, tokens, dtype=torch.bool).tril()
    rows = []
    for name, mask in (("no mask", None), ("causal mask", causal)):
        plain, shuffled = (
            attend(x, x, x, allowed=mask).output,
            attend(x[shuffle], x[shuffle], x[shuffle], allowed=mask).output,
        )
        rows.append(
            (
                name,
                _distance(shuffled, plain),
                _distance(shuffled, plain[shuffle]),
                _distance(shuffled.mean(0), plain.mean(0)),
            )
        )
    table = TablePicture(
        title=f"Tokens in the order {', '.join(str(int(each) + 1) for each in shuffle)}: largest difference of",
        columns=("attention", "outputs place by place", "outputs, each with its token", "mean of the outputs"),
        rows=tuple(rows),
        digits=6,
    )
    return (
        row(table),
        row(
            Verdict(
                text="Without a mask the outputs are not invariant: each moves with its token (equivariant). Only a "
                "pooled answer, such as the mean, is invariant. A causal mask alone tells order."
            )
        ),
    )


def positive(tokens: int, channels: int, seed: int) -> Answer:
    """Weights of numbers from torch.rand and from torch.randn."""
    generator = torch.Generator().manual_seed(seed)
    series = {}
    for name, draw in (("torch.rand", torch.rand), ("torch.randn", torch.randn)):
        q, k = draw(1, channels, generator=generator), draw(tokens, channels, generator=generator)
        series[name] = attend(q, k, torch.zeros(tokens, 1)).weights[0]
    labels = tuple(f"key {index + 1}" for index in range(tokens))
    spans = "; ".join(f"{name} {float(each.min()):.2f} to {float(each.max()):.2f}" for name, each in series.items())
    return (
        row(BarsPicture(title="Weights of one query", labels=labels, series=series, high=1.0)),
        row(
            Verdict(
                text=f"Weights from {spans}; even would be {1 / tokens:.2f}. torch.rand is never negative, so that all "
                "vectors point the same way and all keys fit alike: such an example chooses nothing."
            )
        ),
    )


def _drawn(count: int, tokens: int, channels: int, seed: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(tokens, channels, generator=generator) for _ in range(count)]


def _distance(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max())


TOKENS = NumberControl(title="Tokens", default="5", low=2, high=6, whole=True)
BASE = Screen(
    title="Which base is it?",
    lesson="Some notes write the sinusoid with 10^(4i/d) in place of 10000^(2i/d). It looks alike, but is another "
    "base.",
    controls={"d_model": NumberControl(title="Channels d", default="512", low=4, high=1024, step=2, whole=True)},
    compute=base,
    formulas=(r"10^{4i/d} = 100^{2i/d} \ne 10000^{2i/d}",),
    code=(wavelengths,),
)
AFTER = Screen(
    title="A mask after the softmax",
    lesson="Some notes set the forbidden weights to 0 after the softmax. The rest of a row then no longer adds up to "
    "1. Minus infinity before the softmax does it right, but for a row in which nothing is allowed.",
    controls={"tokens": TOKENS, "seed": SeedControl()},
    compute=after_softmax,
    formulas=(r"\mathrm{softmax}\left(\frac{Q K^T}{\sqrt{d_k}} + M\right) V",),
    code=(SoftmaxAttention,),
)
ORDER = Screen(
    title="Invariant or equivariant?",
    lesson="Attention is often called permutation invariant. Shuffle the tokens and see what stays the same.",
    controls={"tokens": TOKENS, "seed": SeedControl()},
    compute=order,
    code=(Attention.weighted_sum,),
)
POSITIVE = Screen(
    title="An example that chooses nothing",
    lesson="Many examples draw queries and keys with torch.rand. The weights then stay close to even, whatever the "
    "seed.",
    controls={
        "tokens": TOKENS,
        "channels": NumberControl(title="Channels", default="16", low=2, high=64, whole=True),
        "seed": SeedControl(),
    },
    compute=positive,
    code=(positive,),
)
ERRORS = Chapter(
    title="Where notes go wrong",
    summary="Claims that one reads often and that do not hold, each with its number; and where to read on.",
    screens=Registry(
        "screen", {"base": BASE, "mask-after": AFTER, "order": ORDER, "rand": POSITIVE, "reading": READING}
    ),
)
