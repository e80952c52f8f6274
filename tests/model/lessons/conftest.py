"""Shipped models, each opened once, and a lesson to change."""

from collections.abc import Callable
from functools import lru_cache

import pytest

from headlight import find_checkpoint, load
from headlight.checkpoints.load import Checkpoint

LESSON = """---
title: A short lesson
minutes: 5
version: 3
model: {model}
text: the cat sat on the mat
text: a small bird sang in the tree
let: L = place(metric("previous"), "layer")
---

What it is about.

## One step

Some words on {{tokens():.0f}} tokens.

- view: explore?tab=heads&layer={{L}}
- ask: number weights(L, 1)[-1, 0]
- question: How large is the weight of the last token on the first?
- mistake: weights(L, 1)[-1, 1] => That is the second cell.
- hint: It is a cell
  of the last row.
- hint: It is the first cell there.
- because: It is {{weights(L, 1)[-1, 0]:.2f}}.
- note: Nobody but the teacher reads this.
"""


@lru_cache(maxsize=8)
def open_shipped(name: str) -> Checkpoint:
    """Open a shipped model by name."""
    return load(find_checkpoint(name), name=name)


@pytest.fixture
def opened() -> Callable[[str], Checkpoint]:
    return open_shipped


@pytest.fixture
def text() -> str:
    """A valid lesson."""
    return LESSON.format(model="ladder-7-depth")
