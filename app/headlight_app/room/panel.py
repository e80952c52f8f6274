"""The room component: the invitation, the teacher's panel, and the student's status line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from headlight_app.engine.models import own_titles
from headlight_app.ui.component import API, Component

ROOM = Component(
    "room",
    html="room/frontend/room.html",
    styles=("ui/frontend/styles/base.css", "frame/frontend/dialog.css", "room/frontend/room.css"),
)


def room_cookie() -> str:
    """The name of the cookie with the code of this browser's room; scripts may read it."""
    return f"headlight_room_{st.get_option('server.port')}"


def mount_room(
    pages: list[dict[str, str]], presenter: bool, invitation: Mapping[str, Any] | None, invite: Callable[[], None]
) -> None:
    """Draw the component on any page. Its button asks to `invite`; a new `invitation` has URL, QR code and number."""
    data = {"api": API, "pages": pages, "cookie": room_cookie(), "own_models": own_titles()}
    ROOM.mount({**data, "presenter": presenter, "invitation": invitation}, invite)
