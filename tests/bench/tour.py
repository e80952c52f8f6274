"""`python -m tests.bench tour MODEL [SENTENCE ...]`: the heads without which the first answer changes most.

For each sentence (of an encoder-decoder: source), or the examples of the model, with the line `tour: ...` for its card.
`--heads 2` adds a second head, the one that changes most besides the first; `--everywhere` tries the answers at all
tokens, not only the predicted one.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from headlight.attention_groups import attention_groups
from headlight_app.inference.examples import opening_examples
from headlight_app.inference.open_models import find_model
from tests.app.asking import ask_worker

SHOWN = 4  # for each sentence
NEW_LEADER = 0.2  # what another likeliest answer counts, beside the change of the first one's probability


@dataclass(frozen=True)
class Effect:
    """An answer with and without heads; `position` is -1 where the task predicts."""

    heads: tuple[str, ...]
    position: int
    before: dict[str, Any]
    after: dict[str, Any]

    @property
    def size(self) -> float:
        """The change of the first answer's probability, more if another answer leads."""
        change = float(abs(self.before["before"] - self.before["after"]))
        return change + (NEW_LEADER if self.before["id"] != self.after["id"] else 0.0)

    def __str__(self) -> str:
        place = f" at {self.position}" if self.position >= 0 else ""
        first, leader = self.before, self.after
        change = f"{first['text']!r} {first['before']:.1%} -> {first['after']:.1%}"
        other = f", then {leader['text']!r} {leader['after']:.1%}" if leader["id"] != first["id"] else ""
        return f"tour: {', '.join(self.heads)}{place}    {change}{other}"


def effects(question: dict[str, Any], found: Sequence[Effect], *, everywhere: bool) -> Iterator[Effect]:
    """The effect of each head, together with those of each effect that was found."""
    count = len(ask_worker("trace", **question)[0]["tokens"])
    for group in attention_groups(find_model(question["model"]).config):
        for path in (group.path(layer) for layer in range(group.layers)):
            for head in (f"{path}[{head}]" for head in range(group.heads)):
                for known in [each.heads for each in found] or [()]:
                    yield from _effects(question, (*known, head), range(count) if everywhere else (-1,))


def _effects(question: dict[str, Any], heads: tuple[str, ...], positions: Sequence[int]) -> Iterator[Effect]:
    edits = [f"{head.replace('[', '.weights[')}=set:0" for head in heads]
    for position in positions:
        for shown in ask_worker("trace", **question, edits=edits, query=position)[0]["predictions"][:1]:
            before, after = (max(shown["candidates"], key=itemgetter(side)) for side in ("before", "after"))
            yield Effect(heads, position, before, after)


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
            best = sorted(effects(question, found, everywhere=chosen.everywhere), key=lambda each: -each.size)
            found = best[:1]
        print(f"\n{source} {question['text']}".rstrip())
        for each in best[:SHOWN]:
            print(f"    {each}", flush=True)
