"""The Compare page: two texts, models, masks or positional encodings side by side."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

import streamlit as st

from app.engine.client import ask
from app.engine.models import AvailableModel, available_models, own_titles, trained_with
from app.state.session import apply_reports, report_serial
from app.state.state import AS_TRAINED, MAX_ADDRESS_LENGTH, State, variant_fields
from app.state.url import decode_side_b, encode_side_b
from app.ui import export_menu
from app.ui.component import Component, api_address, shared_styles

TITLE, ICON, PATH = "Compare", ":material/balance:", "compare"
COMPONENT = Component(
    "compare",
    module="app/compare/frontend/main.js",
    html="app/compare/frontend/compare.html",
    styles=(*shared_styles("app/compare/frontend/compare.css"), export_menu.STYLE),
    parts=(export_menu.export_menu(),),
)
QUESTION_FIELDS = ("model", *AS_TRAINED, "device")
STATE_FIELDS = ("masked_positions", "edits", "attention", "layer", "head", "query")


def show(state: State, entry: AvailableModel) -> None:
    """The page."""
    models, titles = available_models(), own_titles()
    alike = [each for each in models if each.config.modalities == entry.config.modalities]
    known, _ = ask(
        "compare_page",
        asdict(state)
        | {"titles": {each.name: titles.get(each.name, each.name) for each in alike}}
        | {"trained_models": trained_with(entry, models)},
    )
    example, default_side_b = known.pop("example"), _tuples(known.pop("default_side_b"))
    question = asdict(state.question(example["text"], example["source"]))
    side_b = decode_side_b(state.side_b)
    choice = {name: getattr(state, name) for name in STATE_FIELDS} | {
        name: question[name] for name in ("text", "source")
    }
    data = known | {
        "api": api_address(),
        "models": [
            {
                "name": each.name,
                "title": titles.get(each.name, each.name),
                "kind": each.kind,
                "purpose": each.purpose,
                "trained": variant_fields(each.config) | {"has_source": each.config.reads_source_text},
                "trained_models": trained_with(each, models),
            }
            for each in models
        ],
        "state": choice,
        "side_b": default_side_b if side_b is None else side_b,
        "settings": {name: question[name] for name in QUESTION_FIELDS},
        "serial": report_serial(),
        "presenter": state.presenter,
    }
    apply_reports(COMPONENT.key, example["text"], example["source"], partial(_read_report, default_side_b))
    COMPONENT.mount(data)
    if len(state.side_b) > MAX_ADDRESS_LENGTH:
        st.info("Text B is too long for an address; a copied link leaves it out.", icon=":material/link_off:")


def _read_report(default_side_b: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    """What the component reported as choices; the default difference is not written to the URL."""
    if "side_b" not in report:
        return report
    side_b = _tuples(report["side_b"])
    return report | {"side_b": encode_side_b(side_b) if side_b != default_side_b else ""}


def _tuples(values: dict[str, Any]) -> dict[str, Any]:
    """The same with tuples for the lists of JSON."""
    return {name: tuple(item) if isinstance(item, list) else item for name, item in values.items()}
