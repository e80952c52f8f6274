"""Rate limits per visitor of a shared server: a faster request is delayed, without delaying other visitors.

All requests count, unless refused for their delay. WebSocket messages are counted separately: each starts a page run
in a thread, which slows the whole server, so a message also waits until the page run of the previous message has ended.
Requests without a valid cookie share the limit of their network address, and so do questions of visitors without a
queue of their own. Sessions are also counted by address, because each visitor's first ones cost nothing else.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from time import monotonic

from cachetools import TTLCache
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headlight_app.access.page_turns import runs_ended
from headlight_app.access.visitor import CURRENT_ADDRESS, CURRENT_VISITOR, current_queue
from headlight_app.server.hosts import POLICY_VIOLATION

PER_SECOND = 50.0  # sustained requests; opening a page sends about 250 at once
BURST = 600.0
SESSION_COST = 10.0  # requests that a page session counts as
ADDRESS_SESSIONS = 4_000.0  # the same of an address: 400 sessions at once, then 5 per second
MESSAGE_COST, MESSAGE_BURST = 25.0, 125.0  # WebSocket messages: 5 page runs at once, then 2 per second
QUESTION_COST = 4.0  # requests that a question counts as: 150 at once, then 12 per second, is more than a person sends
MAX_WAIT = 10.0  # seconds that a request may be delayed; a longer delay is refused
MAX_RUN_WAIT, LOOK_AGAIN = 1.0, 0.02  # longest wait in seconds for a page run, and between two checks
MAX_SESSIONS = 100  # open at a time, per visitor or per address without a cookie
MAX_REMEMBERED = 10_000  # visitors and addresses
TOO_FAST = "You are asking faster than this server answers one person. Wait a moment, then try again."


class Pace:
    """Limits the rate of requests by the generic cell rate algorithm (ITU-T I.371)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        # For each visitor, the time at which all their requests so far would be done at PER_SECOND.
        self.through_at: TTLCache[str, float] = TTLCache(MAX_REMEMBERED, ADDRESS_SESSIONS / PER_SECOND + MAX_WAIT)
        self.sessions: Counter[str] = Counter()  # open ones

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on after its delay, or answer 429."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        is_session = scope["type"] == "websocket"
        is_question = not is_session and scope["method"] == "POST"
        who = (current_queue() if is_question else CURRENT_VISITOR.get()) or f"at {CURRENT_ADDRESS.get()}"
        wait = self.wait(who, SESSION_COST if is_session else QUESTION_COST if is_question else 1.0)
        if is_session:
            address = f"sessions at {CURRENT_ADDRESS.get()}"
            wait = max(wait, self.wait(address, SESSION_COST, ADDRESS_SESSIONS))
        if wait > MAX_WAIT or (is_session and self.sessions[who] >= MAX_SESSIONS):
            await _refuse(scope, receive, send)
            return
        if wait:
            await asyncio.sleep(wait)
        if is_session:
            await self._hold_session(who, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def wait(self, who: str, cost: float, burst: float | None = None) -> float:
        """Count a request and return its delay in seconds; one with a delay above MAX_WAIT is not counted."""
        now = monotonic()
        through_at = max(self.through_at.get(who, now), now) + cost / PER_SECOND
        wait = max(0.0, through_at - now - (burst or BURST) / PER_SECOND)
        if wait <= MAX_WAIT:
            self.through_at[who] = through_at
        return wait

    async def _hold_session(self, who: str, scope: Scope, receive: Receive, send: Send) -> None:
        ended, until = -1, 0.0  # page runs ended before the last message, and the latest time to wait for its run

        async def paced() -> Message:
            nonlocal ended, until
            message = await receive()
            if message["type"] == "websocket.receive":
                await asyncio.sleep(min(self.wait(f"messages of {who}", MESSAGE_COST, MESSAGE_BURST), MAX_WAIT))
                while runs_ended(who) == ended and monotonic() < until:
                    await asyncio.sleep(LOOK_AGAIN)
                ended, until = runs_ended(who), monotonic() + MAX_RUN_WAIT
            return message

        self.sessions[who] += 1
        try:
            await self.app(scope, paced, send)
        finally:
            self.sessions[who] -= 1
            self.sessions += Counter()  # removes zero counts


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await PlainTextResponse(TOO_FAST, 429, {"Connection": "close"})(scope, receive, send)
    else:
        await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": TOO_FAST})
