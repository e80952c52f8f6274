"""What Generate shows of any text, as facts: the answers of a live page need only the numbers (answers/types.ts)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import msgspec

from headlight.checkpoints import Checkpoint
from headlight.generation.rules import end_tokens
from headlight.tasks import task_of
from headlight.views.encoding import plain, plain_rows
from headlight.views.rows import row
from headlight_app.contract.sampling import Sampling
from headlight_app.generate.answers.next_token import CANDIDATES, GREEDY, MAX_CANDIDATES, RANDOM_NUMBER, SERIES


def generation_facts(checkpoint: Checkpoint) -> dict[str, Any] | None:
    """The rules of a model that writes, and its rows and views without their numbers; None for another."""
    config, task = checkpoint.model.config, task_of(checkpoint.model.config)
    if not task.generates:
        return None
    (empty,) = plain_rows([row()], with_tables=True)
    return {
        "rules": asdict(config.generation),
        "end_tokens": list(end_tokens(config, checkpoint.tokenizer)) if task.continues_text else [],
        "sampling": msgspec.to_builtins(Sampling()),
        "candidates": MAX_CANDIDATES,
        "series": list(SERIES),
        "greedy": GREEDY,
        "row": empty,
        "bars": plain(CANDIDATES),
        "strips": plain(RANDOM_NUMBER),
    }
