"""Arrays by name in one answer: their shapes in the header, their float32 numbers one after the other."""

from __future__ import annotations

from headlight_app.contract.request import Answer


class ArraysAnswer(Answer, frozen=True, kw_only=True):
    """The shape of each array, in the order of the numbers."""

    shapes: dict[str, tuple[int, ...]]
