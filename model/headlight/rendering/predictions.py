"""A model's predictions for the browser: the likeliest answers, before and after all changes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from headlight.array_types import Float
from headlight.config import Config
from headlight.problem_types import problem_type_name, problem_type_of
from headlight.tasks import label_text, task_of
from headlight.text.tokenizer import Encoded, Tokenizer
from headlight.tracing.trace import Trace
from headlight.vision.patches import EncodedImage

MAX_CANDIDATES = 10  # candidates per prediction
Answers = Callable[[int], Float[np.ndarray, " answer"]]  # the logit of every answer at one position


def predictions_json(
    trace: Trace, tokenizer: Tokenizer, query: int, after: Answers, before: Answers | None = None
) -> list[dict[str, Any]]:
    """The predictions at `query`, or at each masked token; `before` gives the logits before all changes.

    The numbers of a candidate are probabilities, or scores, as the `problem_type` says; `score` is the logit of a label
    with a probability of its own. Empty if the model has no output head, or if its numbers are not finite.
    """
    task, problem_type = task_of(trace.config), problem_type_of(trace.config)
    if not task.predicts:
        return []
    positions = predicted_positions(trace.config, trace.text, tokenizer.mask_id, query)
    is_asked = task.predicts_labels or not task.fills_masks or tokenizer.mask_id in trace.text.ids
    title = task.prediction_title if is_asked else "Nothing is masked"
    in_words = partial(label_text, trace.config) if task.predicts_labels else tokenizer.token_text
    found = []
    for position in positions:
        logits = after(position)
        logits_before = before(position) if before else logits
        now, was = problem_type.values(logits), problem_type.values(logits_before)
        compared = (logits_before, logits) if problem_type.has_scores else (was, now)
        if not np.isfinite(compared).all():
            return []
        preposition, token_text = answer_place(trace, position)
        candidates = [
            {"text": in_words(token), "id": token, "before": float(was[token]), "after": float(now[token])}
            | ({"score": float(logits[token])} if problem_type.has_scores and problem_type.is_probability else {})
            for token in _likeliest(*compared)
        ]
        place = {"position": position, "title": title, "preposition": preposition, "token_text": token_text}
        meaning = {"problem_type": problem_type_name(trace.config), "lesson": problem_type.lesson}
        found.append({**place, **meaning, "candidates": candidates})
    return found


def predicted_positions(config: Config, text: Encoded, mask_id: int | None, query: int) -> tuple[int, ...]:
    """The positions of a text's predictions: each masked token, else `query`; 0 for the label of a whole text."""
    task, last = task_of(config), len(text.ids) - 1
    if task.whole_text:
        return (0,)
    masked = task.prediction_positions(text.ids, mask_id) if task.fills_masks else ()
    return masked or (query if 0 <= query <= last else last,)


def answer_place(trace: Trace, position: int) -> tuple[str, str | None]:
    """The words before the token of an answer, and the token; None if the answer is about the whole text."""
    task = task_of(trace.config)
    if not task.whole_text:
        return task.preposition, trace.text.token_texts[position]
    if isinstance(trace.text, EncodedImage):
        return "of the whole image", None
    return "of both texts" if trace.text.text_pair else task.preposition, None


def _likeliest(before: Float[np.ndarray, " answer"], after: Float[np.ndarray, " answer"]) -> list[int]:
    """The candidates with the largest numbers before or after the changes, sorted by the number after.

    Among equal ones the earlier are kept.
    """
    larger = np.maximum(before, after)
    count = min(MAX_CANDIDATES, len(larger))
    least = np.partition(larger, -count)[-count]
    top = np.concatenate([np.flatnonzero(larger > least), np.flatnonzero(larger == least)])[:count]
    return sorted(map(int, top), key=lambda answer: (-after[answer], -before[answer], answer))
