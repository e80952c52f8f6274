"""Everything measured of one model, as numbers, as lines to read, as a table for a model card, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from model.checkpoints import Loaded
from model.data.corpus import Say, Source, encode
from model.evaluation import masked_accuracy, perplexity
from model.evaluation.baselines import Shelf
from model.evaluation.cloze import Result, count_in, fill_in
from model.evaluation.kneser_ney import KneserNey
from model.evaluation.masked_accuracy import Encoder, Guesses
from model.evaluation.sides import TwoSided
from model.nn.transformer import require_top

Numbers = dict[str, float | int]


@dataclass(frozen=True)
class Report:
    """What was measured: a row of numbers for each text, and the answers to each fill-in test."""

    model: str
    texts: dict[str, Numbers]
    fill_in: tuple[Result, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"model": self.model, "texts": self.texts, "fill_in": [_told(result) for result in self.fill_in]}


def measure(
    loaded: Loaded, name: str, texts: Sequence[Path], tests: Sequence[Path], shelf: Shelf | None, say: Say
) -> Report:
    """Measures a model on held-out texts and fill-in tests, next to the counting models of a shelf, if given."""
    require_top(loaded.model, "language", "masked-language")
    sources = _named([Source(path) for path in texts])
    counted: KneserNey | TwoSided | None
    if loaded.model.config.top == "language":
        counted = shelf.kneser_ney() if shelf else None
        rows = {name: _causal(loaded, source, counted, say) for name, source in sources.items()}
    else:
        counted = shelf.two_sided() if shelf else None
        rows = {name: _masked(loaded, source, counted, say) for name, source in sources.items()}
    answers = []
    for path in tests:
        answers.append(fill_in(loaded.model, loaded.tokenizer, path))
        answers += [count_in(counted, loaded.tokenizer, path)] if counted else []
    return Report(name, rows, tuple(answers))


def _named(sources: Sequence[Source]) -> dict[str, Source]:
    """Texts by name, and by their folder's too where two have the same."""
    names = [source.name for source in sources]
    return {
        source.name if names.count(source.name) == 1 else f"{source.path.parent}/{source.name}": source
        for source in sources
    }


def _causal(loaded: Loaded, source: Source, counted: KneserNey | None, say: Say) -> Numbers:
    text = encode(source, loaded.tokenizer, loaded.tokenizer.start_id)
    say(f"Reading {source.name} ...")
    number = loaded.tokenizer.unknown_id
    if unknown := 0 if number is None else int((text.ids == number).sum()):
        say(f"{unknown:,} of its tokens are unknown words, cheap to expect: its bits compare with no other model's.")
    own = perplexity.fluency(loaded.model, text)
    numbers = {"bits per byte": own.bits_per_byte, "nats per token": own.per_token}
    if counted:
        other = perplexity.surprise(counted.probabilities(text.ids.astype(np.int64)), text)
        numbers |= {"Kneser-Ney bits per byte": other.bits_per_byte, "less by": 1 - own.nats / other.nats}
    return {**numbers, "tokens": own.tokens, "bytes": own.bytes}


def _masked(loaded: Loaded, source: Source, counted: TwoSided | None, say: Say) -> Numbers:
    text = encode(source, loaded.tokenizer, None)
    say(f"Reading {source.name} ...")
    asked = masked_accuracy.questions(text, loaded.tokenizer, loaded.model.config.context)
    numbers = _shares("", masked_accuracy.guesses(Encoder(loaded.model), asked))
    if counted:
        numbers |= _shares("two-sided 5-gram ", masked_accuracy.guesses(counted, asked))
        numbers |= _shares("unigram ", masked_accuracy.guesses(counted.unigram, asked))
    return {**numbers, "asked": sum(batch.asked for batch in asked)}


def _shares(who: str, guesses: Guesses) -> Numbers:
    return {f"{who}top-1": guesses.first, f"{who}top-5": guesses.five}


def _told(result: Result) -> dict[str, Any]:
    misses = [asdict(answer.sentence) | {"said": answer.said} for answer in result.misses]
    rates = {"top-1": result.rate(1), "top-5": result.rate(5)}
    return {"test": result.name, "by": result.by, "asked": len(result.answers), **rates, "misses": misses}


def plain(report: Report) -> str:
    """Lines to read in a terminal."""
    lines = [report.model]
    for name, numbers in report.texts.items():
        told = ", ".join(f"{what} {number(what, value)}" for what, value in numbers.items())
        lines.append(f"{name:20} {told}")
    for result in report.fill_in:
        lines.append(f"{hits(result)}")
        if not result.by:
            lines += [f"  missed: {answer.sentence.text}  said: {', '.join(answer.said)}" for answer in result.misses]
    return "\n".join(lines)


def hits(result: Result) -> str:
    """One sentence on a fill-in test."""
    asked = len(result.answers)
    if result.by:
        first, five = (f"{result.hits(top)} ({result.rate(top):.1%})" for top in (1, 5))
        return f"A {result.by} on the same sentences: first in {first}, among the first five in {five}."
    return (
        f"Fill-in test {result.name}: an accepted word is the first guess in {result.hits(1)} of {asked} sentences "
        f"({result.rate(1):.1%}), among the first five in {result.hits(5)} ({result.rate(5):.1%})."
    )


def markdown(report: Report) -> str:
    """The numbers of all texts as a table."""
    columns = list(next(iter(report.texts.values()), {}))
    lines = [f"| held-out text | {' | '.join(columns)} |", f"|---{'|---:' * len(columns)}|"]
    for name, numbers in report.texts.items():
        cells = [number(what, value) for what, value in numbers.items()]
        lines.append(f"| {name.removesuffix('.valid')} | {' | '.join(cells)} |")
    return "\n".join(lines)


def number(what: str, value: float | int) -> str:
    """A number as its kind is read: counts whole, shares in percent."""
    if what in ("tokens", "bytes", "asked"):
        return f"{value:,.0f}"
    return f"{value:.1%}" if "top-" in what or what == "less by" else f"{value:.3f}"
