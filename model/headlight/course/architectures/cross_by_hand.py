"""Cross-attention by hand: queries of one sequence, keys and values of another."""

from __future__ import annotations

from torch import Tensor

from headlight.array_types import Float
from headlight.course.attention import attend_with_weights
from headlight.course.attention_by_hand.words import PROJECTED, dot, number, projection_rows, weight_controls
from headlight.course.controls import Axis, MatrixControl
from headlight.course.pictures import Equations, Question, Verdict, row
from headlight.course.screen import Answer, Screen
from headlight.course.sentences import require_width
from headlight.nn.attention import Attention

TARGET = Axis("target tokens", 1, 6, ("le", "chat", "dort", "ici", "bien", "."))
SOURCE = Axis("source tokens", 1, 6, ("the", "cat", "is", "asleep", "here", "."))
CHANNELS = Axis("channels", 1, 4)


def cross_by_hand(
    target: Float[Tensor, "query target_channel"],
    source: Float[Tensor, "key source_channel"],
    w_q: Float[Tensor, "q_in q_out"],
    w_k: Float[Tensor, "k_in k_out"],
    w_v: Float[Tensor, "v_in v_out"],
) -> Answer:
    """Q of the target, K and V of the source, their scores, weights and output."""
    require_width(target.shape[1], {"the source has": source.shape[1]})
    values = attend_with_weights(target, source, w_q, w_k, w_v)
    v, weights, output = (values[name][0, 0] for name in ("v", "weights", "weighted_values"))
    queries, keys = TARGET.label_all(len(target)), SOURCE.label_all(len(source))
    return (
        *projection_rows(
            values,
            "Y",
            queries,
            keys,
            (
                "The target asks; the source has keys and values",
                "A row for each token of the target, a column for each of the source",
            ),
            _question(len(target), len(source)),
        ),
        row(Equations(lines=(_equation(weights, v, output, queries[-1]),))),
        row(_verdict(target, source, (w_q, w_k, w_v), output)),
    )


def _question(queries: int, keys: int) -> Question:
    options = sorted({queries, keys, queries + keys})
    return Question("How many rows does the output have?", tuple(map(str, options)), options.index(queries))


def _equation(weights: Tensor, v: Tensor, output: Tensor, name: str) -> str:
    """The first number of the last token's output, as a sum over the source."""
    return rf"\mathrm{{output}}_{{\text{{{name}}}, 0}} = {dot(weights[-1], v[:, 0])} = {number(output[-1, 0])}"


def _verdict(target: Tensor, source: Tensor, weights: tuple[Tensor, Tensor, Tensor], output: Tensor) -> Verdict:
    """What another order of the source does: nothing."""
    turned = attend_with_weights(target, source.flip(0), *weights)["weighted_values"][0, 0]
    difference = float((turned - output).abs().max())
    same = difference <= 1e-4 * max(1.0, float(output.abs().max()))
    return Verdict(
        text=f"{len(target)} tokens ask {len(source)}, and {len(output)} vectors come out, one for each that asked. "
        f"With the source in reverse order the output differs by {difference:.1g}: what stood where has to be in the "
        "vectors themselves, where the positions of the encoder have put it.",
        good=same,
    )


CROSS_BY_HAND = Screen(
    title="Cross-attention by hand",
    lesson=(
        "Cross-attention is the attention of the earlier chapters with one change: queries come from the target Y, "
        "keys and values from the source X. So the two may have different lengths, and nothing is masked, because the "
        "whole source is already there. Add a token to either side and watch the shapes."
    ),
    controls={
        "target": MatrixControl(title="Y: the target", default="1,0;0,1", rows=TARGET, columns=CHANNELS),
        "source": MatrixControl(title="X: the source", default="1,0;0,1;1,1;-1,1", rows=SOURCE, columns=CHANNELS),
        **weight_controls(CHANNELS, "2,0;0,2", "1,0;0,1"),
    },
    compute=cross_by_hand,
    formulas=(
        PROJECTED.format("Y"),
        r"\mathrm{softmax}(Q K^\top / \sqrt{d})\, V",
    ),
    code=(attend_with_weights, Attention.project, Attention.forward),
)
