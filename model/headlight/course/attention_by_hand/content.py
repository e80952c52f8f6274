"""Attention by content and by position, designed by hand."""

from __future__ import annotations

from math import cos, pi, sin

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.course.attention import UNSCALED, attend
from headlight.course.attention_by_hand.words import TOKENS
from headlight.course.controls import Axis, CountControl, MatrixControl, NumberControl
from headlight.course.screen import Screen, ScreenRows
from headlight.nn.attention import Attention
from headlight.questions.asking import ask_design, choose
from headlight.views.forms import bars, weights_matrix
from headlight.views.kinds import Arrow, ArrowsView, LinesView, MatrixView, Verdict
from headlight.views.rows import row
from headlight.views.words import percent

SURE = 0.9  # the least weight for a clean selection of one token
CLEAN, NEARLY_ALIKE = 0.95, 60  # the weight of a key that is picked; degrees between keys that are hardly told apart


def attention_by_content(angle: float, strength: float, copies: int) -> ScreenRows:
    """How cleanly a key is picked, by its angle to another one and by its number of copies."""
    return (*_by_angle(angle, strength), *_repeated(copies, strength))


def _by_angle(angle: float, strength: float) -> ScreenRows:
    """Three keys, the second at an angle from the first; the query is the first key, times a strength."""
    directions = (0.0, angle * pi / 180, -pi / 2)
    keys = torch.tensor([[cos(turn), sin(turn)] for turn in directions])
    query = strength * keys[:1]
    head = attend(query, keys, torch.eye(3), scale=False)
    swept = torch.linspace(0, 180, 37)
    shares = [
        float(attend(query, _turned(keys, float(each)), torch.eye(3), scale=False).weights[0, 0]) for each in swept
    ]
    named = [Arrow(f"key {index + 1}", float(x), float(y), 1) for index, (x, y) in enumerate(keys)]
    share = float(head.weights[0, 0])
    return (
        row(
            ArrowsView(
                arrows=(*named, Arrow("query", float(query[0, 0]), float(query[0, 1]))), groups=("query", "keys")
            ),
            bars(
                "Weights",
                ("key 1", "key 2", "key 3"),
                head.weights[0],
                name="weight",
                high=1.0,
                note="The query asks for key 1.",
            ),
            question=ask_design(
                f"Change the angle and the length until key 1 gets more than {percent(CLEAN, 0)} of the weight.",
                share > CLEAN,
                f"Key 1 gets {percent(share, 0)}.",
                (
                    share <= CLEAN and angle < NEARLY_ALIKE,
                    f"Key 1 gets {percent(share, 0)}: key 2 points almost the same way, so a query that fits key 1 "
                    "also fits key 2.",
                ),
                (share <= CLEAN, f"Key 1 gets {percent(share, 0)}: the query is short, so the scores hardly differ."),
                solution={"angle": "90", "strength": "6"},
                hints=(
                    "Which key gets the weight that key 1 lacks?",
                    "Turn key 2 to 90°, then make the query longer.",
                ),
                because="A query that fits one of two orthogonal keys does not fit the other, and a long query makes "
                "the scores differ more.",
            ),
        ),
        LinesView(
            "Weight of key 1 by its angle to key 2",
            swept,
            {"weight of key 1": torch.tensor(shares)},
            "angle in degrees",
            "weight",
        ),
        Verdict(
            f"Key 1 gets {percent(share)}. "
            + (
                "The selection is clean."
                if share > CLEAN
                else "Turn key 2 away, to 90° or more, and make the query longer: then the selection is clean."
            ),
            good=share > CLEAN,
        ),
    )


def _turned(keys: Tensor, degrees: float) -> Tensor:
    turn = degrees * pi / 180
    return torch.stack((keys[0], torch.tensor([cos(turn), sin(turn)]), keys[2]))


CONTENT = Screen(
    title="Attention by content",
    lesson="To pick one token, its score has to be far above the others. Two rules are enough: make the keys "
    "orthogonal, so that a query that fits one does not fit another, and make the query long, so that the scores "
    "differ more. Turn the second key, and see when the first is picked cleanly.",
    controls={
        "angle": NumberControl("Angle between key 1 and key 2", "30", 0, 180, step=5),
        "strength": NumberControl("Length of the query", "4", 0, 12, step=0.5),
        "copies": CountControl("Copies of “cat”", "3", 1, 6),
    },
    compute=attention_by_content,
    formulas=(
        r"q \cdot k = |q|\, |k|\, \cos \varphi",
        r"k_1 = k_2 \Rightarrow a_{i1} v_1 + a_{i2} v_1 = (a_{i1} + a_{i2})\, v_1",
        UNSCALED,
    ),
    code=(attention_by_content, attend, Attention.weighted_sum),
)


