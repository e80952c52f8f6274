"""Made-up lessons: each is right or has faults in sentences, and none runs its model without a limit."""

from random import Random
from typing import Any

import pytest

from headlight.checkpoints.load import Checkpoint
from headlight.lessons.check import check_text
from headlight.lessons.lesson import HEADER, STEP
from headlight.lessons.lesson_file import MAX_STEPS
from headlight.lessons.quantities import QUANTITIES
from headlight.lessons.scope import MAX_RUNS
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from tests.model.lessons.conftest import open_shipped

ATOMS = (
    "1",
    "0",
    "-1",
    "1e308",
    "9" * 300,
    "text",
    "seed",
    "L",
    '"previous"',
    '"\ud800"',
    '"layer"',
    "0.5",
    '""',
    "1 / 0",
)
TEXTS = (
    "the cat sat",
    "x " * 300,
    "",
    "1",
    "a = b",
    "a => 1 => 2",
    "first",
    "{tokens()}",
    "{",
    "../..",
    "=1+1",
    "\0",
    "None",
)
KINDS = ("largest", "smallest", "number", "choice", "order", "point", "screen", "goal", "x", "")


def expression(random: Random, depth: int = 0) -> str:
    """An expression of known quantities; half of them have the wrong kinds of arguments."""
    if depth > 3 or random.random() < 0.3:
        return random.choice(ATOMS)
    name = random.choice(tuple(QUANTITIES))
    arguments = [expression(random, depth + 1) for _ in QUANTITIES[name].arguments]
    called = f"{name}({', '.join(arguments)})"
    return random.choice((called, called, f"{called}[0]", f"-{called}", f"{called} * {called}", f"{called} < 1"))


def made_up(random: Random, text: str) -> str:
    """A lesson with some lines that are exchanged, repeated, added or removed."""
    lines = text.splitlines()
    for _ in range(random.randrange(1, 8)):
        at, key = random.randrange(1, len(lines)), random.choice((*HEADER, *STEP))
        value = random.choice((*TEXTS, expression(random), f"{random.choice(KINDS)} {expression(random)}"))
        made = random.choice((f"- {key}: {value}", f"{key}: {value}", f"{{{expression(random)}}}", "## Next", value))
        lines[at : at + random.randrange(2)] = [made] * random.choice((1, 1, 1, 3))
    return "\n".join(lines)


@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(40, 500), marks=pytest.mark.full)])
def test_a_made_up_lesson_is_right_or_has_faults(seeds: range, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [0]

    def counted(*given: Any) -> Trace:
        runs[0] += 1
        return run(*given)

    def opened(name: str) -> Checkpoint:
        return open_shipped(name if name.startswith("ladder") else "ladder-7-depth")

    monkeypatch.setattr("headlight.lessons.scope.run", counted)
    for seed in seeds:
        runs[0], lesson = 0, made_up(Random(seed), text)
        for fault in check_text("made-up", lesson, opened):
            assert fault.sentence.strip() and "\n" not in fault.sentence, fault
            assert "Something went wrong" not in fault.sentence
        assert runs[0] <= MAX_RUNS * 12 * MAX_STEPS
    many = text + "## Next\n\nA text.\n" * MAX_STEPS
    assert "at most 40 steps" in str(check_text("many", many, opened))
