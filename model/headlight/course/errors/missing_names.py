"""Code printed without its imports: the definition raises no error, but a call fails."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import torch

from headlight.course.controls import ChoiceControl
from headlight.course.positions.waves import wavelengths
from headlight.course.screen import Screen, ScreenRows
from headlight.nn.attention import split_heads
from headlight.nn.positional_encodings import sinusoids
from headlight.questions.asking import ask_whether
from headlight.views.kinds import TableView, Verdict
from headlight.views.rows import row


def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Scaled dot-product attention as notes print it, without the imports above it."""
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    return torch.matmul(torch.softmax(scores, dim=-1), value)


CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "attention": (attention, (torch.ones(1, 3, 4),) * 3),
    "wavelengths": (wavelengths, (8, 10_000.0)),
    "sinusoids": (sinusoids, (torch.arange(4), 8)),
    "split_heads": (split_heads, (torch.zeros(1, 4, 8), 2)),
}
IMPORTS: dict[str, tuple[str, ...]] = {"nothing": (), "torch": ("torch",), "all": ("torch", "math", "tau")}


def needed_names(function: Callable[..., Any]) -> dict[str, Any]:
    """The names that a function takes from its module, and their values there."""
    return dict(inspect.getclosurevars(inspect.unwrap(function)).globals)


def call_with(function: Callable[..., Any], arguments: tuple[Any, ...], names: dict[str, Any]) -> Any:
    """Call a function as if its module had only these names. Raises NameError if it needs another."""
    plain = inspect.unwrap(function)
    assert isinstance(plain, FunctionType)
    return FunctionType(plain.__code__, names, plain.__name__, plain.__defaults__)(*arguments)


def missing_names(function: str, imports: str) -> ScreenRows:
    """A call of one of this program's functions with only some of the names that it needs."""
    called, arguments = CALLS[function]
    needed = needed_names(called)
    known = {name: value for name, value in needed.items() if name in IMPORTS[imports]}
    try:
        said = f"an answer of shape {tuple(call_with(called, arguments, known).shape)}"
    except NameError as error:
        said = f"NameError: {error}"
    rows = tuple((name, "yes" if name in known else "no") for name in needed) or (("none", "—"),)
    return (
        row(
            TableView(("name", "known"), rows, title=f"Names that {function} takes from its file"),
            TableView(
                ("line", "result"),
                ((f"def\N{NO-BREAK SPACE}{function}(...)", "no error"), (f"{function}(...)", said)),
                title="Python's answer",
            ),
            question=ask_whether(
                f"The definition of {function} was accepted. Will a call work?", len(known) == len(needed)
            ),
        ),
        Verdict(
            f"{len(known)} of {len(needed)} names that it needs are known. Python looks a name up when its line runs, "
            "so a definition without its imports is accepted, and the first call fails. A class fails earlier: the "
            "name in its first line, as in “class Head(nn.Module)”, is looked up at once.",
            good=len(known) == len(needed),
        ),
    )


MISSING_NAMES = Screen(
    title="Defined without an error, and still broken",
    lesson="Printed code often lacks its imports, but a cell that only defines a function still runs. Here functions "
    "of this very program are called with only some of the names that they need.",
    controls={
        "function": ChoiceControl("Function", "attention", {name: name for name in CALLS}),
        "imports": ChoiceControl(
            "Imported", "nothing", {"nothing": "Nothing", "torch": "torch", "all": "torch, math, and tau from it"}
        ),
    },
    compute=missing_names,
    code=(call_with, attention, wavelengths, sinusoids, split_heads),
)
