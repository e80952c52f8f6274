"""Everything that the answers of a live page need to know about a model besides its numbers (answers/types.ts)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import msgspec

from headlight.analysis.head_metrics import HEAD_METRICS
from headlight.attention_groups import attention_groups
from headlight.checkpoints import Checkpoint
from headlight.config import Config
from headlight.errors import HeadlightError
from headlight.nn.hooks import HOOK_POINTS
from headlight.nn.masks import MASKS
from headlight.problem_types import problem_type_name, problem_type_of
from headlight.rendering.html import MAX_THUMBNAIL_SIDE
from headlight.rendering.predictions import MAX_CANDIDATES
from headlight.rendering.show import NOWHERE
from headlight.tasks import task_of
from headlight.text.tokenizer import Tokenizer
from headlight.tracing import inputs
from headlight.tracing.interventions import EDIT_OPERATIONS, EDIT_SYNTAX, MAX_MAGNITUDE
from headlight.tracing.trace import NOT_FINITE, OVERFLOW
from headlight.tracing.transformer_lens import paths_by_name
from headlight_app.contract.question import Question
from headlight_app.contract.state import HeadChoice
from headlight_app.explore.answers.head_view import MAX_CELLS
from headlight_app.explore.answers.heads import HEAD_MATRIX_HOOK_POINTS
from headlight_app.explore.answers.quantities import QUANTITIES, Quantity, has_residual
from headlight_app.explore.answers.token_filter import HIDDEN_TOKEN_TITLES
from headlight_app.inference.attention_payload import MAX_LOSS_PRODUCTS, MAX_METRIC_CELLS
from headlight_app.inference.choices import variant_choices
from headlight_app.inference.resolved_question import MAX_WEIGHTS_BYTES, reads_chat
from headlight_app.live.generation_facts import generation_facts
from headlight_app.live.step_forms import step_forms
from headlight_app.state.variants import pools, reads_pair, trained_variant

Facts = dict[str, Any]

# What is read and computed at once, by the names in answers/types.ts.
LIMITS: Mapping[str, float] = {
    "characters": inputs.MAX_CHARACTERS,
    "prefix_characters": inputs.PREFIX_CHARACTERS,
    "characters_per_token": inputs.CHARACTERS_PER_TOKEN,
    "cut_characters": inputs.CUT_CHARACTERS,
    "weights_bytes": MAX_WEIGHTS_BYTES,
    "metric_cells": MAX_METRIC_CELLS,
    "loss_products": MAX_LOSS_PRODUCTS,
    "view_cells": MAX_CELLS,
    "edit_magnitude": MAX_MAGNITUDE,
}
TASK_FIELDS = (
    *("predicts", "predicts_labels", "whole_text", "fills_masks", "continues_text"),
    *("prediction_title", "preposition", "no_prediction"),
)
QUANTITY_FIELDS = ("title", "description", "signed", "scale", "additive", "of_all_heads")


def model_facts(checkpoint: Checkpoint, name: str) -> Facts:
    """The facts of a decoder or encoder that reads texts, as JSON; `name` is the model's in questions."""
    config, tokenizer = checkpoint.model.config, checkpoint.tokenizer
    return {
        **_registries(config),
        "question": msgspec.to_builtins(Question(model=name)),
        "choice": msgspec.to_builtins(HeadChoice()),
        "context": config.context_length,
        "vocabulary_size": config.vocabulary_size,
        "d_model": config.d_model,
        "groups": [asdict(group) for group in attention_groups(config)],
        "has_sinks": config.attention.sinks,
        "has_residual": has_residual(config),
        "recurrence_note": config.recurrence.describe(),
        "trained": msgspec.to_builtins(trained_variant(config)),
        "reads_pair": reads_pair(config),
        "reads_chat": reads_chat(checkpoint),
        "reads_segments": config.embedding.segments > 1 and tokenizer.gives_segments,
        "pools": pools(config),
        "task": {field: getattr(task_of(config), field) for field in TASK_FIELDS},
        "generation": generation_facts(checkpoint),
        "labels": list(config.labels),
        "problem_type": _problem_type(config),
        "tokenizer": _tokenizer(tokenizer),
        "steps": step_forms(checkpoint),
        "transformer_lens": paths_by_name(config),
        "quantities": {name: _quantity(row, config) for name, row in QUANTITIES.items()},
        "limits": dict(LIMITS),
    }


def _registries(config: Config) -> Facts:
    """The rows that the answers read, and sentences that Python and the page share."""
    return {
        "parts": {field: {"title": title, "names": names} for field, (title, names) in variant_choices().items()},
        "masks": {
            name: {"title": row.title, "control": row.argument.control if row.argument else "", "inverts": row.inverts}
            for name, row in MASKS.items()
        },
        "hook_points": {name: {"axes": row.axes, "title": row.title} for name, row in HOOK_POINTS.items()},
        "operations": {
            name: {"takes_number": row.takes_number, "hook_points": row.hook_points}
            for name, row in EDIT_OPERATIONS.items()
        },
        "matrix_hook_points": HEAD_MATRIX_HOOK_POINTS,
        "metrics": list(HEAD_METRICS),
        "hidden_token_titles": HIDDEN_TOKEN_TITLES,
        "nowhere": NOWHERE,
        "max_thumbnail_side": MAX_THUMBNAIL_SIDE,
        "max_candidates": MAX_CANDIDATES,
        "sentences": {"not_finite": NOT_FINITE, "overflow": OVERFLOW, "edit_syntax": EDIT_SYNTAX},
    }


def _quantity(row: Quantity, config: Config) -> Facts:
    """A quantity, and why it cannot be computed in the model, or nothing."""
    groups, refusal = attention_groups(config), ""
    try:
        row.require(config)
    except HeadlightError as error:
        refusal = str(error)
    note = row.note(config, groups[0]) if groups else ""
    return {field: getattr(row, field) for field in QUANTITY_FIELDS} | {"note": note, "refusal": refusal}


def _problem_type(config: Config) -> Facts:
    row = problem_type_of(config)
    return {"name": problem_type_name(config)} | {
        field: getattr(row, field) for field in ("lesson", "has_scores", "is_probability")
    }


def _tokenizer(tokenizer: Tokenizer) -> Facts:
    end = tokenizer.end_id
    return {
        "special_ids": sorted(tokenizer.special_ids),
        "unknown_id": tokenizer.unknown_id,
        "end_token": "" if end is None else tokenizer.from_ids((end,), "").tokens[0],
        "longest_token": tokenizer.longest_token,
    }
