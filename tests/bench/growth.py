"""The memory of a worker in which two visitors type, switch heads and change models.

The worker's own function answers in this process. `python -m tests.bench growth`
"""

import json
from collections.abc import Iterator
from random import Random

import psutil

from headlight_app.engine.job import EngineRequest
from headlight_app.engine.memory import give_back_memory
from headlight_app.inference.prefix_cache import prefix_cache
from headlight_app.inference.trace_cache import trace_cache
from headlight_app.worker.serve import outcome
from tests.app.asking import body
from tests.bench.classroom import STORY

ACTIONS, STEP = 10_000, 1_000
MODELS = ("stories-causal", "induction", "positions-decoder-rope", "entities")
ROUTES = (*["trace"] * 12, "analysis", "walkthrough", "head_metrics", "generate", "layer_numbers", "head_view")
MORE = {"walkthrough": {"attention": "decoder.0.self"}, "analysis": {"analysis": "logit_lens"}}
MAX_CHARACTERS = 150


def lines() -> Iterator[str]:
    """The table, a row after each STEP actions."""
    yield "| actions | memory MB | runs kept MB | prefixes kept MB |"
    yield "|---:|---:|---:|---:|"
    draw, process, typists = Random(0), psutil.Process(), [Typist("anna"), Typist("ben")]
    for action in range(ACTIONS + 1):
        if action % STEP == 0:
            give_back_memory()
            prefixes = sum(entry.prefix.bytes for entry in prefix_cache().entries)
            sizes = (process.memory_info().rss, trace_cache().runs.currsize, prefixes)
            yield f"| {action:,} | " + " | ".join(f"{size / 1e6:.0f}" for size in sizes) + " |"
        draw.choice(typists).act(draw)


class Typist:
    """One visitor: their text, model and edit."""

    def __init__(self, name: str) -> None:
        self.name, self.text, self.model = name, "", MODELS[0]
        self.edits: list[str] = []

    def act(self, draw: Random) -> None:
        """Change something, and send a request about it."""
        chance = draw.random()
        if chance < 0.02:
            self.model = draw.choice(MODELS)
        elif chance < 0.1:
            self.edits = [] if self.edits else [f"decoder.0.self.weights[0]=set:{draw.randrange(5)}"]
        elif chance < 0.15:
            self.text = ""
        else:
            self.text = f"{self.text} {draw.choice(STORY.split())}"[-MAX_CHARACTERS:]
        route = draw.choice(ROUTES)
        more = MORE.get(route, {})
        asked = json.dumps(body(route, model=self.model, text=self.text, edits=self.edits, **more)).encode()
        _, answer = outcome(EngineRequest(route, asked, visitor=self.name))
        assert b"Something went wrong" not in answer[:200], answer[:200]
