"""Every request ends in an answer or a one-sentence error; `hostile_requests` names the command for more cases."""

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
from tests.sampling import parameter_set, some

ROUTES = len(http_requests())
QUESTION = {"model": "induction", "text": "a b c"}


class Extreme(Random):
    """Draws every field: the smallest (`end` 0) or largest (1) number, and the first of other values."""

    def __init__(self, end: int) -> None:
        super().__init__(end)
        self.end = end

    def random(self) -> float:
        """Above the probability of a misfit, below that of a field."""
        return 0.2

    def choice(self, among: Sequence[Any]) -> Any:  # type: ignore[override]
        """The smallest or largest number; the first of other values."""
        given = [each for each in among if not isinstance(each, kinds.NoneType)]
        return given[self.end if len(given) > 1 and isinstance(given[1], int | float) else 0]


@pytest.mark.parametrize("turn", some(range(6), lambda turn: turn == 0))
def test_a_hostile_request_ends_in_an_answer_or_a_sentence(turn: int) -> None:
    assert [case for case in cases(ROUTES, first=turn * ROUTES) if case.is_wrong] == []


# The greatest of each request in the short run: it is what costs memory and time.
@pytest.mark.parametrize(
    ("end", "kind"),
    [parameter_set(end, kind, full=end == 0) for end in (0, 1) for kind in http_requests()],
    ids=lambda value: ("least", "greatest")[value] if isinstance(value, int) else value.route,
)
def test_every_number_at_its_end_gets_an_answer_or_a_sentence(kind: type[Request[Any]], end: int) -> None:
    body = json.loads(content_of(kind, Extreme(end)))
    body |= {"question": QUESTION} if "question" in body else {}
    body |= {"sides": [QUESTION] * 2 if kind is CompareRequest else [{"question": QUESTION}]} if "sides" in body else {}
    case = ask(kind.route, json.dumps(body).encode())
    assert not case.is_wrong, case
