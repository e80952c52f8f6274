"""What the views of the Tasks page ask: labels of all tokens, what a text's label rests on, the beams of a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.explore.layer_analysis import extended_trace, target_answer
from app.state.request import integer_or_zero, parse_question
from app.state.state import MAX_BEAMS
from app.ui.wire_format import pack
from app.worker.resolved_question import ResolvedQuestion, resolve
from model.analysis.head_ablation import ablate_heads, heads_per_batch
from model.analysis.token_ablation import ablate_tokens, require_text_classifier
from model.array_types import Float
from model.attention_groups import attention_groups
from model.cancellation import check_cancelled
from model.errors import TextError
from model.generation.beam_search import LENGTH_PENALTY, Hypothesis, beam_search
from model.nn.transformer import attention_at
from model.tasks import label_text, task_of
from model.text.tokenizer import Tokenizer

LABELS_PER_TOKEN = 3
MAX_LABELS = 1 << 18  # of all tokens together, in an export
SMALLEST_SHARE = 1e-7  # that float32 tells from none
MAX_STEPS = 64  # tokens that a search writes


def handle_token_labels(body: dict[str, Any]) -> bytes:
    """The likeliest labels of every token, with their probabilities as trained and now; `every_label` asks for all."""
    resolved = resolve(parse_question(body))
    task = task_of(resolved.config)
    if not task.predicts_labels or task.whole_text:
        raise TextError("This model gives tokens no labels.")
    after = _label_shares(resolved)
    before = _label_shares(resolved.as_trained) if resolved.is_changed else after
    wanted = MAX_LABELS // len(after) if body.get("every_label") is True else LABELS_PER_TOKEN
    count = min(wanted, after.shape[1])
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
    names = list(resolved.config.labels)
    return pack({"labels": rows, "as_trained": trained, "changed": resolved.is_changed, "names": names})


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
    search = beam_search(
        resolved.model, resolved.tokenizer, "", question.edits, source=resolved.source, beams=width, steps=MAX_STEPS
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


def handle_label_effects(body: dict[str, Any]) -> bytes:
    """The log-odds of a label of the whole text: as it is, without each token, and without each head.

    Numbers as float32: one, then [position], then [layer head]. `token` is the label, -1 the likeliest.
    """
    resolved = resolve(parse_question(body))
    model, traced = resolved.model, extended_trace(resolved)
    require_text_classifier(model)
    _, label, logits = target_answer(body, resolved)
    positions = [place for place, is_special in enumerate(traced.text.special_mask) if not is_special]
    group = attention_groups(resolved.config)[0] if attention_groups(resolved.config) else None
    layers, heads = (group.layers, group.heads) if group else (0, 0)
    without_heads = [
        _ablated_log_probabilities(resolved, group.path(layer), label) for layer in range(layers) if group is not None
    ]
    numbers = np.concatenate(
        [
            _log_odds(_log_softmax(logits[None]))[:, label],
            _log_odds(_log_softmax(ablate_tokens(model, traced, positions)))[:, label],
            *map(_log_odds, without_heads),
        ]
    )
    meta = {"label": label, "text": label_text(resolved.config, label), "positions": positions, "layers": layers,
            "heads": heads}  # fmt: skip
    return pack(meta, numbers.astype("<f4").tobytes())


def _ablated_log_probabilities(resolved: ResolvedQuestion, path: str, label: int) -> Float[np.ndarray, " head"]:
    """The log-probability of a label without each head of an attention."""
    model, traced = resolved.model, extended_trace(resolved)
    heads, batch = attention_at(model, path)[0].heads, heads_per_batch(traced)
    parts = []
    for first in range(0, heads, batch):
        check_cancelled()
        parts.append(ablate_heads(model, traced, path, 0, label, first, min(batch, heads - first)))
    return np.concatenate(parts).astype(np.float64)


def _log_softmax(logits: Float[np.ndarray, "row label"]) -> Float[np.ndarray, "row label"]:
    found: np.ndarray = logits.astype(np.float64) - np.logaddexp.reduce(logits.astype(np.float64), -1, keepdims=True)
    return found


def _log_odds(log_probabilities: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """log(p / (1 - p)), within what float32 tells apart."""
    other = np.maximum(-np.expm1(np.minimum(log_probabilities, 0.0)), SMALLEST_SHARE)
    found: np.ndarray = np.maximum(log_probabilities, np.log(SMALLEST_SHARE)) - np.log(other)
    return found
