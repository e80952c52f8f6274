"""One of the two runs that are compared."""

from __future__ import annotations

from dataclasses import dataclass

from headlight.errors import HeadlightError, TextError
from headlight.tasks import task_of
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.inputs import encode_input
from headlight.tracing.trace import Trace
from headlight_app.contract.question import Question
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve

SIDE_NAMES = ("A", "B")
MAX_WEIGHTS = 1 << 26  # weights of all heads of one side: 12 x 12 heads at 680 tokens


@dataclass(frozen=True)
class Side:
    """One of the two runs."""

    resolved: ResolvedQuestion

    @property
    def trace(self) -> Trace:
        """The trace of the run."""
        return self.resolved.trace

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer."""
        return self.resolved.tokenizer

    def prediction_positions(self, query: int) -> tuple[int, ...]:
        """The positions whose predictions are shown: all masked tokens, else `query`; -1 is the last token."""
        ids, task = self.trace.text.ids, task_of(self.trace.config)
        if task.fills_masks and (masked_positions := task.prediction_positions(ids, self.tokenizer.mask_id)):
            return masked_positions
        return (query if 0 <= query < len(ids) else len(ids) - 1,)


def open_side(name: str, question: Question) -> Side:
    """One side of a request. Raises TextError, prefixed with the side's name, if it cannot be run."""
    try:
        resolved = resolve(question)
        _require_short_enough(resolved)
        return Side(resolved)
    except HeadlightError as error:
        raise TextError(f"{name}: {error}") from error


def _require_short_enough(resolved: ResolvedQuestion) -> None:
    config, count = resolved.config, len(encode_input(resolved.model, resolved.tokenizer, resolved.model_input).ids)
    if config.layers * config.heads * count**2 > MAX_WEIGHTS:
        longest = int((MAX_WEIGHTS / (config.layers * config.heads)) ** 0.5)
        raise TextError(
            f"The text has {count} tokens; all heads of this model are compared on at most {longest}. Shorten it."
        )
