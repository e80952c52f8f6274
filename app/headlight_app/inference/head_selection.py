"""The chosen head, and the head shown first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from cachetools import LRUCache, cached

from headlight.analysis.head_metrics import head_metrics, sharpest_head, strongest_local_head
from headlight.attention_groups import AttentionGroup, attention_groups
from headlight.checkpoints import CatalogEntry
from headlight.checkpoints.catalog import card_head, card_tour
from headlight.checkpoints.load import read_card
from headlight.config import Config
from headlight.errors import EditError, HeadlightError
from headlight.text.tokenizer import Encoded
from headlight.tracing.trace import Trace
from headlight_app.contract.question import Question
from headlight_app.contract.state import HeadChoice
from headlight_app.inference.attention_payload import metrics_are_cheap
from headlight_app.inference.examples import opening_examples
from headlight_app.inference.open_models import ModelLocation, open_model
from headlight_app.inference.resolved_question import resolve

_ZOOM = re.compile(r"(\d{1,9})-(\d{1,9})/(\d{1,9})-(\d{1,9})")

NamedHead = tuple[AttentionGroup, int, int]  # with its layer and its number


def tour_of(entry: CatalogEntry) -> tuple[tuple[NamedHead, ...], int]:
    """The heads that a card names for the tour, of attentions whose queries are the text, and the answer's position.

    The position is -1 if it is the predicted one. `python -m tests.bench tour` finds the heads of a shipped model.
    """
    named, position = card_tour(read_card(entry.folder))
    return tuple(each for each in _heads_named(entry.config, named) if each[0].queries == "text"), position


def _heads_named(config: Config, named: Iterable[tuple[str, int]]) -> list[NamedHead]:
    """The heads of these attentions and numbers, as far as the model has them."""
    paths = {group.path(layer): (group, layer) for group in attention_groups(config) for layer in range(group.layers)}
    heads = [(*paths[path], head) for path, head in named if path in paths]
    return [each for each in heads if each[2] < each[0].heads]


def opening_head(entry: CatalogEntry, device: str = "auto") -> tuple[int, int]:
    """The head that Explore shows until something is typed: the first of the tour if its attention is shown first.

    Else it is the default head.
    """
    shown = [group for group in attention_groups(entry.config)[:1] if not group.aligned]
    of_tour = (named[1:] for named in tour_of(entry)[0] if named[0] in shown)
    return next(of_tour, None) or default_head(entry, device)


def default_head(entry: CatalogEntry, device: str = "auto") -> tuple[int, int]:
    """The head that pages show first: the one with the clearest pattern in the model's first example, as trained.

    It depends only on the model, so that a URL without a head always shows the same one.
    """
    try:
        return _plainest_head(entry, device, open_model(entry.name, device)[0])
    except (HeadlightError, RuntimeError):  # such as a full device; the next question reports it to the visitor
        return 0, 0


@cached(LRUCache(256), key=lambda entry, device, location: location)
def _plainest_head(entry: CatalogEntry, device: str, location: ModelLocation) -> tuple[int, int]:
    """The one that the card names, or the checkpoint's first aligned head; the first if the search takes long."""
    if named := _named_head(entry):
        return named
    if aligned := selected_attention(entry.config).aligned:
        return aligned[0]
    example = opening_examples(entry, device)[0]
    resolved = resolve(Question(model=entry.name, text=example.text, source=example.source, device=device))
    attention_group, traced = selected_attention(resolved.config), resolved.trace
    if attention_group.kind == "cross":
        return clearest_alignment(traced, attention_group)
    metrics = (
        head_metrics(traced, attention_group.stack, attention_group.kind)
        if metrics_are_cheap(traced, attention_group)
        else {}
    )
    return strongest_local_head(metrics)


def _named_head(entry: CatalogEntry) -> tuple[int, int] | None:
    """The head that a card names, if the attention shown first has it."""
    named = card_head(read_card(entry.folder))
    heads = _heads_named(entry.config, [named] if named else ())
    return next((each[1:] for each in heads if each[0] == selected_attention(entry.config)), None)


def clearest_alignment(traced: Trace, attention_group: AttentionGroup) -> tuple[int, int]:
    """The head of an attention group that aligns queries and keys most clearly; the first if that takes long."""
    if not metrics_are_cheap(traced, attention_group):
        return 0, 0
    weights = np.stack([traced[f"{attention_group.path(layer)}.weights"] for layer in range(attention_group.layers)])
    return sharpest_head(weights, encoded_text(traced, attention_group.keys).special_mask)


def selected_attention(config: Config, name: str = "") -> AttentionGroup:
    """The attention group with a name ("decoder.self"), or the first one. Raises EditError if there is none."""
    attentions = attention_groups(config)
    if not attentions:
        raise EditError("This model has no layers, so there is no attention to show.")
    return next((group for group in attentions if group.name == name), attentions[0])


def encoded_text(traced: Trace, which: str) -> Encoded:
    """The tokens of an attention group's side "text" or "source"."""
    return traced.source if which == "source" and traced.source is not None else traced.text


def zoom_ranges(choice: HeadChoice, queries: Encoded, keys: Encoded) -> tuple[range, range]:
    """The queries and keys in the zoomed part of a map.

    All of them without a valid zoom; for a sound, without the frames of trailing silence.
    """
    everything = range(queries.read_count), range(keys.read_count)
    match = _ZOOM.fullmatch(choice.zoom)
    if not match:
        return everything
    numbers = [int(number) for number in match.groups()]
    ranges = (range(numbers[0], min(numbers[1], len(queries.ids))), range(numbers[2], min(numbers[3], len(keys.ids))))
    return ranges if all(ranges) else everything


def describe_zoom(queries: range, keys: range, lengths: Sequence[int]) -> tuple[str, ...]:
    """The zoomed part of a text in words; empty if all of it is shown."""
    if [len(queries), len(keys)] == list(lengths):
        return ()
    return (f"queries {queries.start} to {queries.stop - 1}, keys {keys.start} to {keys.stop - 1}",)


def parse_head(label: str, attention_group: AttentionGroup) -> tuple[int, int] | None:
    """ "2.3" as layer 2, head 3; None if the attention group has no such head."""
    layer, _, head = label.partition(".")
    if not (layer.isdecimal() and head.isdecimal() and len(label) < 12):
        return None
    return (
        (int(layer), int(head)) if int(layer) < attention_group.layers and int(head) < attention_group.heads else None
    )


def selected_heads(choice: HeadChoice, attention_group: AttentionGroup) -> list[tuple[int, int]]:
    """The selected heads, or the chosen one if none are selected."""
    selected = [head for name in dict.fromkeys(choice.heads) if (head := parse_head(name, attention_group))]
    return selected or [selected_head(choice, attention_group)]


def selected_head(choice: HeadChoice, attention_group: AttentionGroup) -> tuple[int, int]:
    """The chosen head, or the nearest one that the attention group has."""
    return min(max(choice.layer, 0), attention_group.layers - 1), min(max(choice.head, 0), attention_group.heads - 1)
