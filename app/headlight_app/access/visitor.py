"""Who is asking: a cookie that tells one visitor's browser from another's, and nothing else about anybody.

What is private to a visitor is found by it alone, so a link or a request from somebody else never opens it. The cookie
holds 256 random bits, ends with the browser's session, and no script can read it.
"""

from __future__ import annotations

from contextvars import ContextVar
from hashlib import sha256

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

COOKIE_NAME = "headlight_visitor"
UNKNOWN_VISITOR = ""
CURRENT_VISITOR: ContextVar[str] = ContextVar("visitor", default=UNKNOWN_VISITOR)


def current_visitor() -> str:
    """The visitor whose request or run of the page this thread answers; UNKNOWN_VISITOR where none is known."""
    known = CURRENT_VISITOR.get()
    if known or get_script_run_ctx(suppress_warning=True) is None:
        return known
    return visitor_id(str(st.context.cookies.get(COOKIE_NAME, "")))


def visitor_id(cookie: str) -> str:
    """What a visitor is called here: what the server keeps would not let anybody pass for them."""
    return sha256(cookie.encode()).hexdigest()[:32] if cookie else UNKNOWN_VISITOR
