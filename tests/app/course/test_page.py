"""The Course page, run by Streamlit."""

from dataclasses import replace
from typing import Any

import pytest

from headlight_app.state.session import SESSION_KEY
from tests.app.pages import alone, component_data


@pytest.mark.parametrize("of_chapter", ["attention", "heads"])
def test_a_report_of_a_chapter_that_was_left_changes_nothing(monkeypatch: pytest.MonkeyPatch, of_chapter: str) -> None:
    reported: dict[str, Any] = {}
    monkeypatch.setattr("headlight_app.state.session.reported", lambda key: dict(reported))
    at = alone("course", model="next", chapter="heads")
    reported |= {"screen": "task", "course_inputs": "task.text=A+dog", "within": of_chapter, "serial": 1}
    data = component_data(at.run().main)
    chosen = ("task", "task.text=A+dog") if of_chapter == "heads" else ("", "")
    assert data["state"] == dict(zip(("chapter", "screen", "course_inputs"), ("heads", *chosen), strict=True))
    assert data["serial"] == 1, "the report is acknowledged"
    reported |= {"chapter": "masks", "screen": "added", "course_inputs": "", "within": "masks", "serial": 2}
    data = component_data(at.run().main)
    assert data["state"] == {"chapter": "masks", "screen": "added", "course_inputs": ""}, "the link is followed"


def test_a_run_that_ended_before_its_page_has_left_the_chapter_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit ends the run of Back when a report follows: the new address is taken over, but no page was shown."""
    reported: dict[str, Any] = {}
    monkeypatch.setattr("headlight_app.state.session.reported", lambda key: dict(reported))
    at = alone("course", model="next", chapter="attention")
    session, address = at.session_state[SESSION_KEY], {"model": "next", "chapter": "heads"}
    at.session_state[SESSION_KEY] = replace(session, state=session.state.change(chapter="heads"), addresses=(address,))
    at.query_params["chapter"] = "heads"
    reported |= {"screen": "task", "course_inputs": "task.text=A+dog", "within": "attention", "serial": 1}
    data = component_data(at.run().main)
    assert data["state"] == {"chapter": "heads", "screen": "", "course_inputs": ""}
