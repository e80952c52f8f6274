"""Layer norm on typed numbers: each token's mean and variance before and after."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.course.controls import Axis, ChoiceControl, MatrixControl
from headlight.course.pictures import Equations, MatrixPicture, TablePicture, Verdict, row
from headlight.course.question_kinds import Question
from headlight.course.questions import ask_largest
from headlight.course.screen import Answer, Screen
from headlight.course.sentences import require_width
from headlight.nn.layers import NORMS, RMSNorm

TOKENS, CHANNELS, ONE = Axis("tokens", 1, 4), Axis("channels", 2, 6), Axis("row", 1, 1)
KINDS = ("layernorm", "rmsnorm")
ZERO = 1e-3  # means below are rounding


def normalize(
    x: Float[Tensor, "token channel"],
    norm: str,
    gain: Float[Tensor, "1 channel"],
    shift: Float[Tensor, "1 channel"],
    epsilon: float,
) -> Float[Tensor, "token channel"]:
    """x through the project's norm of that name; RMSNorm has no shift."""
    module = NORMS[norm].make(x.shape[1], epsilon, True)
    with torch.no_grad():
        module.get_parameter("weight").copy_(gain[0])
        if norm == "layernorm":
            module.get_parameter("bias").copy_(shift[0])
        normed: Tensor = module(x)
    return normed


def layer_norm(x: Tensor, norm: str, gain: Tensor, shift: Tensor, epsilon: str) -> Answer:
    """The norm with and without gain and shift, and what it does to means and variances."""
    require_width(x.shape[1], {"gain": gain.shape[1], "shift": shift.shape[1]})
    plain = normalize(x, norm, torch.ones_like(gain), torch.zeros_like(shift), float(epsilon))
    normed = normalize(x, norm, gain, shift, float(epsilon))
    names = tuple(f"token {label}" for label in TOKENS.label_all(len(x)))
    return (
        row(
            MatrixPicture(title="x", values=x, rows=names, column_axis="channel"),
            MatrixPicture(title="Normed", values=plain, rows=names, column_axis="channel", before="→"),
            MatrixPicture(title="With gain and shift", values=normed, rows=names, column_axis="channel", before="→"),
            question=_question(plain),
        ),
        row(_statistics(names, x, plain, normed), title="Each token for itself"),
        row(Equations(lines=_pencil(x[0], plain[0], norm, float(epsilon))), title="Token 0, by hand"),
        row(_verdict(x, plain, norm)),
    )


def _question(plain: Float[Tensor, "token channel"]) -> Question:
    """Over which numbers a norm works; RMSNorm leaves a mean of 0 to neither."""
    means = {"all channels of a token": plain.mean(1), "all tokens in a channel": plain.mean(0)}
    largest = {name: float(mean.abs().max()) for name, mean in means.items()}
    says = {name: f"A mean of {mean:.2g} is among them." for name, mean in largest.items()}
    says["neither"] = "This norm takes a mean off."
    return ask_largest(
        "Before gain and shift, which numbers have a mean of 0?", largest | {"neither": ZERO}, says, least=True
    )


def _statistics(names: tuple[str, ...], *stages: Tensor) -> TablePicture:
    def of(numbers: Tensor) -> tuple[float, float]:
        mean, variance = float(numbers.mean()), float(numbers.var(unbiased=False))
        return round(mean, 6), round(variance, 6)

    columns = ("", *(f"{what} {stage}" for stage in ("of x", "normed", "at the end") for what in ("mean", "variance")))
    rows: list[tuple[str | float, ...]] = []
    for at, name in enumerate(names):
        rows.append((name, *(each for stage in stages for each in of(stage[at]))))
    return TablePicture(columns=columns, rows=tuple(rows), digits=3)


def _pencil(x: Float[Tensor, " channel"], normed: Tensor, norm: str, epsilon: float) -> tuple[str, ...]:
    count, first, last = len(x), _written(float(x[0])), float(normed[0])
    numbers = " + ".join(_bracketed(float(each)) for each in x)
    if norm == "rmsnorm":
        squares = " + ".join(f"{_bracketed(float(each))}^2" for each in x)
        mean_square = float((x * x).mean())
        return (
            rf"\mathrm{{mean\ square}} = ({squares}) / {count} = {_written(mean_square)}",
            rf"{first} / \sqrt{{{_written(mean_square)} + {_written(epsilon)}}} = {last:.3f}",
        )
    mean, variance = float(x.mean()), float(x.var(unbiased=False))
    deviations = " + ".join(f"({_written(each - mean)})^2" for each in x.tolist())
    return (
        rf"\mu = ({numbers}) / {count} = {_written(mean)}",
        rf"\sigma^2 = ({deviations}) / {count} = {_written(variance)}",
        rf"({first} - {_bracketed(mean)}) / \sqrt{{{_written(variance)} + {_written(epsilon)}}} = {last:.3f}",
    )


def _bracketed(number: float) -> str:
    return f"({_written(number)})" if number < 0 else _written(number)


def _written(number: float) -> str:
    """A number in LaTeX with four digits that count, without the exponents of a program."""
    digits, _, exponent = f"{number:.4g}".partition("e")
    if not exponent:
        return digits
    power = f"10^{{{int(exponent)}}}"
    return power if digits == "1" else rf"{digits} \cdot {power}"


def _verdict(x: Tensor, normed: Tensor, norm: str) -> Verdict:
    if not bool(normed.isfinite().all()):
        return Verdict(
            text="A token whose channels are all equal has variance 0, and 0 / 0 is not a number. ε prevents this.",
            good=False,
        )
    pairs = [(i, j) for i in range(len(x)) for j in range(i) if torch.allclose(normed[i], normed[j], atol=1e-3)]
    pairs = [(i, j) for i, j in pairs if not torch.equal(x[i], x[j])]
    if pairs:
        i, j = pairs[0]
        lost = "their sizes" if norm == "rmsnorm" else "their sizes and means"
        return Verdict(text=f"Tokens {j} and {i} have become the same: they differed only in {lost}.", good=True)
    return Verdict(text="No token looks at another one here: change one row, and only that row of the result changes.")


LAYER_NORM = Screen(
    title="Layer norm",
    lesson="Each token's vector is brought to mean 0 and variance 1, whatever its size was; then each channel is "
    "multiplied by a gain and gets a shift, both learned. So a layer always reads numbers of about the same size. "
    "RMSNorm leaves out the mean and the shift.",
    controls={
        "x": MatrixControl(title="x", default="1,2,3,6;10,20,30,60;-1,0,0,1", rows=TOKENS, columns=CHANNELS),
        "norm": ChoiceControl(title="Norm", default="layernorm", options={name: NORMS[name].title for name in KINDS}),
        "gain": MatrixControl(title="Gain γ", default="1,1,1,2", rows=ONE, columns=CHANNELS),
        "shift": MatrixControl(title="Shift β", default="0,0,0,0.5", rows=ONE, columns=CHANNELS),
        "epsilon": ChoiceControl(
            title="ε", default="1e-05", options={"0": "0", "1e-05": "0.00001", "0.1": "0.1", "1": "1"}
        ),
    },
    compute=layer_norm,
    formulas=(
        r"\mathrm{LN}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta",
        r"\mathrm{RMSNorm}(x) = \gamma \odot \frac{x}{\sqrt{\mathrm{mean}(x^2) + \varepsilon}}",
    ),
    code=(normalize, RMSNorm),
)
