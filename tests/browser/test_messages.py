"""What pages send through the WebSocket is far below the limits of the server."""

import pytest
from playwright.sync_api import WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg

from headlight_app.server.connections.held_messages import SMALL_MESSAGE, VISITOR_HELD
from headlight_app.server.connections.sessions import MAX_STATES
from headlight_app.server.connections.websocket_protocol import FRAMES, MAX_MESSAGE
from tests.browser.test_walk import open_everything
from tests.browser.visitor import Visitor
from tests.browser.walk import PATHS

LONG_TEXT = "The cat sat on the mat. " * 4_000  # 96 kB: far more than any shipped model reads


@pytest.mark.full
def test_messages_of_all_pages_leave_four_times_as_much_to_the_limits(visitor: Visitor) -> None:
    sent: list[bytes] = []
    sessions: list[WebSocket] = []

    def listen(session: WebSocket) -> None:
        sessions.append(session)
        session.on("framesent", lambda content: sent.append(content if isinstance(content, bytes) else b""))

    visitor.page.on("websocket", listen)
    for path in PATHS:
        open_everything(visitor.open("model=stories-causal", path))
        visitor.settle()
    box = visitor.open("model=stories-causal").locator("textarea:visible").first
    with sessions[-1].expect_event("framesent", lambda content: len(content) > len(LONG_TEXT)):
        box.fill(LONG_TEXT)
    assert max(map(len, sent)) < MAX_MESSAGE / 4
    assert max(len(content) for content in sent if len(content) < len(LONG_TEXT)) < SMALL_MESSAGE / 4
    assert 0 < max(map(_states, sent)) < MAX_STATES / 4
    assert len(sent) < FRAMES / 4 and sum(map(len, sent)) < VISITOR_HELD / 4


def _states(content: bytes) -> int:
    message = BackMsg()
    message.ParseFromString(content)
    return len(message.rerun_script.widget_states.widgets)
