"""The places of rooms that exist: the pages, the screens of the course, and the steps of lessons.

A student's browser says where it is. Only places of this server are kept, so that nobody fills a room with others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from time import monotonic

from headlight_app.contract.reply import decode_reply
from headlight_app.course.contract import ChapterAnswer, ChapterRequest
from headlight_app.engine.client import shared_reply
from headlight_app.frame.main import TITLES
from headlight_app.lesson.contract import LessonsAnswer, LessonsRequest

REFRESH_SECONDS = 10.0  # between two readings because of an unknown place; a teacher may add a lesson at any time


class KnownPlaces:
    """The places, read from a worker when a place is not known yet."""

    def __init__(self) -> None:
        self.places = frozenset(TITLES)
        self.read_at = -REFRESH_SECONDS
        self.reading = asyncio.Lock()

    async def has(self, place: str) -> bool:
        """Whether a place exists; "" is anywhere else. Raises HeadlightError if the places cannot be read now."""
        if not place or place in self.places:
            return True
        async with self.reading:
            if place not in self.places and monotonic() - self.read_at >= REFRESH_SECONDS:
                self.places = await asyncio.to_thread(_read_places)
                self.read_at = monotonic()
        return place in self.places


def _read_places() -> frozenset[str]:
    contents = decode_reply(ChapterAnswer, shared_reply(ChapterRequest())).answer.contents
    lessons = decode_reply(LessonsAnswer, shared_reply(LessonsRequest())).answer.lessons

    def places() -> Iterator[str]:
        for chapter in contents:
            yield f"course/{chapter.name}"
            yield from (f"course/{chapter.name}/{screen.name}" for screen in chapter.screens)
        for lesson in lessons:
            yield f"lesson/{lesson.name}"
            yield from (f"lesson/{lesson.name}/{step}" for step in range(len(lesson.steps)))

    return frozenset(TITLES) | frozenset(places())
