"""Whatever is asked ends in an answer or in a sentence; many more cases by hand, with the module's own command."""

import pytest

from headlight_app.server.routes import http_requests
from tests.app.worker.hostile_requests import cases

ROUTES = len(http_requests())


@pytest.mark.parametrize("turn", range(6))
def test_a_hostile_request_ends_in_an_answer_or_a_sentence(turn: int) -> None:
    assert [case for case in cases(ROUTES, first=turn * ROUTES) if "Something went wrong" in case.said] == []
