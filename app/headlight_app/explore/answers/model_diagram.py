"""The diagram of the open model, as it is changed and for the text that is open."""

from __future__ import annotations

import msgspec

from headlight.rendering.model_diagram import model_diagram
from headlight_app.contract.diagram import ModelDiagramAnswer
from headlight_app.contract.reply import Reply
from headlight_app.explore.contract import ModelDiagramRequest
from headlight_app.inference.resolved_question import resolve


def answer_model_diagram(request: ModelDiagramRequest) -> Reply[ModelDiagramAnswer]:
    """The diagram of the model that is asked, as it is changed, with its block as it is in `layer`."""
    resolved = resolve(request.question)
    traced = resolved.trace
    lengths = {"text": len(traced.text.ids), "source": len(traced.source.ids) if traced.source else 0}
    diagram = model_diagram(resolved.model.config, lengths["text"], lengths["source"], request.layer)
    return Reply(msgspec.convert(diagram, ModelDiagramAnswer, from_attributes=True))
