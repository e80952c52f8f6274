"""The measured part of a model card, as Markdown: numbers, what the heads do, and what the model says by itself."""

from __future__ import annotations

from collections.abc import Sequence

from model.analysis.head_metrics import METRICS
from model.checkpoints import Loaded
from model.evaluation.cloze import Answer
from model.evaluation.head_survey import SENTENCES, Finding, findings
from model.evaluation.report import Report, hits, markdown
from model.generation.generate import generate
from model.tracing.run import asked, candidates, encode, run

OPENINGS = (
    "Once upon a time",
    "The little boy looked out of the window and",
    '"Where have you been?" asked his mother.',
    "It was raining, so",
    "The old king had three",
)
GAPS = (
    "The cat sat on the [MASK].",
    "She drank a glass of [MASK].",
    "The children [MASK] in the garden all afternoon.",
    "Anna lost [MASK] umbrella on the train.",
    '"Good [MASK]," said the teacher, and the children sat down.',
)
STEPS, TEMPERATURE, SHARE = 60, 0.8, 0.95


def card(loaded: Loaded, report: Report) -> str:
    """All parts, each under a heading."""
    parts = ["## Measured"] if report.texts or report.fill_in else []
    parts += [markdown(report)] if report.texts else []
    for result in report.fill_in:
        parts += [hits(result), *(_missed(result.misses) if not result.by else ())]
    parts += ["## What the heads do", _heads(findings(loaded))]
    parts += _continued(loaded) if loaded.model.config.top == "language" else _filled(loaded)
    return "\n\n".join(parts) + "\n"


def _missed(misses: Sequence[Answer]) -> list[str]:
    lines = [f"- {_code(answer.sentence.text)}: {', '.join(map(_code, answer.said))}" for answer in misses]
    return ["Missed, with the five guesses:", "\n".join(lines)] if lines else []


def _heads(found: Sequence[Finding]) -> str:
    lines = [
        f"Layer.head, counted from 0, with the mean over {len(SENTENCES)} sentences (`model/habits.py` says what each "
        "metric is), next to a head that looks at everything alike. The example is the sentence that shows the first "
        "of them best, with its value there.",
        "",
        "| looks at | heads | all alike | example | value |",
        "|---|---|---:|---|---:|",
    ]
    for finding in found:
        metric = METRICS[finding.metric]
        heads = ", ".join(f"{layer}.{head} ({_value(finding.metric, mean)})" for layer, head, mean in finding.best)
        which = {"entropy": "least spread", "distance": "farthest away"}.get(finding.metric, metric.title)
        even, shown = (_value(finding.metric, value) for value in (finding.even, finding.shown))
        lines.append(f"| {which} | {heads} | {even} | {finding.example} | {shown} |")
    return "\n".join(lines)


def _value(metric: str, value: float) -> str:
    unit = METRICS[metric].unit
    return f"{value:.2f} {unit}" if unit else f"{value:.0%}"


def _continued(loaded: Loaded) -> list[str]:
    """Five texts that the model goes on with, each from its own seed."""
    told = f"Unedited; temperature {TEMPERATURE}, the likeliest {SHARE:.0%}, at most {STEPS} tokens, seeds 0 to 4."
    lines = []
    for seed, opening in enumerate(OPENINGS):
        steps = generate(
            loaded.model, loaded.tokenizer, opening,
            steps=STEPS, temperature=TEMPERATURE, top_p=SHARE, seed=seed, keep=("logits",),
        )  # fmt: skip
        more = loaded.tokenizer.decode(step.chosen for step in steps if step.chosen < loaded.tokenizer.size)
        lines.append(f"{seed}. **{opening}**{_plain(more)}")
    return ["## Continuations", told, "\n".join(lines)]


def _filled(loaded: Loaded) -> list[str]:
    """Five sentences with a gap and the first guesses."""
    lines = []
    for sentence in GAPS:
        (place,) = asked(loaded.model, loaded.tokenizer, encode(loaded.model, loaded.tokenizer, sentence))
        traced = run(loaded.model, loaded.tokenizer, sentence, keep=("logits",))
        guesses = candidates(traced, loaded.tokenizer, place)
        told = ", ".join(f"{_code(guess.token)} {guess.probability:.0%}" for guess in guesses)
        lines.append(f"- {_code(sentence)}: {told}")
    return ["## Gaps filled", "\n".join(lines)]


def _code(text: str) -> str:
    """Text as it is, whatever it contains."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _plain(text: str) -> str:
    """A continuation on one line, with Markdown's own marks shown as themselves."""
    escaped = "".join(f"\\{character}" if character in "\\`*_[]<>#|" else character for character in text)
    return " / ".join(escaped.splitlines())
