"""The logit lens at some tokens: the likeliest answers after each layer, and what the tokens to predict are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headlight.analysis.lenses import logit_lens
from headlight.analysis.lenses.logit_lens import LensOutput
from headlight.analysis.lenses.tuned_lens import TunedLens
from headlight.array_types import Float, Int
from headlight.tasks import task_of
from headlight.tracing.inputs import encode_input
from headlight.tracing.trace import Trace
from headlight_app.explore.answers.layer_analysis import answer_number, answer_text, extended_trace
from headlight_app.inference.resolved_question import ResolvedQuestion

TOP_TOKENS = 5  # answers in a cell
MAX_LABELS = 10  # labels in a cell


@dataclass(frozen=True, eq=False)
class LensCells:
    """For each depth and column the likeliest answers with their probabilities (or scores), and the true token's rank.

    A column is a token from `first` on; a model that labels the whole text has a column for it in front. `targets` are
    the true tokens of the columns, -1 if not known: then the rank is 0.
    """

    resolved: ResolvedQuestion
    traced: Trace
    first: int
    answers: Int[np.ndarray, "depth column top_k"]
    numbers: Float[np.ndarray, "depth column top_k"]
    ranks: Int[np.ndarray, "depth column"]
    targets: tuple[int, ...]

    @property
    def has_whole(self) -> bool:
        """Whether the first column is the whole text."""
        return task_of(self.traced.config).whole_text

    @property
    def positions(self) -> tuple[int | None, ...]:
        """The position of each column's token; None for the whole text."""
        tokens = range(self.first, self.first + len(self.targets) - self.has_whole)
        return (None, *tokens) if self.has_whole else tuple(tokens)

    def text(self, depth: int, column: int, place: int = 0) -> str:
        """The text of one of the likeliest answers."""
        return self.token(int(self.answers[depth, column, place]))

    def token(self, answer: int) -> str:
        """The text of any answer."""
        return answer_text(self.traced, self.resolved.tokenizer, answer)

    def number(self, depth: int, column: int, place: int = 0) -> str:
        """The probability or score of one of the likeliest answers."""
        return answer_number(self.traced.config, float(self.numbers[depth, column, place]))


def lens_cells(resolved: ResolvedQuestion, tokens: slice, lens: TunedLens | None = None) -> LensCells:
    """The cells of some tokens. Raises ConfigError for a model without an output head."""
    logit_lens.require_output_head(resolved.model)
    traced = extended_trace(resolved)
    whole, targets = task_of(traced.config).whole_text, true_tokens(resolved, traced)
    found = [np.stack(each) for each in zip(*_depths(resolved, traced, targets, tokens, lens), strict=True)]
    shown = (*((-1,) if whole else ()), *targets[tokens])
    return LensCells(resolved, traced, tokens.start, found[0], found[1].astype(float), found[2], shown)


def _depths(
    resolved: ResolvedQuestion, traced: Trace, targets: tuple[int, ...], tokens: slice, lens: TunedLens | None
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The answers, their numbers and the ranks of each depth."""
    task, model = task_of(traced.config), resolved.model
    count = MAX_LABELS if task.predicts_labels else TOP_TOKENS
    for depth in range(traced.config.num_layers(traced.config.stacks[-1]) + 1):
        parts: list[LensOutput] = [logit_lens.lens_at(model, traced, depth, targets, count, tokens, lens)]
        if task.whole_text:
            parts.insert(0, logit_lens.lens_of_text(model, traced, depth, count))
        yield (
            np.concatenate([part.answers for part in parts]),
            np.concatenate([part.probabilities for part in parts]),
            np.concatenate([part.rank for part in parts]),
        )


def true_tokens(resolved: ResolvedQuestion, traced: Trace) -> tuple[int, ...]:
    """The token to predict at each position as typed, without masking by click; -1 where it is not known."""
    known = traced.text.ids
    if task_of(resolved.config).fills_masks:
        unmasked = encode_input(resolved.model, resolved.tokenizer, resolved.model_input)
        mask = resolved.tokenizer.mask_id
        known = tuple(
            -1 if special or token == mask else token
            for token, special in zip(unmasked.ids, unmasked.special_mask, strict=True)
        )
    return logit_lens.target_tokens(traced, known)
