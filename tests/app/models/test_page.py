"""What the Models page says of a checkpoint that was brought."""

from collections.abc import Iterable
from typing import Any

import pytest

from app.engine.client import ask
from app.engine.models import listed_models
from app.models import page as subject
from tests.app.pages import alone


def test_what_is_wrong_with_its_weights_is_a_warning_and_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(question: str, body: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        if question != "weight_report":
            return ask(question, body)
        assert body["find_nonfinite"]
        return {"notes": ["3 tensors were loaded."], "warning": "2 weights are no numbers."}, b""

    monkeypatch.setattr(subject, "ask", answer)
    listed = listed_models()[0]
    at = alone("models", model=listed.name)
    at.session_state[subject.UPLOAD_RESULT] = (listed.name, "")
    at.run()
    assert _words(at.success) == [f"{listed.title} can be opened now."]
    assert _words(at.info) == ["3 tensors were loaded."]
    assert _words(at.warning) == ["2 weights are no numbers."]


def _words(alerts: Iterable[Any]) -> list[str]:
    return [alert.value.replace("\\", "") for alert in alerts]  # Markdown's escapes
