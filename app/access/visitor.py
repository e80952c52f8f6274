"""Who is asking: a cookie that tells one visitor's browser from another's, and nothing else about anybody.

What is private to a visitor is found by it alone, so a link or a request from somebody else never opens it. The cookie
holds 256 random bits, ends with the browser's session, and no script can read it.
"""

from __future__ import annotations

from contextvars import ContextVar
from hashlib import sha256

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

COOKIE = "headlight_visitor"
NOBODY = ""
_ASKING: ContextVar[str] = ContextVar("asking", default=NOBODY)


def visitor() -> str:
    """The visitor for whom this thread works, in a request or in a run of the page; NOBODY where that is not known."""
    asking = _ASKING.get()
    if asking or get_script_run_ctx(suppress_warning=True) is None:
        return asking
    return named(str(st.context.cookies.get(COOKIE, "")))


def named(cookie: str) -> str:
    """What a visitor is called here: what the server keeps would not let anybody pass for them."""
    return sha256(cookie.encode()).hexdigest()[:32] if cookie else NOBODY
