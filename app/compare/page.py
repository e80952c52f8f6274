"""The Compare page: two texts, models, masks or positional encodings side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from app.services.examples import opening_examples
from app.services.open_models import available_models, own_titles
from app.services.variant_choices import mask_arguments_payload, variant_choices
from app.state.session import apply_report, report_serial
from app.state.state import AS_TRAINED, MAX_ADDRESS_LENGTH, Question, State, variant_fields
from app.state.url import decode_side_b, encode_side_b
from app.ui.component import Component, api_address, shared_styles
from model.analysis.run_comparison import ALIGNMENTS
from model.checkpoints import CatalogEntry
from model.config import Config
from model.tasks import Example, task_of

TITLE, ICON, PATH = "Compare", ":material/balance:", "compare"
COMPONENT = Component(
    "compare",
    module="app/compare/frontend/main.js",
    html="app/compare/frontend/compare.html",
    styles=shared_styles("app/compare/frontend/compare.css"),
)
QUESTION_FIELDS = ("model", *AS_TRAINED, "device")
STATE_FIELDS = ("masked_positions", "edits", "attention", "layer", "head", "query")


@dataclass(frozen=True)
class Preset:
    """Something worth comparing: its title, the text of side A (None: the present one), and what is different in B."""

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
        st.info("Text B is too long for an address; a copied link leaves it out.", icon=":material/link_off:")


def opening_example(entry: CatalogEntry, device: str = "auto") -> Example:
    """The example on side A until somebody types: one in which a word is repeated."""
    examples = opening_examples(entry, device)
    return examples[min(3, len(examples) - 1)]


def default_difference(config: Config) -> dict[str, Any]:
    """What is different in B until somebody chooses: no positional encoding, or another mask where there is none."""
    if config.positional_encoding != "none":
        return {"positional_encoding": "none"}
    return {"masks": "none" if config.masks else "causal"}


def presets(entry: CatalogEntry, names: list[str]) -> list[Preset]:
    """The presets for a model; `names` are those of the models that are here."""
    config, found_presets = entry.config, []
    last = config.layers - 1
    if config.positional_encoding != "none":
        found_presets.append(Preset("With and without positions", None, {"positional_encoding": "none"}))
    masks = "none" if "causal" in config.masks else "causal"
    found_presets.append(Preset("Causal or bidirectional", None, {"masks": masks}))
    found_presets.append(Preset("With and without the 1/√d scale", None, {"scale": "off" if config.scale else "on"}))
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
                "Too tired or too wide",
                "The dog did not cross the road because it was too tired",
                {"text": "The dog did not cross the road because it was too wide"},
            )
        )
        found_presets.append(
            Preset("Who bit whom", "The dog bit the man and he", {"text": "The man bit the dog and he"})
        )
    others = [name for name in names if name != entry.name]
    return found_presets + [Preset(f"Compared with {name}", None, {"model": name}) for name in others[:2]]


def _component_data(state: State, entry: CatalogEntry, question: Question, side_b: dict[str, Any]) -> dict[str, Any]:
    """The component's data."""
    fields_of_question, entries = asdict(question), available_models()
    choice = {name: getattr(state, name) for name in STATE_FIELDS} | {"text": question.text, "source": question.source}
    titles = own_titles()
    offered = presets(entry, [each.name for each in entries])
    return {
        "api": api_address(),
        "state": choice,
        "side_b": side_b,
        "settings": {name: fields_of_question[name] for name in QUESTION_FIELDS},
        "presets": [{"title": each.title, "text": each.text, "side_b": each.side_b} for each in offered],
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


def _on_component_change(default_side_b: dict[str, Any], example: Example) -> None:
    """Take over what the component reported; the default difference is not written to the URL."""
    report = COMPONENT.reported()
    side_b = {name: tuple(item) if isinstance(item, list) else item for name, item in report.pop("side_b").items()}
    apply_report(
        report | {"side_b": encode_side_b(side_b) if side_b != default_side_b else ""}, example.text, example.source
    )
