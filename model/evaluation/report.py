"""Everything measured of one model, as numbers, as lines to read, as a table for a model card, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from model.checkpoints import Checkpoint
from model.data.corpus import Log, TextSource, tokenize_source
from model.evaluation import masked_accuracy, perplexity
from model.evaluation.baselines import NgramStore
from model.evaluation.cloze import ClozeResult, run_cloze, run_ngram_cloze
from model.evaluation.kneser_ney import KneserNey
from model.evaluation.masked_accuracy import ModelPredictor, TopKAccuracy
from model.evaluation.sides import TwoSidedNgram
from model.nn.transformer import require_output_head

Row = dict[str, float | int]


@dataclass(frozen=True)
class Report:
    """What was measured: a row of numbers for each text, and the answers to each fill-in test."""

    model_name: str
    texts: dict[str, Row]
    cloze: tuple[ClozeResult, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "model": self.model_name,
            "texts": self.texts,
            "fill_in": [_cloze_dict(result) for result in self.cloze],
        }


def evaluate_model(
    checkpoint: Checkpoint,
    name: str,
    texts: Sequence[Path],
    tests: Sequence[Path],
    ngram_store: NgramStore | None,
    log: Log,
) -> Report:
    """Measures a model on held-out texts and fill-in tests, next to the counting models of a shelf, if given."""
    require_output_head(checkpoint.model, "language-model", "masked-language-model")
    sources = _with_unique_names([TextSource(path) for path in texts])
    ngram: KneserNey | TwoSidedNgram | None
    if checkpoint.model.config.output_head == "language-model":
        ngram = ngram_store.kneser_ney() if ngram_store else None
        rows = {name: _likelihood_row(checkpoint, source, ngram, log) for name, source in sources.items()}
    else:
        ngram = ngram_store.two_sided() if ngram_store else None
        rows = {name: _masked_row(checkpoint, source, ngram, log) for name, source in sources.items()}
    answers = []
    for path in tests:
        answers.append(run_cloze(checkpoint.model, checkpoint.tokenizer, path))
        answers += [run_ngram_cloze(ngram, checkpoint.tokenizer, path)] if ngram else []
    return Report(name, rows, tuple(answers))


def _with_unique_names(sources: Sequence[TextSource]) -> dict[str, TextSource]:
    """Texts by name, and by their folder's too where two have the same."""
    names = [source.name for source in sources]
    return {
        source.name if names.count(source.name) == 1 else f"{source.path.parent}/{source.name}": source
        for source in sources
    }


def _likelihood_row(checkpoint: Checkpoint, source: TextSource, ngram: KneserNey | None, log: Log) -> Row:
    text = tokenize_source(source, checkpoint.tokenizer, checkpoint.tokenizer.start_id)
    log(f"Reading {source.name} ...")
    number = checkpoint.tokenizer.unknown_id
    if unknown := 0 if number is None else int((text.ids == number).sum()):
        log(f"{unknown:,} of its tokens are unknown words, cheap to expect: its bits compare with no other model's.")
    measured = perplexity.text_likelihood(checkpoint.model, text)
    numbers = {"bits per byte": measured.bits_per_byte, "nats per token": measured.nats_per_token}
    if ngram:
        other = perplexity.likelihood_from_probabilities(ngram.probabilities(text.ids.astype(np.int64)), text)
        numbers |= {
            "Kneser-Ney bits per byte": other.bits_per_byte,
            "less by": 1 - measured.negative_log_likelihood / other.negative_log_likelihood,
        }
    return {**numbers, "tokens": measured.token_count, "bytes": measured.byte_count}


def _masked_row(checkpoint: Checkpoint, source: TextSource, ngram: TwoSidedNgram | None, log: Log) -> Row:
    text = tokenize_source(source, checkpoint.tokenizer, None)
    log(f"Reading {source.name} ...")
    batches = masked_accuracy.masked_batches(text, checkpoint.tokenizer, checkpoint.model.config.context_length)
    numbers = _accuracy_columns("", masked_accuracy.top_k_accuracy(ModelPredictor(checkpoint.model), batches))
    if ngram:
        numbers |= _accuracy_columns("two-sided 5-gram ", masked_accuracy.top_k_accuracy(ngram, batches))
        numbers |= _accuracy_columns("unigram ", masked_accuracy.top_k_accuracy(ngram.unigram, batches))
    return {**numbers, "asked": sum(batch.target_count for batch in batches)}


def _accuracy_columns(prefix: str, guesses: TopKAccuracy) -> Row:
    return {f"{prefix}top-1": guesses.top1, f"{prefix}top-5": guesses.top5}


def _cloze_dict(result: ClozeResult) -> dict[str, Any]:
    misses = [asdict(answer.sentence) | {"said": answer.guesses} for answer in result.misses]
    rates = {"top-1": result.accuracy(1), "top-5": result.accuracy(5)}
    return {"test": result.name, "by": result.baseline, "asked": len(result.answers), **rates, "misses": misses}


def format_text(report: Report) -> str:
    """Lines to read in a terminal."""
    lines = [report.model_name]
    for name, numbers in report.texts.items():
        columns = ", ".join(f"{what} {format_number(what, value)}" for what, value in numbers.items())
        lines.append(f"{name:20} {columns}")
    for result in report.cloze:
        lines.append(f"{cloze_sentence(result)}")
        if not result.baseline:
            lines += [
                f"  missed: {answer.sentence.text}  said: {', '.join(answer.guesses)}" for answer in result.misses
            ]
    return "\n".join(lines)


def cloze_sentence(result: ClozeResult) -> str:
    """One sentence on a fill-in test."""
    asked = len(result.answers)
    if result.baseline:
        first, five = (f"{result.hits(top)} ({result.accuracy(top):.1%})" for top in (1, 5))
        return f"A {result.baseline} on the same sentences: first in {first}, among the first five in {five}."
    return (
        f"Fill-in test {result.name}: an accepted word is the first guess in {result.hits(1)} of {asked} sentences "
        f"({result.accuracy(1):.1%}), among the first five in {result.hits(5)} ({result.accuracy(5):.1%})."
    )


def format_markdown(report: Report) -> str:
    """The numbers of all texts as a table."""
    columns = list(next(iter(report.texts.values()), {}))
    lines = [f"| held-out text | {' | '.join(columns)} |", f"|---{'|---:' * len(columns)}|"]
    for name, numbers in report.texts.items():
        cells = [format_number(what, value) for what, value in numbers.items()]
        lines.append(f"| {name.removesuffix('.valid')} | {' | '.join(cells)} |")
    return "\n".join(lines)


def format_number(column: str, value: float | int) -> str:
    """A number as its kind is read: counts whole, shares in percent."""
    if column in ("tokens", "bytes", "asked"):
        return f"{value:,.0f}"
    return f"{value:.1%}" if "top-" in column or column == "less by" else f"{value:.3f}"
