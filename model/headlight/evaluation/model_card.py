"""The measured part of a model card, as Markdown: numbers, what the heads attend to, and samples."""

from __future__ import annotations

from collections.abc import Sequence

from headlight.analysis.head_metrics import HEAD_METRICS
from headlight.checkpoints import Checkpoint
from headlight.data.generated import GENERATED_TASKS
from headlight.evaluation.cloze import ClozeAnswer
from headlight.evaluation.example_accuracy import ExampleAccuracy, answer
from headlight.evaluation.head_survey import SENTENCES, HeadRanking, rank_heads
from headlight.evaluation.report import REPORT_SEED, Report, cloze_sentence, format_markdown, task_sentences
from headlight.evaluation.samples import Sample, sample_table
from headlight.generation.generate import generate
from headlight.tasks import task_of
from headlight.tracing.run import candidates, encode_input, prediction_positions, run

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
        shown = report.hand_written or report.examples  # a card repeats no texts of others where it need not
        samples = shown.samples[:TEXT_SAMPLE_COUNT]
        intro = f"The first {len(samples)} of the {shown.kind}, unedited."
        return "\n\n".join([*parts, *task_sentences(report), "## Answers", intro, sample_table(samples)]) + "\n"
    parts += ["## What the heads attend to", _head_table(rank_heads(checkpoint), len(SENTENCES))]
    continues = task_of(checkpoint.model.config).continues_text
    parts += _continuations(checkpoint) if continues else _mask_predictions(checkpoint)
    return "\n\n".join(parts) + "\n"


def _task_sections(checkpoint: Checkpoint, accuracy: ExampleAccuracy) -> list[str]:
    """What a model of a generated task answers, and what its heads attend to in the same texts."""
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
    """Text as Markdown code, whatever it contains."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _escape_markdown(text: str) -> str:
    """A continuation on one line, with Markdown's own characters escaped."""
    escaped = "".join(f"\\{character}" if character in "\\`*_[]<>#|" else character for character in text)
    return " / ".join(escaped.splitlines())
