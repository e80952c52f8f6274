"""`python -m tests.bench tour MODEL [SENTENCE ...]`: the heads without which the first answer changes most.

For each sentence (of an encoder-decoder: source), or the examples of the model, with the line `tour: ...` for its card.
Heads that look from there at another token of the text come first, because the tour says what they look at.
`--heads 2` adds a second head, the one that changes most besides the first; `--everywhere` tries the answers at all
tokens, not only the predicted one.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any

from headlight.attention_groups import AttentionGroup, attention_groups
from headlight_app.explore.answers.explanations.offer import LARGE
from headlight_app.inference.examples import opening_examples
from headlight_app.inference.head_selection import encoded_text
from headlight_app.inference.open_models import find_model
from headlight_app.inference.resolved_question import resolve
from tests.app.asking import ask_worker, make_question

SHOWN = 4  # for each sentence


@dataclass(frozen=True)
class Effect:
    """An answer with and without heads; `position` is -1 where the task predicts.

    `key` is the token that the first head looks at most, if it is another one of the text.
    """

    heads: tuple[str, ...]
    key: str
    position: int
    before: dict[str, Any]
    after: dict[str, Any]

    @property
    def size(self) -> float:
        """The change of the first answer's probability, more if another answer leads."""
        change = float(abs(self.before["before"] - self.before["after"]))
        return change + (LARGE if self.before["id"] != self.after["id"] else 0.0)

    @property
    def rank(self) -> tuple[bool, float]:
        """Heads that suit the tour come first, then those that change more."""
        return bool(self.key.strip()) and self.size >= LARGE, self.size

    def __str__(self) -> str:
        place = f" at {self.position}" if self.position >= 0 else ""
        first, leader = self.before, self.after
        change = f"{first['text']!r} {first['before']:.1%} -> {first['after']:.1%}"
        other = f", then {leader['text']!r} {leader['after']:.1%}" if leader["id"] != first["id"] else ""
        return f"tour: {', '.join(self.heads)}{place}    {change}{other}    looks at {self.key!r}"


def effects(question: dict[str, Any], found: Sequence[Effect], *, everywhere: bool) -> Iterator[Effect]:
    """The effect of each head, together with those of each effect that was found."""
    count = len(ask_worker("trace", **question)[0]["tokens"])
    groups = [group for group in attention_groups(find_model(question["model"]).config) if group.queries == "text"]
    places = [(group, layer, head) for group in groups for layer in range(group.layers) for head in range(group.heads)]
    known_effects: list[Effect | None] = [*found] or [None]
    for known in known_effects:
        for place in places:
            for position in range(count) if everywhere else (-1,):
                yield from _effect(question, known, place, position)


def _effect(
    question: dict[str, Any], known: Effect | None, place: tuple[AttentionGroup, int, int], position: int
) -> Iterator[Effect]:
    group, layer, head = place
    heads = (*(known.heads if known else ()), f"{group.path(layer)}[{head}]")
    edits = [f"{one.replace('[', '.weights[')}=set:0" for one in heads]
    for shown in ask_worker("trace", **question, edits=edits, query=position)[0]["predictions"][:1]:
        before, after = (max(shown["candidates"], key=itemgetter(side)) for side in ("before", "after"))
        key = known.key if known else most_attended(question, place, shown["position"])
        yield Effect(heads, key, position, before, after)


def most_attended(question: dict[str, Any], place: tuple[AttentionGroup, int, int], position: int) -> str:
    """The token that a head of the trained model looks at most; empty if it is the query itself or a special one."""
    group, layer, head = place
    traced = resolve(make_question(**question)).trace
    keys = encoded_text(traced, group.keys)
    key = int(traced[f"{group.path(layer)}.weights"][head, position].argmax())
    is_itself = group.keys == group.queries and key == position
    return "" if is_itself or keys.special_mask[key] else keys.token_texts[key]


def main(arguments: Sequence[str]) -> None:
    """Print the largest effects for each sentence."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench tour", description=__doc__)
    parser.add_argument("model")
    parser.add_argument("sentences", nargs="*")
    parser.add_argument("--heads", type=int, default=1)
    parser.add_argument("--everywhere", action="store_true")
    chosen = parser.parse_args(arguments)
    entry = find_model(chosen.model)
    is_source = entry.config.has_cross_attention
    examples = [(one.text, one.source) for one in opening_examples(entry)]
    if chosen.sentences:
        examples = [("", one) if is_source else (one, "") for one in chosen.sentences]
    for text, source in examples:
        question = {"model": chosen.model, "text": text, "source": source}
        if is_source and not text:
            question["text"] = ask_worker("trace", **question, writes_target=True)[0]["question"]["text"]
        found: list[Effect] = []
        for _ in range(chosen.heads):
            tried = effects(question, found, everywhere=chosen.everywhere)
            best = sorted(tried, key=attrgetter("rank"), reverse=True)
            found = best[:1]
        print(f"\n{source} {question['text']}".rstrip())
        for each in best[:SHOWN]:
            print(f"    {each}", flush=True)
