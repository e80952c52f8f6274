"""Where the norm stands: before a sublayer, after it, or nowhere, and what that does over many layers."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.config import Config
from headlight.course.controls import Axis, MatrixControl, NumberControl
from headlight.course.pictures import LinesPicture, TablePicture, Verdict, row
from headlight.course.question_kinds import Question
from headlight.course.questions import ask_order
from headlight.course.screen import Answer, Screen
from headlight.course.sentences import require_width
from headlight.nn.stack import NORM_PLACEMENTS, ResidualConnection

CHANNELS, ONE = Axis("channels", 2, 4), Axis("row", 1, 1)
# post-norm, pre-norm and those between; "residual-from-norm" is a pre-norm with another stream
PLACEMENTS = ("post", "pre", "post-sublayer", "sandwich", "none")


def through_blocks(
    x: Float[Tensor, "1 channel"], matrix: Float[Tensor, "channel channel"], placement: str, depth: int
) -> Float[Tensor, "depth channel"]:
    """The stream before and after each of `depth` residual connections around the same sublayer f(h) = h M."""
    config = Config(
        vocabulary_size=1, context_length=1, d_model=x.shape[1], layers=1, heads=1,
        norm="layernorm", norm_placement=placement, positional_encoding="none",
    )  # fmt: skip
    connection, stream = ResidualConnection(config), [x[None]]
    with torch.no_grad():
        for _ in range(depth):
            stream.append(connection(stream[-1], lambda h: h @ matrix))
    return torch.cat(stream)[:, 0]


def norm_placement(x: Tensor, matrix: Tensor, depth: int) -> Answer:
    """Each placement on the same numbers: after one sublayer, and over many."""
    require_width(x.shape[1], {"rows of M": matrix.shape[0], "columns of M": matrix.shape[1]})
    streams = {name: through_blocks(x, matrix, name, depth) for name in PLACEMENTS}
    return (
        row(_one_block(streams), title="After one sublayer", question=_question(streams, depth)),
        row(_over_depth(streams), title="The same sublayer again and again"),
        row(_verdict(streams, depth)),
    )


def _one_block(streams: dict[str, Tensor]) -> TablePicture:
    channels = next(iter(streams.values())).shape[1]
    columns = ("where the norm stands", *(f"channel {at}" for at in range(channels)), "mean", "variance")
    rows = tuple(
        (
            NORM_PLACEMENTS[name].title,
            *stream[1].tolist(),
            round(float(stream[1].mean()), 6),
            float(stream[1].var(unbiased=False)),
        )
        for name, stream in streams.items()
    )
    return TablePicture(columns=columns, rows=rows, digits=3)


def _over_depth(streams: dict[str, Tensor]) -> LinesPicture:
    return LinesPicture(
        title="Length of the stream",
        x=list(range(len(next(iter(streams.values()))))),
        series={NORM_PLACEMENTS[name].title: stream.norm(dim=1).tolist() for name, stream in streams.items()},
        x_title="sublayers passed",
        y_title="length (2-norm)",
        broken=(NORM_PLACEMENTS["none"].title,),
        log_y=True,
    )


def _question(streams: dict[str, Tensor], depth: int) -> Question:
    lengths = {NORM_PLACEMENTS[name].title: float(streams[name][-1].norm()) for name in ("post", "pre", "none")}
    order = tuple(sorted(lengths, key=lambda name: lengths[name]))
    return ask_order(
        f"Put them in order by the length of the stream after {depth} sublayers, the shortest first.",
        order,
        (order[::-1], "Turn it round: the shortest comes first."),
        hints=("Post-norm brings the stream back to the same length each time; pre-norm leaves the stream alone.",),
        because=f"The lengths are {', '.join(f'{lengths[name]:.3g}' for name in order)}.",
    )


def _verdict(streams: dict[str, Tensor], depth: int) -> Verdict:
    post, pre, none = (float(streams[name][-1].norm()) for name in ("post", "pre", "none"))
    return Verdict(
        text=f"After {depth} sublayers: post-norm {post:.3g}, pre-norm {pre:.3g}, neither norm nor residual "
        f"{none:.3g}. Post-norm brings the stream back to the same length each time. Pre-norm does not, so such "
        "models have one more norm at the end."
    )


NORM_PLACEMENT = Screen(
    title="Post-norm and pre-norm",
    lesson="The Transformer of 2017 has its norms after each residual connection (post-norm). Most later models norm "
    "what a sublayer reads and leave the stream itself alone (pre-norm): then no norm stands in the gradient's way "
    "back, and deep models train without a warm-up.",
    controls={
        "x": MatrixControl(title="x", default="3,-1,2", rows=ONE, columns=CHANNELS),
        "matrix": MatrixControl(
            title="Sublayer f(h) = h M",
            default="0.5,0.5,0;-0.5,0.5,0;0,0,0.5",
            rows=CHANNELS,
            columns=CHANNELS,
            low=-10.0,
            high=10.0,
        ),
        "depth": NumberControl(title="Sublayers", default="16", low=1, high=48, whole=True),
    },
    compute=norm_placement,
    formulas=(r"\mathrm{post:}\ \mathrm{LN}(x + f(x))", r"\mathrm{pre:}\ x + f(\mathrm{LN}(x))"),
    code=(ResidualConnection, through_blocks),
)
