"""A few words and the same with two of them exchanged: whether the model's attention notices their order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
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
EXAMPLE_WORDS, MOST_WORDS, MOST_CHARACTERS = 4, 12, 200
MOST_TOKENS = 24  # a table of more numbers is too wide
EQUAL = 1e-5  # what rounding leaves of two equal weights
DIGITS = range(2, 6)  # decimal places of two weights; with the most, any that are not EQUAL differ
KEPT = ("*.weights",)
TITLE = "The same words in another order"
ABOUT = (
    "Exchange two words, and see what the open model notices. Type words of your own: the first and the last are "
    "exchanged. Below are the weights in both orders."
)


@dataclass(frozen=True)
class Orders:
    """Two texts of the same tokens; `places` are those of the first one's tokens in the second."""

    texts: tuple[str, str]
    tokens: tuple[str, ...]
    are_words: tuple[bool, ...]  # not special tokens
    places: tuple[int, ...]


@dataclass(frozen=True)
class Exchange:
    """The weights of every head with the words in two orders, [layer head query key].

    `after` is in the order of the tokens `before`: the cells of both are about the same two tokens.
    """

    orders: Orders
    before: Float[np.ndarray, "layer head query key"]
    after: Float[np.ndarray, "layer head query key"]

    @property
    def largest_change(self) -> float:
        """The largest change of a weight of any head."""
        return float(np.abs(self.after - self.before).max())

    @property
    def most_changed(self) -> tuple[int, int, int, int]:
        """The layer, head, query and key of the largest change of a weight between words."""
        words = np.outer(self.orders.are_words, self.orders.are_words)
        changes = np.where(words, np.abs(self.after - self.before), 0.0)
        layer, head, query, key = map(int, np.unravel_index(changes.argmax(), changes.shape))
        return layer, head, query, key


def exchange_rows(resolved: ResolvedQuestion, stack: str, typed: str) -> Iterator[Row]:
    """The words, and the weights in both orders: of the model as it is, and without what tells it their order.

    Nothing for a model whose own words cannot be exchanged, until some are typed.
    """
    group = next((each for each in attention_groups(resolved.config) if each.name == f"{stack}.self"), None)
    if group is None or resolved.config.reads_signal:
        return
    text = typed.strip() or example_words(resolved, group)
    if not text:
        return
    yield Row((InputView("Your words", "order_text", typed or text, live=True),), title=TITLE, text=ABOUT)
    try:
        yield from _compared(resolved, group, read_orders(resolved, group, text))
    except HeadlightError as error:
        yield Row(text=str(error))


def exchanged(text: str) -> tuple[str, str]:
    """A text, and the same with its first and its last word exchanged. Raises HeadlightError."""
    if len(text) > MOST_CHARACTERS:
        raise HeadlightError(f"These words are {len(text):,} characters; at most {MOST_CHARACTERS} fit side by side.")
    words = text.split()
    if not 2 <= len(words) <= MOST_WORDS or words[0] == words[-1]:
        raise HeadlightError(f"Type from 2 to {MOST_WORDS} words, of which the first and the last differ.")
    return " ".join(words), " ".join((words[-1], *words[1:-1], words[0]))


def example_words(resolved: ResolvedQuestion, group: AttentionGroup) -> str:
    """Words of three that make two sentences, or else those of an example of the model; "" if it knows none of them."""
    for text in _sentences(resolved.question.model):
        with suppress(HeadlightError):  # it has no tokens for these letters, or others in the other order
            orders = read_orders(resolved, group, text)
            if any(orders.are_words) and resolved.tokenizer.unknown_id not in resolved.tokenizer.encode(text).ids:
                return text
    return ""


def _sentences(model: str) -> Iterator[str]:
    yield WORDS
    for example in examples_for(find_model(model)):
        yield " ".join((example.source or example.text).split()[:EXAMPLE_WORDS])


def read_orders(resolved: ResolvedQuestion, group: AttentionGroup, text: str) -> Orders:
    """The tokens of a text in both orders. Raises HeadlightError if these are not the same, or too many."""
    orders = exchanged(text)
    for start in ("", " "):  # some tokenizers know a word only after a space
        first_text, second_text = (start + each for each in orders)
        first, second = (_read(_asked(resolved, group, each, first_text), group) for each in (first_text, second_text))
        if len(first.ids) > MOST_TOKENS:
            raise HeadlightError(f"These words are {len(first.ids)} tokens; at most {MOST_TOKENS} fit side by side.")
        places = _places(first, second)
        if places is not None:
            words = tuple(not special for special in first.special_mask)
            return Orders((first_text, second_text), first.token_texts, words, places)
    raise HeadlightError(
        "Exchanged, these words are cut into other tokens, so their weights cannot be set side by side."
    )


