"""Attention alone only averages values: its output never leaves their convex hull."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.array_types import Bool, Float
from headlight.checkpoints.load import Checkpoint
from headlight.course.attention import attend
from headlight.course.controls import ON, Axis, CountControl, MatrixControl, ModelControl, TextControl
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import require_width, value
from headlight.nn.attention import Attention
from headlight.questions.asking import ask_whether
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from headlight.views.forms import agreement, weights_matrix
from headlight.views.kinds import LinesView, PointsView, TableView, Verdict
from headlight.views.rows import row

TOKENS, CHANNELS, PLANE = Axis("tokens", 3, 8), Axis("channels", 1, 4), Axis("plane", 2, 2, ("x", "y"))
TOLERANCE = 1e-4


def averages_on_numbers(queries: Tensor, keys: Tensor, values: Tensor, times: int) -> ScreenRows:
    """Outputs of attention among its values in the plane, and the effect of repeated averaging."""
    require_width(len(values), {"queries": len(queries), "keys": len(keys)}, "tokens")
    head = attend(queries, keys, values)
    inside = in_hull(head.output, values)
    error = float((attend(queries, keys, 3 * values).output - 3 * head.output).abs().max())
    names = TOKENS.label_all(len(values))
    return (
        row(
            _points(values, head.output, names),
            weights_matrix("Weights", head.weights, names, row_axis="query", column_axis="key"),
            question=ask_whether(
                "Can attention give a token an output further out than all of the values?",
                not bool(inside.all()),
            ),
        ),
        row(
            Verdict(
                f"{int(inside.sum())} of {len(inside)} outputs lie within the convex hull of the values, the "
                "smallest convex polygon around them.",
                good=bool(inside.all()),
            ),
            agreement(
                "Three times the values give three times the output, up to rounding: attention is linear in its "
                "values.",
                error,
                3 * head.output.abs().max(),
            ).text,
        ),
        row(
            LinesView(
                "Largest distance between two tokens",
                range(times + 1),
                {"distance": spread_by_layer(queries, keys, values, times)},
                "layers of attention without residual connection and feed-forward",
                "distance",
            ),
            title="Attention alone, layer after layer",
        ),
    )


def in_hull(points: Float[Tensor, "point 2"], corners: Float[Tensor, "corner 2"]) -> Bool[Tensor, " point"]:
    """Whether each point lies within the convex hull of others in the plane.

    A point is outside if and only if some line through two of the corners separates it from all of them.
    """
    edges = corners[None] - corners[:, None]  # from each corner to each other one
    normals = torch.stack((-edges[..., 1], edges[..., 0]), dim=-1).flatten(0, 1)
    normals = torch.cat((normals, -normals, torch.eye(2), -torch.eye(2)))
    normals = normals / normals.norm(dim=1, keepdim=True).clamp(min=1e-12)
    furthest = (corners @ normals.T).amax(0)
    slack = TOLERANCE * corners.abs().max().clamp(min=1)
    inside: Tensor = (points @ normals.T <= furthest + slack).all(1)
    return inside


def spread_by_layer(queries: Tensor, keys: Tensor, values: Tensor, times: int) -> list[float]:
    """The largest distance between two tokens, at first and each time the outputs become the values, `times` times."""
    spreads = [float(torch.cdist(values, values).max())]
    for _ in range(times):
        values = attend(queries, keys, values).output
        spreads.append(float(torch.cdist(values, values).max()))
    return spreads


def _points(values: Tensor, outputs: Tensor, names: tuple[str, ...]) -> PointsView:
    points = [(f"v{name}", float(x), float(y), 0) for name, (x, y) in zip(names, values, strict=True)]
    points += [(f"z{name}", float(x), float(y), 1) for name, (x, y) in zip(names, outputs, strict=True)]
    return PointsView(
        title="Values and outputs", points=tuple(points), groups=("value", "output"), x_title="x", y_title="y"
    )


def averages_in_model(model: Checkpoint, text: str) -> ScreenRows:
    """The check in every head of a model: each channel of an output is between the smallest and largest value."""
    trace = run(model.model, model.tokenizer, text, keep=("*.self.v", "*.self.weights", "*.self.weighted_values"))
    stack = model.model.config.stacks[-1]
    rows = tuple(
        (f"layer {layer}", *_check_layer(trace, f"{stack}.{layer}.self"))
        for layer in range(model.model.config.num_layers(stack))
    )
    outside = sum(int(each[3]) for each in rows)
    numbers = sum(int(each[2]) for each in rows)
    return (
        Verdict(
            f"{numbers - outside:,} of {numbers:,} output numbers of the heads lie between the smallest and the "
            "largest value of their channel, among the visible tokens.",
            good=outside == 0,
        ),
        TableView(
            ("", "row sums differ from 1 by", "numbers", "outside", "largest value", "largest output"), rows, digits=4
        ),
    )


def _check_layer(trace: Trace, path: str) -> tuple[float, float, float, float, float]:
    v, weights, outputs = (value(trace, f"{path}.{name}") for name in ("v", "weights", "weighted_values"))
    v = v.repeat_interleave(weights.shape[0] // v.shape[0], dim=0)
    seen = weights[..., None] > 0  # head query key 1
    lowest = v[:, None].masked_fill(~seen, torch.inf).amin(2)
    highest = v[:, None].masked_fill(~seen, -torch.inf).amax(2)
    slack = TOLERANCE * float(v.abs().max())
    outside = (outputs < lowest - slack) | (outputs > highest + slack)
    error = float((weights.sum(-1) - 1).abs().max())
    return error, float(outputs.numel()), float(outside.sum()), float(v.abs().max()), float(outputs.abs().max())


AVERAGES = Screen(
    title="Attention alone only averages",
    lesson="The weights of a row are positive and add up to 1, so an output is a weighted average of the values and "
    "lies among them. If they are averaged again and again with the same weights, as here, all tokens become alike. In "
    "a model each layer has weights of its own, and residual connections and feed-forward networks keep the tokens "
    "apart.",
    controls={
        "on": ON,
        "queries": MatrixControl("Queries", "1,0;0,1;1,1;0,0", rows=TOKENS, columns=CHANNELS),
        "keys": MatrixControl("Keys", "2,0;0,2;-1,1;1,-1", rows=TOKENS, columns=CHANNELS),
        "values": MatrixControl("Values (points in the plane)", "0,0;4,0;4,3;1,4", rows=TOKENS, columns=PLANE),
        "times": CountControl("Layers", "8", 1, 30),
        "model": ModelControl(default="stories-causal"),
        "text": TextControl("Sentence", "Once upon a time there was a little girl"),
    },
    compute={"numbers": averages_on_numbers, "model": averages_in_model},
    formulas=(
        r"z_i = \sum_j a_{ij} v_j,\quad a_{ij} \ge 0,\quad \sum_j a_{ij} = 1",
        r"\min_j v_{jc} \le z_{ic} \le \max_j v_{jc}",
    ),
    code=(Attention.weighted_sum, in_hull, averages_in_model),
    explore=link("model", "text", fixed={"tab": "walkthrough"}),
)
