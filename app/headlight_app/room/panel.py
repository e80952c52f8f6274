"""The room in the page: the invitation and the teacher's panel, and the line that a student sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from headlight_app.engine.models import own_titles
from headlight_app.ui.component import Component, api_address

ROOM = Component(
    "room",
    module="room/frontend/room.js",
    html="room/frontend/room.html",
    styles=("ui/frontend/styles/base.css", "frame/frontend/dialog.css", "room/frontend/room.css"),
)


def room_cookie() -> str:
    """The name of the cookie that holds the code of the room that a browser is in; scripts may read it."""
    return f"headlight_room_{st.get_option('server.port')}"


def mount_room(pages: list[dict[str, str]], presenter: bool, invitation: Mapping[str, Any] | None) -> None:
    """Draw it on any page. `invitation` opens the sheet: the address of the view and its picture, with a number."""
    data = {"api": api_address(), "pages": pages, "cookie": room_cookie(), "own_models": own_titles()}
    ROOM.mount({**data, "presenter": presenter, "invitation": invitation})
