"""What the Compare page needs to know of the models: examples, presets, and the choices for each side."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from app.state.request import parse_state
from app.state.state import pools
from app.ui.wire_format import pack
from app.worker.choices import mask_arguments_payload, variant_choices
from app.worker.examples import opening, opening_examples
from app.worker.export.pdf import writes_pdf
from app.worker.open_models import find_model
from model.analysis.run_comparison import ALIGNMENTS
from model.checkpoints import CatalogEntry
from model.config import Config
from model.nn.positional_encodings import POSITIONAL_ENCODINGS
from model.tasks import Example, task_of


@dataclass(frozen=True)
class Preset:
    """Something worth comparing: its title, the text of side A (None: the present one), and what is different in B."""

    title: str
    text: str | None
    side_b: dict[str, Any] = field(default_factory=dict)


def handle_page(body: dict[str, Any]) -> bytes:
    """All that the page shows at first; `titles` are of the models that the visitor can open, by name.

    `trained_models` names, by positional encoding, the models that were trained with it and are else like the open one.
    """
    state = parse_state(body)
    entry, titles = find_model(state.model), dict(body.get("titles", {}))
    trained_models = dict(body.get("trained_models", {}))
    shown_presets = (*encoding_presets(entry, trained_models), *presets(entry, titles))
    return pack(
        {
            "example": asdict(opening(entry, state, opening_example(entry, state.device))),
            "default_side_b": default_difference(entry.config, trained_models),
            "presets": [{"title": each.title, "text": each.text, "side_b": each.side_b} for each in shown_presets],
            "options": {
                **{field: list(names.items()) for field, (_, names) in variant_choices().items()},
                "alignment": [(name, alignment.title) for name, alignment in ALIGNMENTS.items()],
            },
            "fields": [
                (field, title)
                for field, (title, _) in variant_choices().items()
                if field != "pooling" or pools(entry.config)
            ],
            "mask_arguments": mask_arguments_payload(),
            "has_source": entry.config.reads_source_text,
            "writes_pdf": writes_pdf(),
        }
    )


def opening_example(entry: CatalogEntry, device: str = "auto") -> Example:
    """The example on side A until somebody types: one in which a word is repeated."""
    examples = opening_examples(entry, device)
    return examples[min(3, len(examples) - 1)]


def default_difference(config: Config, trained_models: dict[str, str]) -> dict[str, Any]:
    """What is different in B until somebody chooses: the positional encoding, or the mask where there is none.

    B is a model that was trained with another encoding where there is one; else A's own weights, rewired.
    """
    if trained_models:
        return {"model": trained_models[_other_encoding(trained_models)], "positional_encoding": ""}
    if config.positional_encoding != "none":
        return {"positional_encoding": "none"}
    return {"masks": "none" if config.masks else "causal"}


def _other_encoding(trained_models: dict[str, str]) -> str:
    """The encoding that says most beside another: none, where a model was trained so."""
    return "none" if "none" in trained_models else next(iter(trained_models))


def encoding_presets(entry: CatalogEntry, trained_models: dict[str, str]) -> list[Preset]:
    """The open model beside one that was trained with another positional encoding, which is then rewired as well."""
    if not trained_models:
        return []
    encoding = entry.config.positional_encoding
    other = _other_encoding(trained_models)
    model = trained_models[other]
    own_title, other_title = POSITIONAL_ENCODINGS[encoding].title, POSITIONAL_ENCODINGS[other].title
    return [
        Preset(f"Positions, trained: {own_title} and {other_title}", None, {"model": model, "positional_encoding": ""}),
        Preset(f"{own_title} positions: trained and rewired", None, {"model": model, "positional_encoding": encoding}),
    ]


def presets(entry: CatalogEntry, titles: dict[str, str]) -> list[Preset]:
    """The presets for a model; `titles` are those of the models that are here, by name."""
    config, found_presets = entry.config, []
    last = config.layers - 1
    if config.positional_encoding != "none":
        found_presets.append(Preset("The same weights without positions", None, {"positional_encoding": "none"}))
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
    others = [(name, title) for name, title in titles.items() if name != entry.name]
    return found_presets + [Preset(f"Compared with {title}", None, {"model": name}) for name, title in others[:2]]
