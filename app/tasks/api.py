"""What the views of the Tasks page ask: the labels of all tokens, and the beams of a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.state.request import integer_or_zero, parse_question
from app.state.state import MAX_BEAMS
from app.ui.wire_format import pack
from app.worker.resolved_question import ResolvedQuestion, resolve
from model.array_types import Float
from model.cancellation import check_cancelled
from model.errors import TextError
from model.generation.beam_search import LENGTH_PENALTY, Hypothesis, beam_search
from model.tasks import label_text, task_of
from model.text.tokenizer import Tokenizer

LABELS_PER_TOKEN = 3
MAX_STEPS = 64  # tokens that a search writes


def handle_token_labels(body: dict[str, Any]) -> bytes:
    """The likeliest labels of every token, with their probabilities as trained and now."""
    resolved = resolve(parse_question(body))
    task = task_of(resolved.config)
    if not task.predicts_labels or task.whole_text:
        raise TextError("This model gives tokens no labels.")
    after = _label_shares(resolved)
    before = _label_shares(resolved.as_trained) if resolved.is_changed else after
    count = min(LABELS_PER_TOKEN, after.shape[1])
    order = np.argsort(-after, axis=1, kind="stable")[:, :count]
    rows = [
        [
            {
                "id": int(label),
                "text": label_text(resolved.config, int(label)),
                "before": float(before[position, label]),
                "after": float(after[position, label]),
            }
            for label in labels
        ]
        for position, labels in enumerate(order)
    ]
    trained = [label_text(resolved.config, int(label)) for label in before.argmax(1)]
    return pack({"labels": rows, "as_trained": trained, "changed": resolved.is_changed})


def _label_shares(resolved: ResolvedQuestion) -> Float[np.ndarray, "token label"]:
    logits = resolved.value("logits").astype(np.float64)
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    shares: np.ndarray = exponentials / exponentials.sum(-1, keepdims=True)
    return shares


def handle_beam_search(body: dict[str, Any]) -> bytes:
    """The beams that are kept after each step, each with the number of the beam that it continues; and the texts.

    What is written begins anew, under the question's edits and variant.
    """
    resolved = resolve(parse_question(body | {"text": ""}))
    width = min(max(integer_or_zero(body.get("beam_width")), 1), MAX_BEAMS)
    steps: list[list[dict[str, Any]]] = []
    kept: tuple[Hypothesis, ...] = (Hypothesis(),)
    question = resolved.question
    source = question.source if resolved.config.has_cross_attention else None
    search = beam_search(
        resolved.model, resolved.tokenizer, "", question.edits, source=source, beams=width, steps=MAX_STEPS
    )
    for beams in search:
        check_cancelled()
        steps.append([_beam_payload(beam, kept, resolved.tokenizer) for beam in beams])
        kept = beams
    texts = [_written_text(beam, resolved.tokenizer) for beam in kept]
    return pack({"steps": steps, "texts": texts, "length_penalty": LENGTH_PENALTY})


def _beam_payload(beam: Hypothesis, previous: Sequence[Hypothesis], tokenizer: Tokenizer) -> dict[str, Any]:
    """A beam as one token after another beam; one that was finished before continues itself without a token."""
    rests = beam in previous
    parent = previous.index(beam) if rests else [one.tokens for one in previous].index(beam.tokens[:-1])
    return {
        "parent": parent,
        "token": "" if rests else tokenizer.token_text(beam.tokens[-1]),
        "log_probability": beam.log_probability,
        "score": beam.score(LENGTH_PENALTY),
        "finished": beam.is_finished,
    }


def _written_text(beam: Hypothesis, tokenizer: Tokenizer) -> str:
    return tokenizer.decode(beam.tokens[:-1] if beam.is_finished else beam.tokens)
