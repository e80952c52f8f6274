"""The Compare page before its first answer: examples, presets, and the choices for each side."""

from __future__ import annotations

from dataclasses import asdict

from msgspec import UNSET, UnsetType

from headlight.analysis.run_comparison import ALIGNMENTS
from headlight.checkpoints import CatalogEntry
from headlight.config import Config
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.tasks import Example, task_of
from headlight_app.compare.contract import ComparePageAnswer, ComparePageRequest, Preset
from headlight_app.contract.difference import Difference, VariantDifference
from headlight_app.contract.parts import ExampleAnswer, PartChoices
from headlight_app.contract.reply import Reply
from headlight_app.inference.choices import mask_argument_rows, variant_choices
from headlight_app.inference.examples import opening, opening_examples
from headlight_app.inference.open_models import find_model
from headlight_app.inference.resolved_question import has_chat
from headlight_app.state.variants import pools


def answer_compare_page(request: ComparePageRequest) -> Reply[ComparePageAnswer]:
    """Everything that the page shows before the first answer."""
    entry, trained_models = find_model(request.model), dict(request.trained_models)
    example = opening(entry, request, opening_example(entry, request.device))
    answer = ComparePageAnswer(
        reads_chat=has_chat(entry, request.device),
        example=ExampleAnswer(**asdict(example)),
        default_side_b=default_difference(entry.config, trained_models),
        presets=(*encoding_presets(entry, trained_models), *presets(entry), *_other_models(request)),
        parts={
            field: PartChoices(title=title, names=names)
            for field, (title, names) in variant_choices().items()
            if field != "pooling" or pools(entry.config)
        },
        alignments={name: alignment.title for name, alignment in ALIGNMENTS.items()},
        mask_arguments=mask_argument_rows(),
    )
    return Reply(answer)


def opening_example(entry: CatalogEntry, device: str = "auto") -> Example:
    """The example on side A until the visitor types: one with a repeated word."""
    examples = opening_examples(entry, device)
    return examples[min(3, len(examples) - 1)]


def default_difference(config: Config, trained_models: dict[str, str]) -> Difference:
    """The difference of B until the visitor chooses one: the positional encoding, or the mask if there is none.

    B is a model trained with another encoding if one exists; else A's own weights, rewired.
    """
    if trained_models:
        return _with_encoding("", trained_models[_other_encoding(trained_models)])
    if config.positional_encoding != "none":
        return _with_encoding("none")
    return _rewired(masks="none" if config.masks else "causal")


def _rewired(**parts: str) -> Difference:
    """B has other parts than A."""
    return Difference(variant=VariantDifference(**parts))


def _with_encoding(encoding: str, model: str | UnsetType = UNSET) -> Difference:
    """B has another positional encoding than A, perhaps in another model."""
    return Difference(model=model, variant=VariantDifference(positional_encoding=encoding))


def _other_encoding(trained_models: dict[str, str]) -> str:
    """The most instructive other encoding: "none" if a model was trained so, else the first."""
    return "none" if "none" in trained_models else next(iter(trained_models))


def encoding_presets(entry: CatalogEntry, trained_models: dict[str, str]) -> list[Preset]:
    """The open model beside a model trained with another positional encoding, and the same with that model rewired."""
    if not trained_models:
        return []
    encoding = entry.config.positional_encoding
    other = _other_encoding(trained_models)
    model = trained_models[other]
    own_title, other_title = POSITIONAL_ENCODINGS[encoding].title, POSITIONAL_ENCODINGS[other].title
    return [
        Preset(title=f"Positions, trained: {own_title} and {other_title}", side_b=_with_encoding("", model)),
        Preset(title=f"{own_title} positions: trained and rewired", side_b=_with_encoding(encoding, model)),
    ]


def presets(entry: CatalogEntry) -> list[Preset]:
    """The comparisons that suit a model."""
    config = entry.config
    found = [
        Preset(
            title="Causal or bidirectional", side_b=_rewired(masks="none" if "causal" in config.masks else "causal")
        ),
        Preset(
            title="With and without the 1/√d scale", side_b=_rewired(scale="off" if config.attention.scale else "on")
        ),
    ]
    if config.positional_encoding != "none":
        found.insert(0, Preset(title="The same weights without positions", side_b=_with_encoding("none")))
    if config.layers:
        last = f"{config.stacks[-1]}.{config.layers - 1}.self.weights"
        zeroed_heads = tuple(f"{last}[{head}]=set:0" for head in range(config.heads))
        found.append(Preset(title="Without the last layer's heads", side_b=Difference(edits=zeroed_heads)))
    if task_of(config).fills_masks:
        tired, wide = (f"The dog did not cross the road because it was too {word}." for word in ("tired", "wide"))
        milk, letter = "The [MASK] drank the milk.", "The [MASK] read the letter."
        # The last word can change the attention of "it" only in a bidirectional model.
        return [
            *found,
            _texts_preset("Too tired or too wide", tired, wide),
            _texts_preset("Milk or letter", milk, letter),
        ]
    if config.has_cross_attention:
        return found
    return [*found, _texts_preset("Who bit whom", "The dog bit the man and he", "The man bit the dog and he")]


def _texts_preset(title: str, text: str, other: str) -> Preset:
    return Preset(title=title, text=text, side_b=Difference(text=other))


def _other_models(request: ComparePageRequest) -> list[Preset]:
    """The open model beside each of the others."""
    return [Preset(title=f"Compared with {title}", side_b=Difference(model=name)) for name, title in request.others]
