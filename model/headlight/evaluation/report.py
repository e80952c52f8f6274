"""The measurements of one model: as numbers, as lines to read, as JSON, and as the measured part of a model card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from headlight.analysis.head_metrics import HEAD_METRICS, head_metrics
from headlight.array_types import Float
from headlight.checkpoints import Checkpoint
from headlight.data.corpus import Log, TextSource, tokenize_source
from headlight.data.examples import GeneratedTask
from headlight.data.generated import GENERATED_TASKS
from headlight.data.text_tasks import TextTask
from headlight.evaluation.example_accuracy import ExampleAccuracy, answer, example_accuracy
from headlight.evaluation.held_out import aligned_examples, hand_written_examples
from headlight.evaluation.language_modeling import (
    ClozeAnswer,
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
    Sample,
    TranslationQuality,
    label_quality,
    sample_table,
    translation_quality,
)
from headlight.generation.generate import generate
from headlight.tasks import require_token_task, task_of
from headlight.tracing.inputs import encode_input
from headlight.tracing.predictions import candidates, prediction_positions
from headlight.tracing.run import run

REPORT_SEED = 2  # of the examples, which differ from those for evaluation during training
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
    own: LabelQuality | TranslationQuality | None = None
    if checkpoint.model.config.has_cross_attention:
        held_out = translation_quality(checkpoint, task.name, data.held_out, count, REPORT_SEED)
        if written:
            aligned = aligned_examples()[:count]
            own = translation_quality(checkpoint, task.name, written, count, REPORT_SEED, HAND_WRITTEN, aligned)
        return Report(name, {}, (), held_out, own)
    quality = label_quality(checkpoint, data, data.held_out_examples(REPORT_SEED, count))
    if written:
        own = label_quality(checkpoint, data, written[:count], HAND_WRITTEN)
    return Report(name, {}, (), quality, own)


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


SENTENCES = (
    "The old gardener watered the roses, and then he sat down under the apple tree.",
    "Tom gave the ball to Anna. Anna gave the ball to Tom.",
    '"Have you seen my red scarf?" asked Grandmother. "I left it on the chair."',
    "The red boat and the blue boat sailed past the red house and the blue house.",
    "When it rains, the children stay inside; when the sun shines, the children play outside.",
    "My sister, who is seven years old, can swim, ride a horse and climb trees.",
    "One day a fox met a crow. The fox was hungry. The crow had a piece of cheese. The fox looked up.",
    "Because the dog was afraid of the thunder, it hid under the bed until the morning.",
)

HeadValues = Float[np.ndarray, "sentence layer head"]


@dataclass(frozen=True)
class HeadRanking:
    """The heads with the most of one metric (the least `entropy`), best first: layer, head, and mean over sentences.

    `uniform_value` is the mean for a head that attends uniformly over its allowed keys, in the layer of the first head.
    Heads that are not better than the uniform head of their own layer are left out; masks may differ by layer.
    `example` is the sentence in which the first head is most extreme, `example_value` its value there.
    """

    metric: str
    top_heads: tuple[tuple[int, int, float], ...]
    uniform_value: float
    example: str
    example_value: float


def rank_heads(checkpoint: Checkpoint, sentences: Sequence[str] = SENTENCES, count: int = 3) -> tuple[HeadRanking, ...]:
    """One ranking for each metric that is defined on these sentences; for `entropy` the smallest comes first.

    A sentence longer than the model's context is left out, and so is a metric with the same values as an earlier one.
    """
    context = checkpoint.model.config.context_length
    sentences = [sentence for sentence in sentences if len(checkpoint.tokenizer.encode(sentence).ids) <= context]
    uniform_edits = [f"{stack}.*.self.weights=uniform" for stack in checkpoint.model.config.stacks]
    values, uniform = _head_metrics(checkpoint, sentences, ()), _head_metrics(checkpoint, sentences, uniform_edits)
    rankings: list[HeadRanking] = []
    earlier: list[HeadValues] = []
    for metric in HEAD_METRICS if sentences else ():
        is_repeated = any(np.array_equal(values[metric], other, equal_nan=True) for other in earlier)
        earlier.append(values[metric])
        best = None if is_repeated else _head_ranking(metric, values[metric], _mean(uniform[metric]), sentences, count)
        rankings += [best] if best else []
    return tuple(rankings)


def _head_metrics(loaded: Checkpoint, sentences: Sequence[str], edits: Sequence[str]) -> dict[str, HeadValues]:
    """Every metric of every head for each sentence."""
    each = [head_metrics(run(loaded.model, loaded.tokenizer, sentence, edits)) for sentence in sentences]
    return {metric: np.stack([one[metric] for one in each]) for metric in HEAD_METRICS} if each else {}


def _mean(values: HeadValues) -> Float[np.ndarray, "layer head"]:
    """The mean over the sentences in which the metric is defined; NaN if it is in none."""
    is_defined = ~np.isnan(values)
    mean: np.ndarray = np.where(is_defined, values, 0).sum(0) / np.where(is_defined.any(0), is_defined.sum(0), np.nan)
    return mean


def _head_ranking(
    metric: str, values: HeadValues, uniform: Float[np.ndarray, "layer head"], sentences: Sequence[str], count: int
) -> HeadRanking | None:
    sign = -1.0 if metric == "entropy" else 1.0
    mean = _mean(values)
    order = np.argsort(np.where(np.isnan(mean), np.inf, -sign * mean), axis=None, kind="stable")
    heads = [divmod(int(index), mean.shape[1]) for index in order]
    ranked = [(*head, float(mean[head])) for head in heads if sign * mean[head] > sign * uniform[head]][:count]
    if not ranked:
        return None
    layer, head, _ = ranked[0]
    example = int(np.nanargmax(sign * values[:, layer, head]))
    return HeadRanking(
        metric, tuple(ranked), float(uniform[layer, head]), sentences[example], float(values[example, layer, head])
    )


PROMPTS = (
    "Once upon a time",
    "The little boy looked out of the window and",
    '"Where have you been?" asked his mother.',
    "It was raining, so",
    "The old king had three",
)
MASKED_SENTENCES = (
    "The cat sat on the [MASK].",
    "She drank a glass of [MASK].",
    "The children [MASK] in the garden all afternoon.",
    "Anna lost [MASK] umbrella on the train.",
    '"Good [MASK]," said the teacher, and the children sat down.',
)
SAMPLE_COUNT, TEXT_SAMPLE_COUNT = 10, 20  # of the answers of a generated task, and of a task on texts
MAX_NEW_TOKENS, TEMPERATURE, TOP_P = 60, 0.8, 0.95


def model_card(checkpoint: Checkpoint, report: Report) -> str:
    """All sections, each under a heading."""
    parts = ["## Measured"] if report.texts or report.cloze or report.examples else []
    parts += [format_markdown(report)] if report.texts else []
    for result in report.cloze:
        parts += [cloze_sentence(result), *_missed_sentences(result.misses)]
    if isinstance(report.examples, ExampleAccuracy):
        return "\n\n".join([*parts, *_task_sections(checkpoint, report.examples)]) + "\n"
    if report.examples:
        shown = report.hand_written or report.examples  # a card avoids repeating texts of other authors
        samples = shown.samples[:TEXT_SAMPLE_COUNT]
        intro = f"The first {len(samples)} of the {shown.kind}, unedited."
        return "\n\n".join([*parts, *task_sentences(report), "## Answers", intro, sample_table(samples)]) + "\n"
    parts += ["## What the heads attend to", _head_table(rank_heads(checkpoint), len(SENTENCES))]
    continues = task_of(checkpoint.model.config).continues_text
    parts += _continuations(checkpoint) if continues else _mask_predictions(checkpoint)
    return "\n\n".join(parts) + "\n"


def _task_sections(checkpoint: Checkpoint, accuracy: ExampleAccuracy) -> list[str]:
    """The answers of a model of a generated task, and the attention of its heads in the same texts."""
    examples = GENERATED_TASKS[accuracy.task].held_out_examples(REPORT_SEED, SAMPLE_COUNT)
    parts = accuracy.sentences()
    if not checkpoint.model.config.has_cross_attention:
        continues = task_of(checkpoint.model.config).continues_text
        texts = [f"{one.text} {one.answer}" if continues else one.text for one in examples]
        parts += ["## What the heads attend to", _head_table(rank_heads(checkpoint, texts), SAMPLE_COUNT)]
    samples = []
    for example in examples:
        tokens = len(checkpoint.tokenizer.encode_batch([example.answer])[0])
        given = answer(checkpoint, example, tokens + checkpoint.model.config.has_cross_attention)
        samples.append(Sample(str(example.drawing or example.text), given, (example.answer,)))
    intro = f"The first {SAMPLE_COUNT} of the held-out examples, unedited."
    return [*parts, "## Answers", intro, sample_table(samples, accuracy.read)]


def _missed_sentences(misses: Sequence[ClozeAnswer]) -> list[str]:
    lines = [
        f"- {_inline_code(answer.sentence.text)}: {', '.join(map(_inline_code, answer.guesses))}" for answer in misses
    ]
    return ["Missed, with the first five guesses:", "\n".join(lines)] if lines else []


def _head_table(found: Sequence[HeadRanking], text_count: int) -> str:
    lines = [
        f"Layer.head, counted from 0, with the mean over {text_count} texts (`headlight.analysis.head_metrics` "
        "defines the metrics), beside a head that attends uniformly. The example is the text in which the metric "
        "of the first head is most extreme, with its value there.",
        "",
        "| attends to | heads | uniform | example | value |",
        "|---|---|---:|---|---:|",
    ]
    for finding in found:
        metric = HEAD_METRICS[finding.metric]
        heads = ", ".join(
            f"{layer}.{head} ({_format_value(finding.metric, mean)})" for layer, head, mean in finding.top_heads
        )
        which = {"entropy": "lowest entropy", "distance": "largest distance"}.get(finding.metric, metric.description)
        uniform, example = (
            _format_value(finding.metric, value) for value in (finding.uniform_value, finding.example_value)
        )
        lines.append(f"| {which} | {heads} | {uniform} | {finding.example} | {example} |")
    return "\n".join(lines)


def _format_value(metric: str, value: float) -> str:
    unit = HEAD_METRICS[metric].unit
    return f"{value:.2f} {unit}" if unit else f"{value:.0%}"


def _continuations(loaded: Checkpoint) -> list[str]:
    """Five continued texts, each with its own seed."""
    settings = f"Unedited; temperature {TEMPERATURE}, top-p {TOP_P}, at most {MAX_NEW_TOKENS} tokens, seeds 0 to 4."
    lines = []
    vocabulary_size = loaded.tokenizer.vocabulary_size
    for seed, prompt in enumerate(PROMPTS):
        steps = generate(
            loaded.model,
            loaded.tokenizer,
            prompt,
            steps=MAX_NEW_TOKENS,
            temperature=TEMPERATURE,
            top_p=TOP_P,
            seed=seed,
            keep=("logits",),
        )
        continuation = loaded.tokenizer.decode(
            step.chosen_token for step in steps if step.chosen_token < vocabulary_size
        )
        lines.append(f"{seed}. **{prompt}**{_escape_markdown(continuation)}")
    return ["## Continuations", settings, "\n".join(lines)]


def _mask_predictions(loaded: Checkpoint) -> list[str]:
    """Five sentences with a mask and the likeliest tokens."""
    lines = []
    for sentence in MASKED_SENTENCES:
        (position,) = prediction_positions(
            loaded.model, loaded.tokenizer, encode_input(loaded.model, loaded.tokenizer, sentence)
        )
        traced = run(loaded.model, loaded.tokenizer, sentence, keep=("logits",))
        guesses = candidates(traced, loaded.tokenizer, position)
        tokens = ", ".join(f"{_inline_code(guess.token)} {guess.probability:.0%}" for guess in guesses)
        lines.append(f"- {_inline_code(sentence)}: {tokens}")
    return ["## Masks filled", "\n".join(lines)]


def _inline_code(text: str) -> str:
    """Text, possibly with backticks, as Markdown code."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _escape_markdown(text: str) -> str:
    """A continuation on one line, with Markdown's own characters escaped."""
    escaped = "".join(f"\\{character}" if character in "\\`*_[]<>#|" else character for character in text)
    return " / ".join(escaped.splitlines())
