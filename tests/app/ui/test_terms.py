"""The terms that the page explains link to existing screens of the course."""

import pytest

from headlight.course.chapters import find_screen
from headlight_app.ui.terms import TERMS


@pytest.mark.parametrize("name", TERMS)
def test_the_screen_of_a_term_is_there(name: str) -> None:
    term = TERMS[name]
    assert find_screen(term.chapter, term.screen)
    assert len(term.sentence) < 90, "one line"
