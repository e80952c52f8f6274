"""What the Tasks page needs to know of a model besides what Explore does: the attention and the head to begin with."""

from __future__ import annotations

from typing import Any

from cachetools import LRUCache, cached

from app.explore.page_data import page_payload
from app.state.request import parse_state
from app.state.state import Question
from app.tasks.views import TASK_VIEWS
from app.ui.wire_format import pack
from app.worker.examples import opening_examples
from app.worker.head_selection import clearest_alignment
from app.worker.open_models import ModelLocation, find_model, open_model
from app.worker.resolved_question import resolve
from model.attention_groups import AttentionGroup, attention_groups
from model.checkpoints import CatalogEntry
from model.errors import HeadlightError
from model.nn.output_heads import POOLINGS


def handle_page(body: dict[str, Any]) -> bytes:
    """All that the page shows before the first answer."""
    state = parse_state(body)
    entry = find_model(state.model)
    kind = TASK_VIEWS[state.task].attention
    groups = [group for group in attention_groups(entry.config) if (group.kind, group.queries) == (kind, "text")]
    payload = page_payload(state) | {
        "poolings": [{"name": name, "title": pooling.title} for name, pooling in POOLINGS.items()],
        "trained_pooling": entry.config.pooling,
    }
    if not groups:
        return pack(payload)
    try:
        head = _sharpest_head(entry, state.device, open_model(entry.name, state.device)[0], groups[0])
    except (HeadlightError, RuntimeError):  # whoever asks the model next says what is wrong
        head = (0, 0)
    return pack(payload | {"default_attention": groups[0].name, "default_head": head})


@cached(LRUCache(256), key=lambda entry, device, location, group: (location, group))
def _sharpest_head(entry: CatalogEntry, device: str, location: ModelLocation, group: AttentionGroup) -> tuple[int, int]:
    """The head that aligns answer and text most clearly in the model's first example, as the model was trained."""
    example = opening_examples(entry, device)[0]
    return clearest_alignment(resolve(Question(entry.name, example.text, example.source, device=device)).trace, group)
