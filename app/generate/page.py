"""Generate: a text that grows token by token, and what each step looked at."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

import streamlit as st

from app.engine.client import ask
from app.engine.models import AvailableModel
from app.generate.request import GenerationRequest, SamplingSettings
from app.state.request import parse_request
from app.state.requirement import Requirement
from app.state.session import apply_reports, report_serial
from app.state.state import AS_TRAINED, Question, State
from app.state.url import decode_generated, decode_sampling, encode_generated, encode_sampling
from app.ui import export_menu
from app.ui.component import Component, api_address, shared_styles
from model.tasks import task_of

TITLE, ICON, PATH = "Generate", ":material/stylus_note:", "generate"
COMPONENT = Component(
    "generate",
    module="app/generate/frontend/main.js",
    html="app/generate/frontend/generate.html",
    styles=(*shared_styles("app/generate/frontend/generate.css"), export_menu.STYLE),
    parts=(export_menu.export_menu(),),
)
QUESTION_FIELDS = ("model", *AS_TRAINED, "device")
STATE_FIELDS = ("masked_positions", "edits", "attention", "layer", "head")


def required(state: State) -> Requirement:
    """What the page needs of its model."""
    return Requirement("writes", lambda config: task_of(config).generates)


def show(state: State, entry: AvailableModel) -> None:
    """The page."""
    task = task_of(entry.config)
    if not task.generates:
        st.info(f"{entry.title} {task.no_generation}. Open a model that writes on the page Models.")
        return
    known, _ = ask("generate_page", asdict(state))
    example = known["examples"][0]
    question = state.question(example["text"], example["source"])
    default_head = tuple(known.pop("default_head"))
    focused_state = state.with_default_head(default_head)
    data = _component_data(focused_state, entry, question, "fill" if task.fills_masks else "continue") | known
    read = partial(
        _read_report, question.model, {name: data[name] for name in ("sampling", "generated")} | data["state"]
    )
    apply_reports(COMPONENT.key, example["text"], example["source"], read, default_head)
    COMPONENT.mount(data)


def _component_data(state: State, entry: AvailableModel, question: Question, mode: str) -> dict[str, Any]:
    """What the component needs to know from Streamlit."""
    sampling, fields_of_question = decode_sampling(state.sampling), asdict(question)
    settings = SamplingSettings(sampling.temperature, sampling.top_k or 0, sampling.top_p or 1.0, sampling.seed)
    choice = {name: getattr(state, name) for name in STATE_FIELDS} | {"text": question.text, "source": question.source}
    return {
        "api": api_address(),
        "mode": mode,
        "state": choice,
        "sampling": asdict(settings),
        "generated": [list(pair) for pair in decode_generated(question, state.generated)],
        "settings": {name: fields_of_question[name] for name in QUESTION_FIELDS},
        "has_source": entry.config.reads_source_text,
        "serial": report_serial(),
        "presenter": state.presenter,
    }


def _read_report(model: str, told: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    """What the component reported as choices, beside what it was told before: generated tokens belong to their text."""
    report = told | report
    request = parse_request(GenerationRequest, report, "report")
    question = Question(model, report["text"], report["source"], masked_positions=tuple(report["masked_positions"]))
    return report | {
        "sampling": encode_sampling(request.sampling.config),
        "generated": encode_generated(question, request.generated),
    }
