"""The contents of a screen, for tests."""

from typing import TypeVar

import torch
from torch import Tensor

from headlight.checkpoints.load import Checkpoint
from headlight.course.screen import Screen, ScreenRows
from headlight.views.kinds import Numbers, Verdict, View, to_numpy
from headlight.views.rows import Row, as_rows
from tests.model import toys

Kind = TypeVar("Kind", bound=View)
TOY = Checkpoint(toys.decoder(), toys.causal(), "")


def compute(screen: Screen, model: Checkpoint = TOY, /, **inputs: str) -> tuple[Row, ...]:
    """The rows for some inputs and defaults otherwise; one model serves as every model of the screen."""
    return screen.rows(**screen.parse(inputs) | dict.fromkeys(screen.model_controls, model))


def views(answer: ScreenRows, kind: type[Kind]) -> list[Kind]:
    """All views of a kind."""
    return [view for row in as_rows(answer) for view in row.views if isinstance(view, kind)]


def tensor(values: Numbers) -> Tensor:
    """The numbers of a view, as float32."""
    return torch.tensor(to_numpy(values)).float()


def verdict(answer: ScreenRows) -> Verdict:
    """The first verdict."""
    return views(answer, Verdict)[0]


def sentences(answer: ScreenRows) -> str:
    """The text of all verdicts."""
    return " ".join(each.text for each in views(answer, Verdict))
