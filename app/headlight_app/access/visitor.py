"""Visitors: each browser is identified by a signed cookie.

Private data is found by the cookie only, so neither a link nor another visitor's request opens it. The cookie contains
256 random bits and this server's signature, ends with the browser's session, and is hidden from scripts (HttpOnly).
Requests without a valid cookie have no visitor; they share one queue per network address.
"""

from __future__ import annotations

import secrets
from contextvars import ContextVar
from functools import lru_cache
from hashlib import sha256

import streamlit as st
from itsdangerous import BadSignature, Signer
from streamlit.runtime.scriptrunner import get_script_run_ctx

from headlight_app.access.addresses import network_address
from headlight_app.access.presence import presence

UNKNOWN_VISITOR = ""
CURRENT_VISITOR: ContextVar[str] = ContextVar("visitor", default=UNKNOWN_VISITOR)
CURRENT_ADDRESS: ContextVar[str] = ContextVar("address", default="")


def current_visitor() -> str:
    """The visitor whose request or page run this thread handles; UNKNOWN_VISITOR without a valid cookie."""
    known = CURRENT_VISITOR.get()
    if known or get_script_run_ctx(suppress_warning=True) is None:
        return known
    return visitor_id(str(st.context.cookies.get(cookie_name(), "")))


def current_queue() -> str:
    """The queue for this thread's requests: the visitor's own, or else that of their network address."""
    visitor, address = current_visitor(), CURRENT_ADDRESS.get()
    if get_script_run_ctx(suppress_warning=True) is not None:  # a page run, so the page is open
        return visitor or f"at {st.context.ip_address or address}"
    is_own = not address or presence().has_turn(visitor, address)  # only the server's own requests have no address
    return visitor if is_own else f"at {address}"


def current_address() -> str:
    """The network address for which limits count in this thread's request or page run; empty outside of both."""
    known = CURRENT_ADDRESS.get()
    if known or get_script_run_ctx(suppress_warning=True) is None:
        return known
    return network_address(st.context.ip_address or "")


def cookie_name() -> str:
    """The cookie's name, with this server's port, because browsers send cookies to all ports of a host."""
    return f"headlight_visitor_{st.get_option('server.port')}"


def new_cookie() -> str:
    """A cookie for a new visitor."""
    return _signer().sign(secrets.token_urlsafe(32)).decode()


def visitor_id(cookie: str) -> str:
    """Hash of a cookie signed by this server; leaking it does not allow impersonation. Else UNKNOWN_VISITOR."""
    try:
        return sha256(_signer().unsign(cookie)).hexdigest()[:32]
    except BadSignature:
        return UNKNOWN_VISITOR


@lru_cache(maxsize=1)
def _signer() -> Signer:
    """A signer with a new key per process: no data outlives the server, so older cookies are useless."""
    return Signer(secrets.token_bytes(32), digest_method=sha256)
