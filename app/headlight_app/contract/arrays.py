"""Named arrays in one answer: shapes in the header, then their float32 numbers in order."""

from __future__ import annotations

from headlight_app.contract.request import Answer


class ArraysAnswer(Answer, frozen=True, kw_only=True):
    """The shape of each array, in the order of the binary numbers."""

    shapes: dict[str, tuple[int, ...]]
