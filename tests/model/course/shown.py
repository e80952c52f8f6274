"""The contents of a screen, for tests."""

from typing import TypeVar

from headlight.checkpoints.load import Checkpoint
from headlight.course.pictures import Picture, Row, Verdict, as_rows
from headlight.course.screen import Screen, ScreenRows
from tests.model import toys

Kind = TypeVar("Kind", bound=Picture)
TOY = Checkpoint(toys.decoder(), toys.causal(), "")


def compute(screen: Screen, model: Checkpoint = TOY, /, **inputs: str) -> tuple[Row, ...]:
    """The rows for some inputs and defaults otherwise; one model serves as every model of the screen."""
    return screen.rows(**screen.parse(inputs) | dict.fromkeys(screen.model_controls, model))


def pictures(answer: ScreenRows, kind: type[Kind]) -> list[Kind]:
    """All pictures of a kind."""
    return [picture for row in as_rows(answer) for picture in row.pictures if isinstance(picture, kind)]


def verdict(answer: ScreenRows) -> Verdict:
    """The first verdict."""
    return pictures(answer, Verdict)[0]


def sentences(answer: ScreenRows) -> str:
    """The text of all verdicts."""
    return " ".join(each.text for each in pictures(answer, Verdict))
