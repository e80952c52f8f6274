"""What the Explore page needs to know of the model: examples, the first head, the registries' rows, and its charts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from app.explore.head_view import SHOWN, HeadView, head_view
from app.explore.quantities import QUANTITIES, quantity_json
from app.explore.tabs import ANALYSES, TABS, tabs_json
from app.state.request import parse_question, parse_state
from app.state.state import State
from app.ui.wire_format import pack, pack_arrays
from app.worker.attention_payload import predictions
from app.worker.examples import opening, opening_examples
from app.worker.export.pdf import writes_pdf
from app.worker.head_selection import default_head, selected_attention, selected_heads
from app.worker.open_models import find_model
from app.worker.resolved_question import ResolvedQuestion, resolve
from model.attention_groups import attention_groups
from model.errors import HeadlightError
from model.nn.attention_functions import ATTENTION_FUNCTIONS
from model.rendering.html import choices_json
from model.rendering.plots import COLOUR_RANGES, ColourRange
from model.tasks import task_of
from model.vision.shipped_images import shipped_image_names


def handle_page(body: dict[str, Any]) -> bytes:
    """All that the page shows before the first answer."""
    return pack(page_payload(parse_state(body)))


def page_payload(state: State) -> dict[str, Any]:
    """What the instrument shows of a state before the first answer."""
    entry = find_model(state.model)
    examples = opening_examples(entry, state.device)
    return {
        "examples": [asdict(example) for example in examples],
        "opening": asdict(opening(entry, state, examples[0])),
        "default_head": default_head(entry, state.device),
        "unknown_names": _unknown_names(state),
        "has_source": entry.config.has_cross_attention,
        "has_feed_forward": entry.config.has_feed_forward,
        "writes_target": entry.config.has_cross_attention and task_of(entry.config).continues_text,
        "images": list(shipped_image_names(entry.config)) if entry.config.reads_image else None,
        "quantities": [quantity_json(name) for name in QUANTITIES],
        "tabs": tabs_json(TABS),
        "analyses": tabs_json(ANALYSES),
        "attention_functions": [
            {"name": name, "has_temperature": row.has_temperature} for name, row in ATTENTION_FUNCTIONS.items()
        ],
        **choices_json(entry.config.modalities),
        "writes_pdf": writes_pdf(),
    }


def _unknown_names(state: State) -> list[str]:
    """The fields whose value is no row of its registry: in a link to another version."""
    registries: dict[str, Mapping[str, object]] = {"tab": TABS, "quantity": QUANTITIES, "analysis": ANALYSES}
    return [name for name, registry in registries.items() if getattr(state, name) not in registry]


def handle_charts(body: dict[str, Any]) -> bytes:
    """The chosen heads and the predictions as exact numbers; without `values` where there is no head to show."""
    resolved, state = resolve(parse_question(body)), parse_state(body)
    shown = {
        "predictions": [asdict(prediction) for prediction in predictions(resolved, state.query)],
        "changed": resolved.is_changed,
        "answers": "all labels" if task_of(resolved.config).predicts_labels else "the whole vocabulary",
    }
    try:
        return pack_arrays(*_head_chart(resolved, state, shown))
    except HeadlightError:
        return pack_arrays(shown, {})  # the picture above says why


def _head_chart(
    resolved: ResolvedQuestion, state: State, shown: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    if not attention_groups(resolved.config):
        return shown, {}
    view, heads = head_view(resolved, state), selected_heads(state, selected_attention(resolved.config, state))
    rows, columns = (
        {"labels": axis.labels, "positions": [tokens[0] for tokens in axis.tokens]}
        for axis in (view.rows, view.columns)
    )
    meta = shown | {
        "title": f"Layer {heads[0][0]}, head {heads[0][1]}" if len(heads) == 1 else f"{len(heads)} heads",
        "quantity": view.quantity.title,
        "rows": rows,
        "columns": columns,
        "limits": _colour_limits(view, COLOUR_RANGES[state.colour_range]),
        "signed": view.quantity.signed,
        "square_root_scale": view.quantity.scale != "linear",
        "rules": view.rules if view.rules[1:] or state.quantity != "weights" else (),
    }
    return meta, {"values": np.where(view.cell_states == SHOWN, view.values, np.nan)}


def _colour_limits(view: HeadView, colour_range: ColourRange) -> tuple[float, float]:
    """The numbers at the two ends of the colours; those of weights end where the page's do."""
    shown = view.values[view.cell_states == SHOWN]
    if colour_range.quantile is None or view.quantity.scale != "probability" or not shown.any():
        return view.colour_limits
    return 0.0, float(np.quantile(shown, colour_range.quantile, method="higher"))
