"""Compare: two texts, models, masks or position schemes side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from app.services.examples import opening_examples
from app.services.open_models import available_models, own_models
from app.services.variant_choices import mask_arguments_payload, variant_choices
from app.state.session import apply_report, report_serial
from app.state.state import MAX_ADDRESS_LENGTH, Question, State, variant_fields
from app.state.url import decode_side_b, encode_side_b
from app.ui.component import Component
from model.analysis.run_comparison import ALIGNMENTS
from model.checkpoints import CatalogEntry
from model.config import Config
from model.tasks import Example, task_of

TITLE, ICON, PATH = "Compare", ":material/balance:", "compare"
COMPONENT = Component(
    "compare",
    module="app/compare/frontend/main.js",
    html="app/compare/frontend/compare.html",
    styles=(
        "model/rendering/static/base.css",
        "app/ui/frontend/shared.css",
        "app/compare/frontend/compare.css",
        "app/ui/frontend/presenter.css",
    ),
)
QUESTION_FIELDS = ("model", "masks", "positional_encoding", "attention_function", "scale", "device")
STATE_FIELDS = ("masked_positions", "edits", "attention", "layer", "head", "query")


@dataclass(frozen=True)
class Preset:
    """Something worth comparing: its title, what the first side reads (None: what it reads now), and the difference."""

    title: str
    text: str | None
    side_b: dict[str, Any] = field(default_factory=dict)


def show(state: State, entry: CatalogEntry) -> None:
    """The page."""
    example = opening_example(entry, state.device)
    question = state.question(example.text, example.source)
    default_side_b = default_difference(entry.config)
    side_b = decode_side_b(state.side_b)
    data = _component_data(state, entry, question, default_side_b if side_b is None else side_b) | {
        "presenter": state.presenter
    }
    COMPONENT.mount(data, partial(_on_component_change, default_side_b, example))
    if len(state.side_b) > MAX_ADDRESS_LENGTH:
        st.info(
            "The second text is too long for an address: a copied link does not carry it.", icon=":material/link_off:"
        )


def opening_example(entry: CatalogEntry, device: str = "auto") -> Example:
    """What the first side reads when nobody has typed: a sentence in which a word comes twice."""
    examples = opening_examples(entry, device)
    return examples[min(3, len(examples) - 1)]


def default_difference(config: Config) -> dict[str, Any]:
    """A difference to begin with: the same model without its positions, or seeing otherwise where it has none."""
    if config.positional_encoding != "none":
        return {"positional_encoding": "none"}
    return {"masks": "none" if config.masks else "causal"}


def presets(entry: CatalogEntry, names: list[str]) -> list[Preset]:
    """What is offered for a model."""
    config, found_presets = entry.config, []
    last = config.layers - 1
    if config.positional_encoding != "none":
        found_presets.append(Preset("With and without positions", None, {"positional_encoding": "none"}))
    masks = "none" if "causal" in config.masks else "causal"
    found_presets.append(Preset("Looking back, or both ways", None, {"masks": masks}))
    found_presets.append(Preset("Scores divided by √d, or not", None, {"scale": "off" if config.scale else "on"}))
    if config.layers:
        zeroed_heads = tuple(f"{config.stacks[-1]}.{last}.self.weights[{head}]=set:0" for head in range(config.heads))
        found_presets.append(Preset("Without the last layer's heads", None, {"edits": zeroed_heads}))
    if task_of(config).fills_masks:
        found_presets.append(
            Preset("Milk or letter", "The [MASK] drank the milk.", {"text": "The [MASK] read the letter."})
        )
    elif not config.has_cross_attention:
        found_presets.append(
            Preset(
                "Too tired, or too wide",
                "The dog did not cross the road because it was too tired",
                {
                    "text": "The dog did not cross the road because it was too wide",
                },
            )
        )
        found_presets.append(
            Preset("Who bit whom", "The dog bit the man and he", {"text": "The man bit the dog and he"})
        )
    others = [name for name in names if name != entry.name]
    return found_presets + [Preset(f"Beside {name}", None, {"model": name}) for name in others[:2]]


def _component_data(state: State, entry: CatalogEntry, question: Question, side_b: dict[str, Any]) -> dict[str, Any]:
    """What the component needs to know from Streamlit."""
    fields_of_question, entries = asdict(question), available_models()
    choice = {name: getattr(state, name) for name in STATE_FIELDS} | {"text": question.text, "source": question.source}
    base = st.get_option("server.baseUrlPath").strip("/")
    titles = {card.name: f"{card.title} (yours)" for card in own_models()}
    offered = presets(entry, [each.name for each in entries])
    return {
        "api": f"/{base}/api" if base else "/api",
        "state": _with_lists(choice),
        "side_b": _with_lists(side_b),
        "settings": {name: fields_of_question[name] for name in QUESTION_FIELDS},
        "presets": [{"title": each.title, "text": each.text, "side_b": _with_lists(each.side_b)} for each in offered],
        "models": [
            {
                "name": each.name,
                "title": titles.get(each.name, each.name),
                "trained": variant_fields(each.config) | {"has_source": each.config.has_cross_attention},
            }
            for each in entries
        ],
        "options": {
            **{field: list(names.items()) for field, (_, names) in variant_choices().items()},
            "alignment": [(name, alignment.title) for name, alignment in ALIGNMENTS.items()],
        },
        "fields": [(field, title) for field, (title, _) in variant_choices().items()],
        "mask_arguments": mask_arguments_payload(),
        "has_source": entry.config.has_cross_attention,
        "serial": report_serial(),
    }


def _with_lists(values: dict[str, Any]) -> dict[str, Any]:
    return {name: list(item) if isinstance(item, tuple) else item for name, item in values.items()}


def _on_component_change(default_side_b: dict[str, Any], example: Example) -> None:
    """Take over what the component reported; a difference that nobody touched stays unsaid."""
    report = COMPONENT.reported()
    side_b = {name: tuple(item) if isinstance(item, list) else item for name, item in report.pop("side_b").items()}
    apply_report(
        report | {"side_b": encode_side_b(side_b) if side_b != default_side_b else ""}, example.text, example.source
    )
