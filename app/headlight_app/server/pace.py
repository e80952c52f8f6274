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

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headlight_app.access.page_turns import runs_ended
from headlight_app.access.visitor import CURRENT_ADDRESS, CURRENT_VISITOR, current_queue
from headlight_app.server.hosts import POLICY_VIOLATION
from headlight_app.server.rate import MAX_WAIT, Rate

PER_SECOND, AT_ONCE = 50.0, 600.0  # requests; opening a page sends about 120 at once
SESSION_COST = 10.0  # requests that a page session counts as
QUESTION_COST = 4.0  # requests that a question counts as: 150 at once, then 12 per second, is more than a person sends
SESSIONS_PER_SECOND, SESSIONS_AT_ONCE = 5.0, 400.0  # of an address
MESSAGES_PER_SECOND, MESSAGES_AT_ONCE = 2.0, 5.0  # WebSocket messages of a visitor, each of which starts a page run
MAX_RUN_WAIT, LOOK_AGAIN = 1.0, 0.02  # longest wait in seconds for a page run, and between two checks
MAX_SESSIONS = 100  # open at a time, per visitor or per address without a cookie
TOO_FAST = "You are asking faster than this server answers one person. Wait a moment, then try again."


class Pace:
    """Limits the rates of requests, sessions and messages."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.requests = Rate(PER_SECOND, AT_ONCE)
        self.new_sessions = Rate(SESSIONS_PER_SECOND, SESSIONS_AT_ONCE)
        self.messages = Rate(MESSAGES_PER_SECOND, MESSAGES_AT_ONCE)
        self.sessions: Counter[str] = Counter()  # open ones

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on after its delay, or answer 429."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        is_session = scope["type"] == "websocket"
        is_question = not is_session and scope["method"] == "POST"
        who = (current_queue() if is_question else CURRENT_VISITOR.get()) or f"at {CURRENT_ADDRESS.get()}"
        wait = self.requests.wait(who, SESSION_COST if is_session else QUESTION_COST if is_question else 1.0)
        if is_session:
            wait = max(wait, self.new_sessions.wait(CURRENT_ADDRESS.get()))
        if wait > MAX_WAIT or (is_session and self.sessions[who] >= MAX_SESSIONS):
            await _refuse(scope, receive, send)
            return
        if wait:
            await asyncio.sleep(wait)
        if is_session:
            await self._hold_session(who, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _hold_session(self, who: str, scope: Scope, receive: Receive, send: Send) -> None:
        ended, until = -1, 0.0  # page runs ended before the last message, and the latest time to wait for its run

        async def paced() -> Message:
            nonlocal ended, until
            message = await receive()
            if message["type"] == "websocket.receive":
                await asyncio.sleep(min(self.messages.wait(who), MAX_WAIT))
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
