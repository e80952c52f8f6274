"""Exercises in code, and the results of common mistakes."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from headlight.code_exercises.cases import Case, right_result
from headlight.code_exercises.exercises import CODE_EXERCISES, notebook_text, python_text
from headlight.code_exercises.misconceptions import MISCONCEPTIONS, wrong_result
from headlight.code_exercises.steps import Steps, compute
from headlight.course.controls import ChoiceControl, CountControl, SeedControl
from headlight.course.screen import Screen, ScreenRows
from headlight.nn.attention import Attention
from headlight.questions.asking import ask_largest, ask_whether
from headlight.views.kinds import FileView, MatrixView, TableView, Verdict
from headlight.views.rows import row

DIGITS = 4
WITHOUT_LAYERS = (
    "no-scale",
    "scale-by-width",
    "multiplied-by-root",
    "softmax-over-queries",
    "exchanged-scores",
    "weights-transposed",
    "values-from-keys",
    "mask-ignored",
    "mask-inverted",
    "mask-transposed",
    "mask-after-softmax",
    "masked-scores-zero",
)


def drawn_case(seed: int, tokens: int, channels: int) -> Case:
    """One text of random queries, keys and values, under a causal mask."""
    generator = torch.Generator().manual_seed(seed)
    query, key, value = (torch.randn(1, tokens, channels, generator=generator) for _ in range(3))
    return Case(query=query, key=key, value=value, mask=torch.ones(1, tokens, tokens, dtype=torch.bool).tril())


def show_exercise(name: str, tokens: int, seed: int) -> ScreenRows:
    """The task of an exercise, and the right answer for a small example, computed by the models' attention."""
    row_of_exercise = CODE_EXERCISES[name]
    case = replace(drawn_case(seed, tokens, 4), mask=None)
    right = right_result(case)
    arguments = tuple(
        (name, text.strip()) for name, _, text in (each.partition(":") for each in row_of_exercise.arguments)
    )
    return (
        row_of_exercise.task,
        TableView(("name", "what it is"), arguments, title="Arguments"),
        row(
            FileView(file_name="attention.ipynb", media_type="application/x-ipynb+json", text=notebook_text()),
            FileView(file_name="my_attention.py", media_type="text/x-python", text=python_text()),
            title="The exercises, with gaps to fill in",
            text="All four, as a Jupyter notebook or as a Python file. On your own machine, with Headlight installed, "
            "the cells of the notebook check themselves, and headlight check my_attention.py checks the file. Your "
            "code is compared with Headlight's, and the mistake behind a wrong number is named.",
        ),
        row(
            matrix("Queries", case.query, "query", "channel"),
            matrix("Keys", case.key, "key", "channel"),
            matrix("Values", case.value, "value", "channel"),
            title="An example to test your function with",
            text="One head, without a mask; a module first computes these three from its input.",
        ),
        row(
            matrix("Weights", right.weights, "query", "key", weights=True),
            matrix("Output", right.output, "query", "channel", before="→"),
            question=ask_largest(
                "Which key gets most of the weight of query 0?",
                {f"key {key}": weight for key, weight in enumerate(right.weights[0, 0].tolist())},
            ),
        ),
    )


def show_mistake(mistake: str, tokens: int, channels: int, seed: int) -> ScreenRows:
    """A misconception and the right answer, computed on the same numbers."""
    case = drawn_case(seed, tokens, channels)
    right, row_of_mistake = right_result(case), MISCONCEPTIONS[mistake]
    wrong = wrong_result(case, row_of_mistake) or right
    distance = float((wrong.output - right.output).abs().max())
    diagnosis = row_of_mistake.diagnosis
    return (
        row(
            matrix("Right weights", right.weights, "query", "key", weights=True),
            matrix("Weights of the mistake", wrong.weights, "query", "key", weights=True),
            question=ask_whether(
                f"{mistake.replace('-', ' ').capitalize()}: does each row of weights still add up to 1?",
                bool(torch.isclose(wrong.weights.sum(-1), torch.tensor(1.0), atol=1e-4).all()),
                "Add the numbers of each row: only a softmax over the keys, with nothing after it, makes them 1.",
            ),
        ),
        row(
            matrix("Right output", right.output, "query", "channel"),
            matrix("Output of the mistake", wrong.output, "query", "channel"),
        ),
        Verdict(
            f"The outputs differ by up to {distance:.{DIGITS}f}. It looks as if {diagnosis.looks_like}", good=False
        ),
        row(f"{diagnosis.hints.nudge} {diagnosis.hints.concrete}", title="What to try"),
    )


def matrix(
    title: str, values: Tensor, row_axis: str, column_axis: str, *, weights: bool = False, before: str = ""
) -> MatrixView:
    """A matrix of the only text of a batch."""
    return MatrixView(
        title,
        values[0],
        rows=_numbers(values.shape[1]),
        columns=_numbers(values.shape[2]),
        row_axis=row_axis,
        column_axis=column_axis,
        colours="weights" if weights else "signed",
        row_sums=weights,
        before=before,
    )


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(count))


WRITE = Screen(
    title="Write it yourself, and know your mistakes",
    lesson="Write attention once, and you know where each number comes from: four exercises lead from one function to "
    "several heads, and your code runs on your own machine. A mistake seldom raises an error but gives other numbers: "
    "choose one and compare. The check of your code also computes each mistake, so it can name the one behind a wrong "
    "number.",
    controls={
        "shown": ChoiceControl("Show", "exercise", {"exercise": "An exercise", "mistake": "What a mistake gives"}),
        "name": ChoiceControl(
            "Exercise",
            "scaled_dot_product_attention",
            {name: each.title for name, each in CODE_EXERCISES.items()},
        ),
        "mistake": ChoiceControl(
            "Mistake",
            "mask-after-softmax",
            {name: name.replace("-", " ").capitalize() for name in WITHOUT_LAYERS},
        ),
        "tokens": CountControl("Tokens", "4", 2, 6),
        "channels": CountControl("Channels", "4", 2, 6),
        "seed": SeedControl(),
    },
    compute={"exercise": show_exercise, "mistake": show_mistake},
    formulas=(r"\mathrm{softmax}\left(\frac{Q K^T}{\sqrt{d_k}}\right) V",),
    code=(Attention.weighted_sum, Steps, compute),
)
