"""The provenance of an exported file: its question, and the model variant."""

from __future__ import annotations

from collections.abc import Sequence

from headlight.rendering.provenance import Provenance, model_provenance
from headlight.text.tokenizer import sanitize_surrogates
from headlight.vision.shipped_images import shipped_image_names
from headlight_app.contract.question import OWN_IMAGE_PREFIX
from headlight_app.inference.open_models import model_title
from headlight_app.inference.resolved_question import ResolvedQuestion


def question_provenance(
    resolved: ResolvedQuestion, shown: str, heads: Sequence[tuple[int, int]] = (), attention_group: str = ""
) -> Provenance:
    """The provenance fields of a file about a question; `shown` describes its content. Runs no model."""
    question, config = resolved.question, resolved.config
    file = question.image
    if config.reads_signal:
        own = file.startswith(OWN_IMAGE_PREFIX)
        file = "your file" if own else file or shipped_image_names(config)[0]
    return model_provenance(
        resolved.config,
        resolved.model.origin,
        model=model_title(question.model),
        text=sanitize_surrogates(question.text),
        chat=question.chat,
        text_pair=sanitize_surrogates(question.text_pair),
        source=sanitize_surrogates(question.source),
        image=file if config.reads_image else "",
        audio=file if config.reads_sound else "",
        masked_positions=list(question.masked_positions),
        edits=list(question.edits),
        patch_from=sanitize_surrogates(question.patch_from) if resolved.patched_from else "",
        attention_group=attention_group,
        heads=[list(head) for head in heads],
        shown=shown,
    )
