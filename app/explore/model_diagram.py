"""The diagram of the open model, as it is changed and for the text that is open."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.state.request import integer_or_zero, parse_question
from app.ui.wire_format import pack
from app.worker.resolved_question import resolve
from model.rendering.model_diagram import model_diagram


def handle_model_diagram(body: dict[str, Any]) -> bytes:
    """The diagram of the model that is asked, as it is changed, with its block as it is in `layer`."""
    resolved = resolve(parse_question(body))
    traced = resolved.trace
    lengths = {"text": len(traced.text.ids), "source": len(traced.source.ids) if traced.source else 0}
    layer = integer_or_zero(body.get("layer", 0))
    return pack(asdict(model_diagram(resolved.model.config, lengths["text"], lengths["source"], layer)))
