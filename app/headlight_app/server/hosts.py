"""Checks the Host and Origin of requests, so that a page of another site cannot send requests for a visitor.

Such a site can point its own domain name to this machine (DNS rebinding); the browser then sends that name as Host. An
IP address is not a domain name, so it is always allowed as Host.

Behind a proxy that replaces Host, the Origin differs from it. Such an Origin is accepted only if the operator named it.
"""

from __future__ import annotations

import logging

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from headlight_app.access.origins import DEFAULT_PORTS, Authority, Hosts, parse_authority, parse_origin
from headlight_app.contract.reply import Refusal, Reply
from headlight_app.server.replies import HEADERS

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
POLICY_VIOLATION = 1008  # of a WebSocket
NO_NAME = "This server does not answer to that name. Its operator can add --allow-host NAME."
NOT_OWN = "This server answers its own page only."
MOST_TOLD = 20  # refused addresses in the log


class HostCheck:
    """Rejects HTTP and WebSocket requests with an unknown host name, or from a page of another site."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self.app, self.hosts = app, hosts
        self.told: set[str] = set()  # in the log, each once

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or reject it with a sentence."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        asked = self._asked_host(headers)
        problem = self._problem(scope, headers, asked)
        if not problem:
            await self.app(self._as_asked(scope, headers), receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": problem})
        else:
            await _refusal(scope, problem)(scope, receive, send)

    def _problem(self, scope: Scope, headers: Headers, asked: str) -> str:
        for host in (headers.get("host", ""), asked):
            if not self.hosts.knows(host):
                name = parse_authority(host)
                return self._unknown(name, name._replace(port=None)) if name else NO_NAME
        origin = headers.get("origin", "")
        changes = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        if not changes or not origin or self.hosts.accepts(origin, asked):
            return ""
        page, served = parse_origin(origin), parse_authority(asked)
        if page is None or served is None:
            return NOT_OWN
        scheme, sender = page
        # At another port of its own name, the server accepts only a page that is named with its port.
        port = (sender.port or DEFAULT_PORTS[scheme]) if sender.name == served.name else None
        return self._unknown(sender, sender._replace(port=port))

    def _unknown(self, host: Authority, allowed: Authority) -> str:
        """A sentence about an unknown address and the option that allows it; the log says it once."""
        problem = (
            f"This server does not know the address {host}. "
            f"If a proxy serves its page there, its operator can add --allow-host {allowed}."
        )
        if problem not in self.told and len(self.told) < MOST_TOLD:
            self.told.add(problem)
            logging.getLogger(__name__).warning(problem)
        return problem

    def _asked_host(self, headers: Headers) -> str:
        """The host that the browser asked for, as far as the server may believe it."""
        return (self.hosts.trusts_forwarded and _forwarded(headers, "host")) or headers.get("host", "")

    def _as_asked(self, scope: Scope, headers: Headers) -> Scope:
        """The request with the browser's own host and scheme, with which Streamlit compares the Origin."""
        scope = {**scope, "headers": [*scope["headers"]]}
        if scope["type"] == "websocket" and (origin := headers.get("origin", "")):
            MutableHeaders(scope=scope)["host"] = origin.partition("://")[2]
        if self.hosts.trusts_forwarded and _forwarded(headers, "proto") == "https":
            scope["scheme"] = "wss" if scope["type"] == "websocket" else "https"
        return scope


def _refusal(scope: Scope, problem: str) -> Response:
    """The sentence as text, or as the reply that a component reads."""
    if "/api/" not in scope["path"]:
        return PlainTextResponse(problem, 403)
    return Response(Reply(Refusal(error=problem)).encode(), 403, HEADERS, "application/octet-stream")


def _forwarded(headers: Headers, name: str) -> str:
    """What the first proxy said of the request, in X-Forwarded-NAME or in Forwarded; empty if nothing."""
    first = headers.get("forwarded", "").partition(",")[0]
    pairs = (part.strip().partition("=")[::2] for part in first.split(";"))
    standard = next((value.strip('"') for key, value in pairs if key.lower() == name), "")
    return headers.get(f"x-forwarded-{name}", "").partition(",")[0].strip() or standard
