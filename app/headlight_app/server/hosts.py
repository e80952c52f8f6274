"""Checks the Host and Origin of requests, so that a page of another site cannot send requests for a visitor.

Such a site can point its own domain name to this machine (DNS rebinding); the browser then sends that name as Host. An
IP address is not a domain name, so it is always allowed.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
POLICY_VIOLATION = 1008  # of a WebSocket


def known_names(names: Iterable[str]) -> frozenset[str]:
    """The accepted host names: `names`, and the names of this machine."""
    machine = socket.gethostname().lower()
    return frozenset({"localhost", machine, f"{machine}.local", *(name.lower() for name in names)})


class HostCheck:
    """Rejects HTTP and WebSocket requests with an unknown host name, or from a page of another site."""

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self.app, self.names = app, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or reject it with a sentence."""
        problem = self._problem(scope) if scope["type"] in ("http", "websocket") else ""
        if not problem:
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await PlainTextResponse(problem, 403)(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": problem})

    def _problem(self, scope: Scope) -> str:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_known(host):
            return "This server does not answer to that name. Its operator can add --allow-host NAME."
        origin = headers.get("origin", "")
        changes = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        if changes and origin and _parts(origin).netloc.lower() != host.lower():
            return "This server answers its own page only."
        return ""

    def _is_known(self, host: str) -> bool:
        """Whether a Host header is one of this server's names or an IP address."""
        name = (_parts(f"//{host}").hostname or "").rstrip(".")
        return name in self.names or _is_address(name)


def _parts(address: str) -> SplitResult:
    """The parts of a URL, all empty if it is malformed."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _is_address(name: str) -> bool:
    try:
        ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True
