"""Whatever is asked ends in an answer or in a sentence; many more cases by hand, with the module's own command."""

import json
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from msgspec import inspect as kinds

from headlight_app.compare.contract import CompareRequest
from headlight_app.contract.request import Request
from headlight_app.server.routes import http_requests
from tests.app.worker.hostile_requests import ask, cases, content_of

ROUTES = len(http_requests())
QUESTION = {"model": "induction", "text": "a b c"}


class Extreme(Random):
    """Draws every field, the least (`end` 0) or the greatest (1) of numbers, and the first of anything else."""

    def __init__(self, end: int) -> None:
        super().__init__(end)
        self.end = end

    def random(self) -> float:
        """More than the odds of a misfit, and less than those of a field."""
        return 0.2

    def choice(self, among: Sequence[Any]) -> Any:  # type: ignore[override]
        """One of two ends, if there are numbers to choose from."""
        given = [each for each in among if not isinstance(each, kinds.NoneType)]
        return given[self.end if len(given) > 1 and isinstance(given[1], int | float) else 0]


@pytest.mark.parametrize("turn", range(6))
def test_a_hostile_request_ends_in_an_answer_or_a_sentence(turn: int) -> None:
    assert [case for case in cases(ROUTES, first=turn * ROUTES) if case.is_wrong] == []


@pytest.mark.parametrize("end", [0, 1], ids=["least", "greatest"])
@pytest.mark.parametrize("kind", http_requests(), ids=lambda kind: kind.route)
def test_every_number_at_its_end_gets_an_answer_or_a_sentence(kind: type[Request[Any]], end: int) -> None:
    body = json.loads(content_of(kind, Extreme(end)))
    body |= {"question": QUESTION} if "question" in body else {}
    body |= {"sides": [QUESTION] * 2 if kind is CompareRequest else [{"question": QUESTION}]} if "sides" in body else {}
    case = ask(kind.route, json.dumps(body).encode())
    assert not case.is_wrong, case
