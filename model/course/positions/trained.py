"""Links to the shipped models that were trained with a positional encoding and are else alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model.course.screen import StateFields


def trained_with(model: str) -> Callable[..., StateFields]:
    """A link to such a model, whatever the numbers of a screen are."""

    def link(**inputs: Any) -> StateFields:
        return {"model": model}

    return link
