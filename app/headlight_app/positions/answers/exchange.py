"""A few words and the same with two of them exchanged: whether the model's attention notices their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from msgspec import structs

from headlight.array_types import Float
from headlight.attention_groups import AttentionGroup, attention_groups
from headlight.errors import HeadlightError
from headlight.nn.transformer import variant
from headlight.text.tokenizer import Encoded
from headlight.views.forms import weights_matrix
from headlight.views.kinds import InputView, MatrixView
from headlight.views.rows import Row
from headlight.views.words import in_line, quoted, three_digits
from headlight_app.inference.examples import examples_for
from headlight_app.inference.open_models import find_model
from headlight_app.inference.resolved_question import ResolvedQuestion

WORDS = "dog bites man"
EXAMPLE_WORDS, MOST_WORDS = 4, 12
MOST_TOKENS = 24  # a table of more numbers is too wide
EQUAL = 1e-5  # what rounding leaves of two equal weights
TITLE = "The same words in another order"
ABOUT = "Type words of your own: the first and the last are exchanged. Below are the weights in both orders."


@dataclass(frozen=True)
class Exchange:
    """The weights of every head with the words in two orders, [layer head query key].

    `after` is in the order of the tokens `before`: the cells of both are about the same two tokens.
    """

    tokens: tuple[str, ...]
    are_words: tuple[bool, ...]  # not special tokens
    before: Float[np.ndarray, "layer head query key"]
    after: Float[np.ndarray, "layer head query key"]
    places: tuple[int, ...]  # of the tokens in the other order

    @property
    def largest_change(self) -> float:
        """The largest change of a weight of any head."""
        return float(np.abs(self.after - self.before).max())

    @property
    def most_changed(self) -> tuple[int, int, int, int]:
        """The layer, head, query and key of the largest change of a weight between words."""
        words = np.outer(self.are_words, self.are_words)
        changes = np.where(words, np.abs(self.after - self.before), 0.0)
        layer, head, query, key = map(int, np.unravel_index(changes.argmax(), changes.shape))
        return layer, head, query, key


def exchange_rows(resolved: ResolvedQuestion, stack: str, typed: str) -> Iterator[Row]:
    """The words, and the weights in both orders: of the model as it is, and without what tells it their order."""
    group = next((each for each in attention_groups(resolved.config) if each.name == f"{stack}.self"), None)
    if group is None or resolved.config.reads_signal:
        return
    text = typed.strip() or example_words(resolved)
    yield Row((InputView("Your words", "order_text", typed or text, live=True),), title=TITLE, text=ABOUT)
    try:
        orders = exchanged(text)
        yield from _compared(resolved, group, orders)
    except HeadlightError as error:
        yield Row(text=str(error))


def exchanged(text: str) -> tuple[str, str]:
    """A text, and the same with its first and its last word exchanged. Raises HeadlightError."""
    words = text.split()
    if not 2 <= len(words) <= MOST_WORDS or words[0] == words[-1]:
        raise HeadlightError(f"Type from 2 to {MOST_WORDS} words, of which the first and the last differ.")
    return " ".join(words), " ".join((words[-1], *words[1:-1], words[0]))


def example_words(resolved: ResolvedQuestion) -> str:
    """Words of three that make two sentences, or for a model that does not know them, those of its own example."""
    try:
        read = resolved.tokenizer.encode(WORDS)
        if resolved.tokenizer.unknown_id not in read.ids and not all(read.special_mask):
            return WORDS
    except HeadlightError:  # it has no tokens for these letters
        pass
    example = examples_for(find_model(resolved.question.model))[0]
    return " ".join((example.source or example.text).split()[:EXAMPLE_WORDS])


def _compared(resolved: ResolvedQuestion, group: AttentionGroup, orders: tuple[str, str]) -> Iterator[Row]:
    """The model as it is, and without what tells it the order."""
    config = resolved.config.for_stack(group.stack)
    positions = {*config.per_layer.positional_encodings, config.positional_encoding} != {"none"}
    masks = bool(config.masks or any(config.per_layer.masks))
    told = " and ".join([*(["positions"] if positions else []), *(["mask"] if masks else [])])
    as_it_is = run_exchange(resolved, group, orders)
    if as_it_is is None:
        yield Row(text="Exchanged, these words are cut into other tokens, so their weights cannot be set side by side.")
        return
    layer, head, *_ = as_it_is.most_changed
    yield Row(
        _matrices(as_it_is, layer, head),
        title=f"With {told or 'neither positions nor mask'}",
        text=_conclusion(as_it_is),
    )
    if not told:
        return
    plain = run_exchange(without_positions(resolved, masked=False), group, orders)
    if plain is None:
        return
    mask = ""
    if positions and masks:
        masked = run_exchange(without_positions(resolved, masked=True), group, orders)
        change = masked.largest_change if masked else 0.0
        if change > EQUAL:
            mask = f" With the mask on they differ by up to {three_digits(change)}: it tells the order, too."
    yield Row(_matrices(plain, layer, head), title=f"Without {told}", text=_conclusion(plain) + mask)


def without_positions(resolved: ResolvedQuestion, *, masked: bool) -> ResolvedQuestion:
    """The same without positions, and unless it stays `masked` without its mask."""
    masks = resolved.question.variant.masks if masked else "none"
    parts = structs.replace(resolved.question.variant, positional_encoding="none", masks=masks)
    model = variant(resolved.model, positional_encoding="none", masks=None if masked else "none")
    return replace(resolved, question=structs.replace(resolved.question, variant=parts), model=model)


def run_exchange(resolved: ResolvedQuestion, group: AttentionGroup, orders: tuple[str, str]) -> Exchange | None:
    """The weights of both orders; None if these are cut into other tokens. Raises HeadlightError."""
    for start in ("", " "):  # some tokenizers know a word only after a space
        runs = [_run(resolved, group, start + text, start + orders[0]) for text in orders]
        (first, before), (second, after) = runs
        places = _places(first, second)
        if places is not None:
            moved = after[..., places, :][..., places]
            words = tuple(not special for special in first.special_mask)
            return Exchange(first.token_texts, words, before, moved, places)
    return None


def _run(
    resolved: ResolvedQuestion, group: AttentionGroup, text: str, source: str
) -> tuple[Encoded, Float[np.ndarray, "layer head query key"]]:
    """The tokens of a text of the stack, and the weights of all heads; a decoder reads the same source each time."""
    of_source = group.queries == "source"
    asked = resolved.with_input(text=source if of_source else text, source=text if of_source else source)
    traced = asked.trace_of("*.weights")
    read = traced.source if of_source and traced.source else traced.text
    return read, np.stack([traced[f"{group.path(layer)}.weights"] for layer in range(group.layers)])


def _places(first: Encoded, second: Encoded) -> tuple[int, ...] | None:
    """Where each token of a text is in another, equal ones in turn; None if the other one has other tokens."""
    left = list(second.ids)
    if sorted(first.ids) != sorted(left) or len(left) > MOST_TOKENS:
        return None
    places = []
    for token in first.ids:
        places.append(left.index(token))
        left[places[-1]] = -1
    return tuple(places)


def _matrices(found: Exchange, layer: int, head: int) -> tuple[MatrixView, MatrixView]:
    """The weights of a head in both orders, each as the model read it."""
    order = np.argsort(found.places)
    names = tuple(in_line(token) for token in found.tokens)
    other_names = tuple(names[place] for place in order)
    one, moved = found.before[layer, head], found.after[layer, head]
    return (
        weights_matrix(" ".join(names), one, names, row_axis="query", column_axis="key"),
        weights_matrix(" ".join(other_names), moved[order][:, order], other_names, row_axis="query", column_axis="key"),
    )


def _conclusion(found: Exchange) -> str:
    """Whether the two orders are the same to the model, from the weights of all heads."""
    if found.largest_change <= EQUAL:
        return "The two orders are the same to it: each token gives every other the same weight, in every head."
    layer, head, query, key = found.most_changed
    before, after = (weights[layer, head, query, key] for weights in (found.before, found.after))
    names = [quoted(found.tokens[place]) for place in (query, key)]
    return (
        f"The two orders differ, most in head {head} of layer {layer}: there {names[0]} gives {names[1]} {before:.2f} "
        f"of its attention, and {after:.2f} once the words are exchanged."
    )