def _asked(resolved: ResolvedQuestion, group: AttentionGroup, text: str, source: str) -> ResolvedQuestion:
    """The question about a text of the stack; a decoder reads the same `source` each time."""
    of_source = group.queries == "source"
    return resolved.with_input(text=source if of_source else text, source=text if of_source else source)


def _read(asked: ResolvedQuestion, group: AttentionGroup) -> Encoded:
    request = asked.run_request(KEPT)
    return request.source if group.queries == "source" and request.source else request.text


def _places(first: Encoded, second: Encoded) -> tuple[int, ...] | None:
    """Where each token of a text is in another, equal ones in turn; None if the other one has other tokens."""
    left = list(second.ids)
    if sorted(first.ids) != sorted(left):
        return None
    places = []
    for token in first.ids:
        places.append(left.index(token))
        left[places[-1]] = -1
    return tuple(places)


def _compared(resolved: ResolvedQuestion, group: AttentionGroup, orders: Orders) -> Iterator[Row]:
    """The model as it is, and without what tells it the order."""
    config = resolved.config.for_stack(group.stack)
    positions = {*config.per_layer.positional_encodings, config.positional_encoding} != {"none"}
    masks = bool(config.masks or any(config.per_layer.masks))
    told = " and ".join([*(["positions"] if positions else []), *(["mask"] if masks else [])])
    as_it_is = run_exchange(resolved, group, orders)
    layer, head, *_ = as_it_is.most_changed
    of_head = f"Layer {layer} · Head {head}"
    title = f"With {told or 'neither positions nor mask'}: {of_head}"
    yield Row(_matrices(as_it_is, layer, head), title=title, text=conclusion(as_it_is))
    if not told:
        return
    plain = run_exchange(without_positions(resolved, masked=False), group, orders)
    mask = ""
    if positions and masks:
        change = run_exchange(without_positions(resolved, masked=True), group, orders).largest_change
        if change > EQUAL:
            mask = f" With the mask on they differ by up to {three_digits(change)}: it tells the order, too."
    yield Row(_matrices(plain, layer, head), title=f"Without {told}: {of_head}", text=conclusion(plain) + mask)


def without_positions(resolved: ResolvedQuestion, *, masked: bool) -> ResolvedQuestion:
    """The same without positions, and unless it stays `masked` without its mask."""
    masks = resolved.question.variant.masks if masked else "none"
    parts = structs.replace(resolved.question.variant, positional_encoding="none", masks=masks)
    model = variant(resolved.model, positional_encoding="none", masks=None if masked else "none")
    return replace(resolved, question=structs.replace(resolved.question, variant=parts), model=model)


def run_exchange(resolved: ResolvedQuestion, group: AttentionGroup, orders: Orders) -> Exchange:
    """The weights of all heads in both orders. Raises HeadlightError."""
    paths = [f"{group.path(layer)}.weights" for layer in range(group.layers)]
    traces = [_asked(resolved, group, text, orders.texts[0]).trace_of(*KEPT) for text in orders.texts]
    before, after = (np.stack([traced[path] for path in paths]) for traced in traces)
    return Exchange(orders, before, after[..., orders.places, :][..., orders.places])


def _matrices(found: Exchange, layer: int, head: int) -> tuple[MatrixView, MatrixView]:
    """The weights of a head in both orders, each as the model read it."""
    order = np.argsort(found.orders.places)
    names = tuple(in_line(token) for token in found.orders.tokens)
    other_names = tuple(names[place] for place in order)
    one, moved = found.before[layer, head], found.after[layer, head]
    return (
        weights_matrix(" ".join(names), one, names, row_axis="query", column_axis="key"),
        weights_matrix(" ".join(other_names), moved[order][:, order], other_names, row_axis="query", column_axis="key"),
    )


def conclusion(found: Exchange) -> str:
    """Whether the two orders are the same to the model, from the weights of all heads."""
    if found.largest_change <= EQUAL:
        return "The two orders are the same to it: each token gives every other the same weight, in every head."
    layer, head, query, key = found.most_changed
    before, after = (float(weights[layer, head, query, key]) for weights in (found.before, found.after))
    if abs(after - before) <= EQUAL:
        return "The two orders differ only in the weights from or to special tokens."
    names = [_named(found.orders.tokens, place) for place in (query, key)]
    pairs = ((f"{before:.{digits}f}", f"{after:.{digits}f}") for digits in DIGITS)
    one, other = next(pair for pair in pairs if pair[0] != pair[1])
    return (
        f"The two orders differ, among the words most in head {head} of layer {layer}: there {names[0]} gives "
        f"{names[1]} {one} of its attention, and {other} once the words are exchanged."
    )


def _named(tokens: tuple[str, ...], place: int) -> str:
    """A token in a sentence; one of several equal ones with its position."""
    return quoted(tokens[place]) + ("" if tokens.count(tokens[place]) == 1 else f" ({place})")
