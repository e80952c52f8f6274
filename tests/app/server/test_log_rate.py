"""The log has a bound on what strangers cause."""

import logging

import pytest

from headlight_app.server import log_rate as subject
from headlight_app.server.log_rate import LINES, SECONDS, RateLimit


def test_a_message_that_anyone_can_cause_is_written_so_many_times_and_then_counted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 0.0
    monkeypatch.setattr(subject, "monotonic", lambda: now)
    log = logging.getLogger("of_strangers")
    monkeypatch.setattr(log, "filters", [RateLimit()])
    for number in range(1_000):
        log.warning("A connection from %s ended.", number)
    log.warning("Something else.")
    assert len(caplog.messages) == LINES + 1
    now = SECONDS
    log.warning("A connection from %s ended.", "elsewhere")
    left_out = f"({1_000 - LINES} more messages like this one were left out)"
    assert caplog.messages[-1] == f"A connection from elsewhere ended. {left_out}"
