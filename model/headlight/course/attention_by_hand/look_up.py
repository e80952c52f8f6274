"""From a table that is looked up to attention, which looks up softly."""

from __future__ import annotations

from torch import Tensor

from headlight.array_types import Float
from headlight.course.attention import attend
from headlight.course.attention_by_hand.words import dot, number
from headlight.course.controls import Axis, MatrixControl, NumberControl
from headlight.course.pictures import BarsPicture, MatrixPicture, row, verdict_row
from headlight.course.question_kinds import Question
from headlight.course.questions import choose
from headlight.course.screen import Answer, Screen
from headlight.nn.attention import Attention
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS, HardmaxAttention, SoftmaxAttention

ENTRIES = Axis("entries", 2, 6)
CHANNELS = Axis("channels", 1, 4)
OUTPUTS = Axis("value channels", 1, 4)


def look_up(
    query: Float[Tensor, "1 query_channel"],
    keys: Float[Tensor, "key key_channel"],
    values: Float[Tensor, "value value_channel"],
    sharpness: float,
) -> Answer:
    """One query, looked up hard (argmax) and softly (softmax)."""
    names = ENTRIES.label_all(len(keys))
    hard, soft = (
        attend(sharpness * query, keys, values, scale=False, attention_function=name) for name in ("hardmax", "softmax")
    )
    best = int(soft.weights[0].argmax())
    share = float(soft.weights[0, best])
    return (
        row(
            MatrixPicture(
                title="Scores: query · key", values=soft.scores, columns=names, column_axis="entry", rows=("query",)
            ),
            BarsPicture(
                title="Share of each entry",
                labels=names,
                series={"hard": hard.weights[0], "soft": soft.weights[0]},
                high=1.0,
            ),
            question=_question(sharpness * query[0], keys, names, best),
        ),
        row(
            MatrixPicture(title="Hard look-up: the value of the best entry", values=hard.output, rows=("output",)),
            MatrixPicture(title="Soft look-up: all values, weighted", values=soft.output, rows=("output",)),
        ),
        verdict_row(
            f"Entry {names[best]} gets {share:.0%} of the soft look-up. "
            + (
                "It is as good as a hard look-up."
                if share > 0.99
                else "Raise the sharpness, and the soft look-up comes ever closer to the hard one."
            )
        ),
    )


def _question(query: Tensor, keys: Tensor, names: tuple[str, ...], best: int) -> Question:
    scores = [f"{dot(query, key, '·')} = {number(query @ key)}" for key in keys]
    entries = tuple(f"entry {name}" for name in names)
    return choose(
        "Which entry will the query take most from?",
        entries,
        best,
        {entry: f"Its score is {score}; another one is larger." for entry, score in zip(entries, scores, strict=True)},
        f"Its score, {scores[best]}, is the largest.",
        ("A score is a dot product: channel times channel, added up.", f"The score of entry 0 is {scores[0]}."),
    )


LOOK_UP = Screen(
    title="A look-up that became soft",
    lesson="A dictionary compares a query with its keys and returns the value of the key that fits. Attention does "
    "the same, but softly: every key that fits a little gives a little of its value. Because nothing jumps, it can be "
    "learned by gradient.",
    controls={
        "query": MatrixControl(title="Query", default="1,0.5", rows=Axis("query", 1, 1, ("q",)), columns=CHANNELS),
        "keys": MatrixControl(title="Keys", default="1,0;0,1;-1,0", rows=ENTRIES, columns=CHANNELS),
        "values": MatrixControl(title="Values", default="10,0;0,10;5,5", rows=ENTRIES, columns=OUTPUTS),
        "sharpness": NumberControl(title="Sharpness (multiplies the query)", default="2", low=0, high=20, step=0.1),
    },
    compute=look_up,
    formulas=(r"o = \sum_j a_j v_j", ATTENTION_FUNCTIONS["softmax"].formula, ATTENTION_FUNCTIONS["hardmax"].formula),
    code=(look_up, Attention.weighted_sum, SoftmaxAttention, HardmaxAttention),
)
