"""A model's replaceable parts as trained, and choices and questions reduced to what the model can use."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from headlight.config import Config
from headlight.tasks import task_of
from headlight_app.contract.question import UNCHANGED, Question, Variant
from headlight_app.contract.state import State


def trained_variant(config: Config) -> Variant:
    """A model's parts as trained, as a Variant."""
    return Variant(
        masks="+".join(config.masks) or "none",
        positional_encoding=config.positional_encoding,
        attention_function=config.attention_function,
        scale="on" if config.attention.scale else "off",
        pooling=config.pooling,
    )


def pools(config: Config) -> bool:
    """Whether a model pools all tokens into one vector, so that its pooling can be replaced."""
    return task_of(config).whole_text


def reads_pair(config: Config) -> bool:
    """Whether a model is made for pairs of texts: it has segments, or answers with labels."""
    reads_text = config.reads_source_text if config.has_cross_attention else config.reads_text
    task = task_of(config)
    return reads_text and (
        task.whole_text or (not config.has_cross_attention and (task.predicts_labels or config.embedding.segments > 1))
    )


def normalized_state(state: State, config: Config) -> State:
    """The same choices for a model: a part chosen as trained counts as not chosen."""
    trained = msgspec.structs.asdict(trained_variant(config))
    unchanged = {name: UNCHANGED for name, part in trained.items() if getattr(state.variant, name) == part}
    if not pools(config):
        unchanged["pooling"] = UNCHANGED
    # The last patch of a picture is no better than any other; the class token summarizes the picture.
    query = 0 if config.predicts_from_image and state.query < 0 else state.query
    return replace(state, variant=replace(state.variant, **unchanged), query=query)


def readable_question(question: Question, config: Config, reads_chat: bool = False) -> Question:
    """The question without inputs that the model does not read, so that no cache key contains them."""
    chat = question.chat if reads_chat and config.reads_text else ""
    variant = question.variant if pools(config) else replace(question.variant, pooling=UNCHANGED)
    return replace(
        question,
        text=question.text if config.reads_text else "",
        source=question.source if config.reads_source_text else "",
        text_pair=question.text_pair if reads_pair(config) and not chat else "",
        chat=chat,
        image=question.image if config.reads_signal else "",
        variant=variant,
        patch_from=question.patch_from if question.is_patched else "",
    )
