"""The Compare page: two texts, models, masks or positional encodings side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import msgspec
import streamlit as st

from headlight_app.compare.contract import ComparePageRequest, ModelRow
from headlight_app.contract.difference import Difference
from headlight_app.contract.state import MAX_ADDRESS_LENGTH, State
from headlight_app.engine.client import ask
from headlight_app.engine.models import AvailableModel, available_models, own_titles, trained_with
from headlight_app.export.page import shared_state
from headlight_app.state.session import apply_reports, report_serial
from headlight_app.state.url import decode_side_b, encode_side_b
from headlight_app.state.variants import reads_pair, trained_variant
from headlight_app.ui import export_menu
from headlight_app.ui.component import API, VIEW_STYLES, Component, Data, shared_styles

TITLE, ICON, PATH = "Compare", ":material/balance:", "compare"
CHOOSES_HEAD = True  # one that differs much, until a person chooses another
COMPONENT = Component(
    "compare",
    html="compare/frontend/compare.html",
    styles=(*VIEW_STYLES, *shared_styles("compare/frontend/compare.css"), export_menu.STYLE),
    parts=(export_menu.export_menu(),),
)
QUESTION_FIELDS = ("model", "image", "text_pair", "chat", "variant", "device", "measure")
STATE_FIELDS = ("masked_positions", "edits", "patch_from", "attention", "layer", "head", "query")
MAX_OTHERS = 2  # models that presets compare the open one with


def show(state: State, entry: AvailableModel) -> None:
    """The page."""
    models, titles = available_models(), own_titles()
    side_b = decode_side_b(state.side_b)
    linked = side_b.model if side_b else ""
    offered = [each for each in models if each.config.modalities == entry.config.modalities or each.name == linked]
    known = ask(_page_request(state, entry, models, titles)).answer
    example = known.example
    state = state if reads_pair(entry.config) else state.change(text_pair="")
    state = state if known.reads_chat else state.change(chat="")
    question = state.question(example.text, example.source)
    choice = {name: getattr(state, name) for name in STATE_FIELDS} | {"text": question.text, "source": question.source}
    data = {
        "presets": known.presets,
        "parts": known.parts,
        "alignments": known.alignments,
        "mask_arguments": known.mask_arguments,
        "api": API,
        "models": [_model_row(each, models, titles) for each in offered],
        "state": choice,
        "side_b": known.default_side_b if side_b is None else side_b,
        "settings": {name: getattr(question, name) for name in QUESTION_FIELDS},
        "serial": report_serial(),
        "presenter": state.presenter,
        "shared": shared_state(PATH, state),
    }
    apply_reports(COMPONENT.key, example.text, example.source, partial(_read_report, known.default_side_b))
    COMPONENT.mount(msgspec.to_builtins(data))
    if state.chat:
        st.info(
            "Both texts are chats, as on Explore. A model without a chat template reads its text as it is typed.",
            icon=":material/forum:",
        )
    elif state.text_pair:
        st.info(
            "A side whose model is made for pairs also reads the second text of Explore.", icon=":material/splitscreen:"
        )
    if len(state.side_b) > MAX_ADDRESS_LENGTH:
        st.info("Text B is too long for an address; a copied link omits it.", icon=":material/link_off:")


def _page_request(
    state: State, entry: AvailableModel, models: Sequence[AvailableModel], titles: Mapping[str, str]
) -> ComparePageRequest:
    """The request for the page's first view, with the other models of the same modalities."""
    alike = [each.name for each in models if each.config.modalities == entry.config.modalities]
    others = [name for name in alike if name != entry.name][:MAX_OTHERS]
    return ComparePageRequest(
        model=state.model,
        device=state.device,
        source=state.source,
        image=state.image,
        others=tuple((name, titles.get(name, name)) for name in others),
        trained_models=tuple(trained_with(entry, models).items()),
    )


def _model_row(model: AvailableModel, models: Sequence[AvailableModel], titles: Mapping[str, str]) -> ModelRow:
    return ModelRow(
        name=model.name,
        title=titles.get(model.name, model.name),
        kind=model.kind,
        purpose=model.purpose,
        trained=trained_variant(model.config),
        has_source=model.config.reads_source_text,
        trained_models=trained_with(model, models),
    )


def _read_report(default_side_b: Difference, report: Data, state: State) -> Data:
    """The component's report as choices; the default difference is not written to the URL."""
    if "side_b" not in report:
        return report
    side_b = msgspec.convert(report["side_b"], Difference)
    return report | {"side_b": encode_side_b(side_b) if side_b != default_side_b else ""}
