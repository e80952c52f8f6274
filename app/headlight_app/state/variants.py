"""A model's replaceable parts as trained, and choices and questions reduced to what the model can use."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from headlight.config import Config
from headlight.tasks import task_of
from headlight_app.contract.parts import PartChoices, VariantChoices
from headlight_app.contract.question import UNCHANGED, Question, Variant
from headlight_app.contract.state import State, Values

# The parts that Explore and Tasks show beside the text, with short titles.
IN_SIGHT = {"masks": "Mask", "positional_encoding": "Positions"}


def trained_variant(config: Config) -> Variant:
    """A model's parts as trained, as a Variant."""
    return Variant(
        masks="+".join(config.masks) or "none",
        positional_encoding=config.positional_encoding,
        attention_function=config.attention_function,
        scale="on" if config.attention.scale else "off",
        pooling=config.pooling,
    )


def variant_parts(
    choices: VariantChoices,
    variant: Variant,
    trained: Config,
    trained_models: Mapping[str, str],
    titles: Mapping[str, str],
) -> Values:
    """The lists of the fields that have `titles`, for the browser: the part that the model was trained with is first.

    `trained_models` maps a positional encoding to the model trained with it that differs in nothing else.
    """
    parts: dict[str, str] = msgspec.structs.asdict(trained_variant(trained))
    return {
        "fields": [
            {
                "field": field,
                "title": titles[field],
                "trained": choice.names.get(parts[field], parts[field]),
                "options": [*_options(parts[field], choice.names), *_linked_mask(choices, variant, field, choice)],
            }
            for field, choice in choices.parts.items()
            if field in titles and (field != "pooling" or pools(trained))
        ],
        "trained_models": dict(trained_models),
        "trained_masks": parts["masks"],
        "mask_arguments": msgspec.to_builtins(choices.mask_arguments),
    }


def _options(trained: str, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """The choice that a model was trained with, then all others."""
    return [
        (UNCHANGED, f"{names.get(trained, trained)} · as trained"),
        *((name, names[name]) for name in names if name != trained),
    ]


def _linked_mask(choices: VariantChoices, variant: Variant, field: str, choice: PartChoices) -> list[tuple[str, str]]:
    """The mask of a link that the list does not offer: an explicit matrix."""
    kind, titles = variant.masks.partition(":")[0], choices.unlisted_masks
    return [(kind, titles[kind])] if field == "masks" and kind in titles and kind not in choice.names else []


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
