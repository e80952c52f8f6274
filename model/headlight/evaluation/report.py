"""The measurements of one model: as numbers, as lines to read, as the table of a model card, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headlight.checkpoints import Checkpoint
from headlight.data.corpus import Log, TextSource, tokenize_source
from headlight.data.examples import GeneratedTask
from headlight.data.text_tasks import TextTask
from headlight.evaluation.example_accuracy import ExampleAccuracy, example_accuracy
from headlight.evaluation.held_out import aligned_examples, hand_written_examples
from headlight.evaluation.language_modeling import (
    ClozeResult,
    ModelPredictor,
    TopKAccuracy,
    masked_batches,
    run_cloze,
    text_likelihood,
    top_k_accuracy,
)
from headlight.evaluation.text_tasks import (
    HAND_WRITTEN,
    LabelQuality,
    TranslationQuality,
    label_quality,
    translation_quality,
)
from headlight.tasks import require_token_task, task_of

REPORT_SEED = 2  # of the examples: others than those that training evaluates on
Row = dict[str, float | int]  # measures are floats, counts are integers


@dataclass(frozen=True)
class Report:
    """A row of numbers for each text, the results of the cloze tests, and of a task's held-out examples."""

    model_name: str
    texts: dict[str, Row]
    cloze: tuple[ClozeResult, ...]
    examples: ExampleAccuracy | LabelQuality | TranslationQuality | None = None
    hand_written: LabelQuality | TranslationQuality | None = None

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        plain = {"model": self.model_name, "texts": self.texts, "cloze": list(map(cloze_dict, self.cloze))}
        measured = {"examples": self.examples, "hand-written": self.hand_written}
        return plain | {name: found.to_dict() for name, found in measured.items() if found}


def evaluate_task(checkpoint: Checkpoint, name: str, task: GeneratedTask | TextTask, count: int) -> Report:
    """Measure a model on `count` held-out examples of a task, and on at most as many hand-written ones."""
    if isinstance(task, GeneratedTask):
        return Report(name, {}, (), example_accuracy(checkpoint, task, count, REPORT_SEED))
    data, written = task.open(), hand_written_examples(task.name)
    if checkpoint.model.config.has_cross_attention:
        held_out = translation_quality(checkpoint, task.name, data.held_out, count, REPORT_SEED)
        aligned = aligned_examples()[:count]
        own = translation_quality(checkpoint, task.name, written, count, REPORT_SEED, HAND_WRITTEN, aligned)
        return Report(name, {}, (), held_out, own)
    examples = data.held_out_examples(REPORT_SEED, count)
    measured = (
        label_quality(checkpoint, data, examples),
        label_quality(checkpoint, data, written[:count], HAND_WRITTEN),
    )
    return Report(name, {}, (), *measured)


def evaluate_model(
    checkpoint: Checkpoint, name: str, texts: Sequence[Path], cloze_tests: Sequence[Path], log: Log
) -> Report:
    """Measure a model on held-out texts and cloze tests."""
    require_token_task(checkpoint.model.config)
    row = _likelihood_row if task_of(checkpoint.model.config).continues_text else _masked_row
    rows = {text_name: row(checkpoint, source, log) for text_name, source in named_sources(texts).items()}
    results = [run_cloze(checkpoint.model, checkpoint.tokenizer, path) for path in cloze_tests]
    return Report(name, rows, tuple(results))


def named_sources(texts: Sequence[Path]) -> dict[str, TextSource]:
    """Texts by name; with their folder's name if two have the same."""
    sources = [TextSource(path) for path in texts]
    names = [source.name for source in sources]
    return {
        source.name if names.count(source.name) == 1 else f"{source.path.parent}/{source.name}": source
        for source in sources
    }


def _likelihood_row(checkpoint: Checkpoint, source: TextSource, log: Log) -> Row:
    text = tokenize_source(source, checkpoint.tokenizer, checkpoint.tokenizer.start_id)
    log(f"Reading {source.name} ...")
    unknown_id = checkpoint.tokenizer.unknown_id
    if unknown := 0 if unknown_id is None else int((text.ids == unknown_id).sum()):
        log(f"{unknown:,} of its tokens are unknown words, easy to predict: its bits compare with no other model's.")
    measured = text_likelihood(checkpoint.model, text)
    return {
        "bits per byte": measured.bits_per_byte,
        "bits per token": measured.bits_per_token,
        "tokens": measured.token_count,
        "bytes": measured.byte_count,
    }


def _masked_row(checkpoint: Checkpoint, source: TextSource, log: Log) -> Row:
    text = tokenize_source(source, checkpoint.tokenizer, None)
    log(f"Reading {source.name} ...")
    batches = masked_batches(text, checkpoint.tokenizer, checkpoint.model.config.context_length)
    accuracy = top_k_accuracy(ModelPredictor(checkpoint.model), batches)
    return {**accuracy_columns("", accuracy), "masked tokens": accuracy.target_count}


def accuracy_columns(prefix: str, accuracy: TopKAccuracy) -> Row:
    """The two accuracies under the columns of one predictor."""
    return {f"{prefix}top-1": accuracy.top1, f"{prefix}top-5": accuracy.top5}


def cloze_dict(result: ClozeResult) -> dict[str, Any]:
    """The result of a cloze test as plain JSON values."""
    misses = [asdict(answer.sentence) | {"guesses": answer.guesses} for answer in result.misses]
    accuracy = {"top-1": result.accuracy(1), "top-5": result.accuracy(5)}
    return {"test": result.name, "sentences": len(result.answers), **accuracy, "misses": misses}


def task_sentences(report: Report) -> list[str]:
    """Sentences on the examples of a task."""
    return [line for found in (report.examples, report.hand_written) if found for line in found.sentences()]


def format_text(report: Report) -> str:
    """Lines to read in a terminal."""
    lines = [report.model_name, *task_sentences(report)]
    for name, numbers in report.texts.items():
        columns = ", ".join(f"{column} {format_number(column, value)}" for column, value in numbers.items())
        lines.append(f"{name:20} {columns}")
    for result in report.cloze:
        lines.append(cloze_sentence(result))
        lines += [f"  missed: {answer.sentence.text}  guesses: {', '.join(answer.guesses)}" for answer in result.misses]
    return "\n".join(lines)


def cloze_sentence(result: ClozeResult) -> str:
    """One sentence on a cloze test."""
    return (
        f"Cloze test {result.name}: an accepted word is the first guess in {result.hits(1)} of {len(result.answers)} "
        f"sentences ({result.accuracy(1):.1%}), among the first five in {result.hits(5)} ({result.accuracy(5):.1%})."
    )


def format_markdown(report: Report) -> str:
    """The numbers of all texts as a table."""
    columns = list(next(iter(report.texts.values()), {}))
    lines = [f"| held-out text | {' | '.join(columns)} |", f"|---{'|---:' * len(columns)}|"]
    for name, numbers in report.texts.items():
        cells = [format_number(column, value) for column, value in numbers.items()]
        lines.append(f"| {name.removesuffix('.valid')} | {' | '.join(cells)} |")
    return "\n".join(lines)


def format_number(column: str, value: float | int) -> str:
    """A count with thousands separators, bits per byte to three decimals, per token to two, a fraction in percent."""
    if isinstance(value, int):
        return f"{value:,}"
    if column.endswith(" per byte"):
        return f"{value:.3f}"
    return f"{value:.2f}" if column.endswith(" per token") else f"{value:.1%}"
