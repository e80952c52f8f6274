"""The Generate page: a text that grows token by token, and the attention of each step."""

from __future__ import annotations

from functools import partial

import msgspec
import streamlit as st
from msgspec import structs

from headlight.config import Config
from headlight.tasks import task_of
from headlight_app.contract.question import Question
from headlight_app.contract.state import State
from headlight_app.engine.client import ask
from headlight_app.engine.models import AvailableModel
from headlight_app.export.page import shared_state
from headlight_app.generate.contract import GeneratePageAnswer, GeneratePageRequest, GenerateReport
from headlight_app.state.requirement import Requirement
from headlight_app.state.session import apply_reports, report_serial
from headlight_app.state.url import (
    decode_generated,
    decode_sampling,
    encode_generated,
    encode_sampling,
    encode_state,
)
from headlight_app.state.variants import reads_pair
from headlight_app.ui import export_menu, signal_gallery
from headlight_app.ui.component import API, VIEW_STYLES, Component, Data, shared_styles
from headlight_app.ui.models_link import models_link

TITLE, ICON, PATH = "Generate", ":material/stylus_note:", "generate"
COMPONENT = Component(
    "generate",
    html="generate/frontend/generate.html",
    styles=(*VIEW_STYLES, *shared_styles("generate/frontend/generate.css"), export_menu.STYLE, signal_gallery.STYLE),
    parts=(export_menu.export_menu(), signal_gallery.signal_gallery()),
)
QUESTION_FIELDS = ("model", "variant", "device", "measure")
STATE_FIELDS = ("image", "chat", "masked_positions", "edits", "patch_from", "attention", "layer", "head", "blend")


def required(state: State) -> Requirement:
    """The requirement of the page on its model."""
    return Requirement("writes", lambda config: task_of(config).generates)


def show(state: State, entry: AvailableModel) -> None:
    """The page."""
    task = task_of(entry.config)
    if not task.generates:
        st.info(f"{entry.title} {task.no_generation}. Open a model that writes on the page Models.")
        models_link(encode_state(state))
        return
    request = GeneratePageRequest(model=state.model, device=state.device, source=state.source, image=state.image)
    known = ask(request).answer
    example = known.examples[0]
    state = state if known.reads_chat else state.change(chat="")
    question = state.question(example.text, example.source)
    data = _component_data(state.with_default_head(known.default_head), entry, question, known)
    told = {"sampling": data["sampling"], "generated": data["generated"], **data["state"]}
    read = partial(_read_report, question, told)
    apply_reports(COMPONENT.key, example.text, example.source, read, known.default_head)
    COMPONENT.mount(data)
    if state.text_pair and reads_pair(entry.config):
        st.info("Generate does not read the second text of Explore.", icon=":material/splitscreen:")


def _component_data(state: State, entry: AvailableModel, question: Question, known: GeneratePageAnswer) -> Data:
    """The component's data from Streamlit."""
    return prompt_data(state, entry.config, question, known) | {
        "api": API,
        "serial": report_serial(),
        "presenter": state.presenter,
        "shared": shared_state(PATH, state),
    }


def prompt_data(state: State, config: Config, question: Question, known: GeneratePageAnswer) -> Data:
    """The choices, and what is known about the model before the first answer."""
    choice = {name: getattr(state, name) for name in STATE_FIELDS} | {"text": question.text, "source": question.source}
    data: Data = msgspec.to_builtins(
        {
            "mode": "fill" if task_of(config).fills_masks else "continue",
            "state": choice,
            "sampling": decode_sampling(state.sampling),
            "generated": decode_generated(question, state.generated),
            "settings": {name: getattr(question, name) for name in QUESTION_FIELDS},
            "has_source": config.reads_source_text,
            "examples": known.examples,
            "languages": known.languages,
            "reads_chat": known.reads_chat,
            "images": known.images,
            "hears": config.reads_sound,
        }
    )
    return data


def _read_report(question: Question, told: Data, report: Data, state: State) -> Data:
    """The component's report as choices; generated tokens belong to their text."""
    report = told | report
    said = msgspec.convert(report, GenerateReport)
    fields = ("text", "source", "image", "chat", "masked_positions")
    asked = structs.replace(question, **{name: getattr(said, name) for name in fields})
    return report | {"sampling": encode_sampling(said.sampling), "generated": encode_generated(asked, said.generated)}
