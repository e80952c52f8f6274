"""What the Generate page needs to know of the model: examples, and the head that it begins with."""

from __future__ import annotations

from typing import Any

from app.state.request import parse_state
from app.ui.wire_format import pack
from app.worker.examples import prompt_examples
from app.worker.export.pdf import writes_pdf
from app.worker.head_selection import default_head
from app.worker.open_models import find_model


def handle_page(body: dict[str, Any]) -> bytes:
    """Examples, and the head to begin with."""
    state = parse_state(body)
    entry = find_model(state.model)
    return pack(
        {
            "examples": [{"text": one.text, "source": one.source} for one in prompt_examples(entry, state.device)],
            "default_head": default_head(entry, state.device),
            "writes_pdf": writes_pdf(),
        }
    )
