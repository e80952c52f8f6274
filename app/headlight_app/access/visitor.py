"""Visitors: a signed cookie tells one browser from another.

What is private to a visitor is found by the cookie alone, so a link or a request of another visitor never opens it. The
cookie holds 256 random bits and this server's signature, ends with the browser's session, and no script can read it.
A request without a valid cookie has no visitor; such requests wait in one queue for each network address.
"""

from __future__ import annotations

import secrets
from contextvars import ContextVar
from functools import lru_cache
from hashlib import sha256

import streamlit as st
from itsdangerous import BadSignature, Signer
from streamlit.runtime.scriptrunner import get_script_run_ctx

from headlight_app.access.presence import presence

UNKNOWN_VISITOR = ""
CURRENT_VISITOR: ContextVar[str] = ContextVar("visitor", default=UNKNOWN_VISITOR)
CURRENT_ADDRESS: ContextVar[str] = ContextVar("address", default="")


def current_visitor() -> str:
    """The visitor whose request or run of the page this thread answers; UNKNOWN_VISITOR where none is known."""
    known = CURRENT_VISITOR.get()
    if known or get_script_run_ctx(suppress_warning=True) is None:
        return known
    return visitor_id(str(st.context.cookies.get(cookie_name(), "")))


def current_queue() -> str:
    """Whose turn a question of this thread waits for: its visitor's, or its network address's where it has none."""
    visitor, address = current_visitor(), CURRENT_ADDRESS.get()
    if get_script_run_ctx(suppress_warning=True) is not None:  # a run of the page, which is open
        return visitor or f"at {st.context.ip_address or address}"
    is_own = not address or presence().has_turn(visitor, address)  # without an address it is the server that asks
    return visitor if is_own else f"at {address}"


def cookie_name() -> str:
    """The cookie's name. Browsers send cookies to all ports of a host, so it holds the port of this server."""
    return f"headlight_visitor_{st.get_option('server.port')}"


def new_cookie() -> str:
    """A cookie for a new visitor."""
    return _signer().sign(secrets.token_urlsafe(32)).decode()


@lru_cache(maxsize=4_096)  # each run of the page asks several times
def visitor_id(cookie: str) -> str:
    """The hash of a cookie that this server signed; leaking it does not allow impersonation. Else UNKNOWN_VISITOR."""
    try:
        return sha256(_signer().unsign(cookie)).hexdigest()[:32]
    except BadSignature:
        return UNKNOWN_VISITOR


@lru_cache(maxsize=1)
def _signer() -> Signer:
    """With a key of this process: a visitor of an earlier one has nothing here, because uploads end with the server."""
    return Signer(secrets.token_bytes(32), digest_method=sha256)