def _repeated(copies: int, strength: float) -> ScreenRows:
    """Several copies of a key, beside two others that are orthogonal to it."""
    keys = torch.eye(3)[[0] * copies + [1, 2]]
    values = torch.tensor([[10.0, 0.0], [0.0, 10.0], [5.0, 5.0]])[[0] * copies + [1, 2]]
    names = (*(f"cat ({number})" for number in range(1, copies + 1)), "dog", "bird")
    query = strength * torch.eye(3)[:1]
    one = attend(query, torch.eye(3), values[[0, -2, -1]], scale=False)
    many = attend(query, keys, values, scale=False)
    total = float(many.weights[0, :copies].sum())
    single = float(one.weights[0, 0])
    return (
        row(
            bars("One “cat”", ("cat", "dog", "bird"), one.weights[0], name="weight", high=1.0),
            bars(f"{copies} × “cat”", names, many.weights[0], name="weight", high=1.0),
            question=choose(
                "With more copies of “cat”, the weight of one copy ...",
                ("stays as it was", "becomes smaller", "becomes larger"),
                1 if copies > 1 else 0,
            ),
            title="The same word more than once",
            text="Equal keys have equal scores, so copies share the weight evenly. Without positions, attention cannot "
            "tell them apart, and need not.",
        ),
        row(
            MatrixView("Output with one", one.output),
            MatrixView(f"Output with {copies}", many.output),
            f"All copies together get {percent(total)}, a single “cat” gets {percent(single)}. Copies have the same "
            "value, so it does not matter how they share: attending to all of them gives the same value as attending "
            "to one.",
        ),
    )


def attention_by_position(values: Float[Tensor, "pos value_channel"], offset: int, strength: float) -> ScreenRows:
    """Keys are one-hot positions, and a token's query is the key of the position `offset` away."""
    count = len(values)
    keys = torch.eye(count)
    wanted = (torch.arange(count) + offset).clamp(0, count - 1)
    head = attend(strength * keys[wanted], keys, values, scale=False)
    names = TOKENS.label_all(count)
    share = float(head.weights[torch.arange(count), wanted].min())
    return (
        row(
            MatrixView("Q: where each token wants to look", strength * keys[wanted], rows=names),
            MatrixView("K: where each token is", keys, rows=names),
            weights_matrix("weights", head.weights, names, before="→"),
            MatrixView("output", head.output, before="→", rows=names),
            question=choose(
                f"Which token will “{names[-1]}” look at most?",
                names,
                int(wanted[-1]),
                hints=(f"It asks for the position {abs(offset)} {'before' if offset < 0 else 'after'} its own.",),
            )
            if strength
            else None,
        ),
        row(
            f"Each token gives at least {percent(share)} of its weight to the one it asks for. The meaning of the "
            "words plays no part: swap two values, and the weights stay the same.",
            question=ask_design(
                "Make it a head that looks one back: at least 90 % of each token's weight on the token before it.",
                offset == -1 and share >= SURE,
                f"It looks one back, but the weakest token gives only {percent(share, 0)} to the token before it.",
                (offset != -1, f"It looks {abs(offset)} {'back' if offset < 0 else 'on'}; one back is −1."),
                solution={"offset": "-1", "strength": "6"},
                hints=("Where does it look, and how surely?", "A longer query makes the largest score count more."),
                because="The longer the query, the further apart the scores; a length of 4 is enough for six tokens.",
            ),
        ),
    )


POSITION = Screen(
    title="Attention by position",
    lesson="Give each position a key of its own, and queries can ask for positions: “the token before me”, whatever it "
    "is. Trained models have such heads; Explore can sort its heads by Previous token and Next token.",
    controls={
        "values": MatrixControl("V", "1;2;3;4", rows=TOKENS, columns=Axis("value channels", 1, 3)),
        "offset": CountControl("Look at the token at", "-1", -3, 3),
        "strength": NumberControl("Length of the query", "2", 0, 12, step=0.5),
    },
    compute=attention_by_position,
    formulas=(r"k_j = e_j,\quad q_i = c\, e_{i + r}", r"s_{ij} = c\, [\,j = i + r\,]", UNSCALED),
    code=(attention_by_position, attend, Attention.weighted_sum),
    explore=lambda values, offset, strength: {"sort": "previous" if offset < 0 else "next"},
)
