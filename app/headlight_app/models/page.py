"""The Models page: all models that can be opened, and a form to upload a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from headlight.errors import HeadlightError
from headlight_app.access.settings import settings
from headlight_app.access.uploads import MAX_PER_VISITOR, VisitorCheckpoint, is_upload, upload_store
from headlight_app.access.visitor import current_visitor
from headlight_app.contract.state import State
from headlight_app.engine.client import ask
from headlight_app.engine.contract import ListedModel
from headlight_app.engine.models import AvailableModel, listed_models, own_models
from headlight_app.models.cards import card_html
from headlight_app.models.contract import ModelCardRequest, WeightReportRequest
from headlight_app.models.opening import Opening
from headlight_app.models.upload import open_path, upload_file, upload_folder
from headlight_app.models.well_known import WellKnown, may_download, missing
from headlight_app.state.session import select_model
from headlight_app.ui.markdown import escape_markdown, escaped_lines, safe_markdown
from headlight_app.ui.models_link import MODELS_ICON, MODELS_PATH, MODELS_TITLE

TITLE, ICON, PATH = MODELS_TITLE, MODELS_ICON, MODELS_PATH
STYLESHEET = Path(__file__).parent / "models.css"
FIRST_CARDS = 48  # cards shown before all are requested
SEARCH_FROM = 6  # a search is shown for more models than this
UPLOAD_METHODS = {"file": "Zip or GGUF", "folder": "Folder", "path": "Path or id"}
OPENING, UPLOAD_RESULT, UPLOADER_ROUND, SHOW_ALL = "_opening", "_upload_result", "_uploader_round", "_show_all_models"
CARD = "_model_card"
POLL_SECONDS = 1.0  # between two checks whether a checkpoint is open: each check redraws all cards


def show(state: State, entry: AvailableModel | None = None) -> None:
    """The page. It does not depend on the open model; there may be none."""
    st.html(STYLESHEET)
    st.title(TITLE)
    own, offered = own_models(), sorted(listed_models(), key=lambda card: bool(card.problem))
    _upload_form()
    known = missing((*own, *offered))
    _well_known(known)
    if own:
        st.subheader("Your models", anchor=False)
        st.caption(_describe_own(own))
        _card_grid(own, state)
    if own or known:
        st.subheader("Available models", anchor=False)
    if not offered:
        st.info("There is no model yet. Start with `headlight --models FOLDER`, or train one.")
    _card_grid(_search(offered), state)
    if CARD in st.session_state:  # Streamlit may handle two clicks in one run, which can open only one dialog
        _model_card_dialog(st.session_state.pop(CARD))


def _describe_own(own: Sequence[ListedModel]) -> str:
    """Who sees a visitor's models, and when they are deleted."""
    uploads = sum(is_upload(listed.name) for listed in own)
    megabytes = upload_store().visitor_limit >> 20
    sentences = [
        "Only your browser sees these.",
        f"Uploads are deleted when you leave; you may keep {MAX_PER_VISITOR}, {megabytes:,} MB together."
        if uploads
        else "",
        "Nothing on your disk is changed or deleted." if uploads < len(own) else "",
    ]
    return " ".join(filter(None, sentences))


def _upload_form() -> None:
    """Upload a checkpoint, or open one by its path, and show the outcome."""
    limits = settings()
    methods = [
        method
        for method in UPLOAD_METHODS
        if (method == "path" and not limits.shared) or (method != "path" and limits.upload_limit)
    ]
    if not methods:
        return
    _finish_opening()
    with st.container(border=True, key="upload"):
        left, right = st.columns([2, 3], gap="medium", vertical_alignment="center")
        with left:
            st.subheader("Open your own checkpoint", anchor=False)
            st.caption(
                "A folder with config.json, weights (.safetensors, .bin, .pt, .ckpt) and a tokenizer, or one .gguf "
                f"file. An upload may have up to {limits.upload_limit:,} MB. Only you see it, and no code in it is run."
            )
        with right:
            method = st.segmented_control(
                "Upload method",
                methods,
                default=methods[0],
                required=True,
                format_func=UPLOAD_METHODS.__getitem__,
                key="upload_method",
                label_visibility="collapsed",
            )
            {"file": _file_uploader, "folder": _folder_uploader, "path": _path_form}[method or methods[0]]()
        if _is_opening():
            _show_opening()
        else:
            _show_upload_result()


def _file_uploader() -> None:
    uploaded = st.file_uploader(
        "A .zip of the checkpoint, or a .gguf",
        type=["zip", "gguf"],
        key=f"file_{_uploader_round()}",
        disabled=_is_opening(),
    )
    if uploaded is not None and not _is_opening():
        _open_upload([uploaded], lambda: upload_file(uploaded.name, uploaded))


def _folder_uploader() -> None:
    uploaded = st.file_uploader(
        "The checkpoint's folder",
        accept_multiple_files="directory",
        key=f"folder_{_uploader_round()}",
        disabled=_is_opening(),
    )
    if uploaded and not _is_opening():
        _open_upload(uploaded, lambda: upload_folder({file.name: file for file in uploaded}))


def _path_form() -> None:
    with st.form("path", border=False, enter_to_submit=True):
        text = st.text_input(
            "Folder on this machine, or the id of a model on the Hugging Face Hub",
            placeholder=f"{Path.home() / 'my-model'}, or gpt2",
        )
        if st.form_submit_button("Open", disabled=_is_opening()):
            _open_upload([], lambda: open_path(text))


def _open_upload(files: Sequence[UploadedFile], open_checkpoint: Callable[[], VisitorCheckpoint]) -> None:
    """Begin to open a visitor's checkpoint, and rerun the page, which accepts no other upload until that is done."""
    st.session_state[OPENING] = Opening(files, open_checkpoint)
    st.rerun()


def _finish_opening() -> None:
    """Once a checkpoint is open, or has failed to open: keep the outcome, and empty the form for the next one."""
    opening = st.session_state.get(OPENING)
    if opening is None or not opening.is_done:
        return
    _release_memory(opening.files)
    st.session_state[UPLOAD_RESULT] = (opening.name, opening.problem)
    st.session_state[UPLOADER_ROUND] = _uploader_round() + 1  # an uploader with a new key is empty
    del st.session_state[OPENING]


@st.fragment(run_every=POLL_SECONDS)
def _show_opening() -> None:
    """Show that a checkpoint is being opened, until that is done."""
    opening = st.session_state.get(OPENING)
    if opening is None or opening.is_done:
        st.rerun()
    st.info("Checking and opening ...", icon="spinner")


def _release_memory(files: Sequence[UploadedFile]) -> None:
    """Free the memory in which Streamlit keeps uploaded files until the visitor leaves."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None or not exists():
        return
    manager = get_instance().uploaded_file_mgr
    for file in files:
        if isinstance(manager, MemoryUploadedFileManager):
            manager.remove_file(context.session_id, file.file_id)


def _show_upload_result() -> None:
    """The outcome of the last upload."""
    name, problem = st.session_state.get(UPLOAD_RESULT, ("", ""))
    if problem:
        st.error(escape_markdown(problem), icon=":material/error:")
    elif name:
        listed = next((card for card in (*own_models(), *listed_models()) if card.name == name), None)
        if listed:
            _show_success(listed)


def _show_success(listed: ListedModel) -> None:
    """How the weights were loaded, with a button to open the model in Explore."""
    try:
        report = ask(WeightReportRequest(model=listed.name)).answer
    except HeadlightError as error:  # it was evicted from memory meanwhile, and there is no room now
        st.warning(escape_markdown(str(error)), icon=":material/warning:")
        return
    with st.container(horizontal=True, vertical_alignment="center", key="upload_success"):
        st.success(escaped_lines([f"{listed.title} can be opened now.", *report.notes]), icon=":material/check_circle:")
        _open_button(listed.name, "Open in Explore", key="open_upload")
    if report.warning:
        st.warning(escape_markdown(report.warning), icon=":material/warning:")


def _is_opening() -> bool:
    return OPENING in st.session_state


def _uploader_round() -> int:
    number: int = st.session_state.get(UPLOADER_ROUND, 0)
    return number


def _search(offered: Sequence[ListedModel]) -> Sequence[ListedModel]:
    """The models that match the search; all if there are few."""
    if len(offered) <= SEARCH_FROM:
        return offered
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    query = left.text_input("Search", key="model_search", placeholder="name, family, licence ...", live=True) or ""
    kinds = list(dict.fromkeys(card.kind for card in offered))
    chosen = right.pills("Kind", kinds, selection_mode="multi", key="model_kinds", wrap=True)
    found = [
        card
        for card in offered
        if (not chosen or card.kind in chosen)
        and all(term in f"{card.title} {card.family} {card.licence}".lower() for term in query.lower().split())
    ]
    st.caption(f"{len(found)} of {len(offered)} models")
    return found


def _card_grid(shown: Sequence[ListedModel], state: State) -> None:
    visible = shown if st.session_state.get(SHOW_ALL) else shown[:FIRST_CARDS]
    with st.container(key="own_models" if any(card.own for card in shown) else "models"):
        for card in visible:
            with st.container(border=True, height="stretch", key=f"card {card.name}"):
                _draw_card(card, open_now=card.name == state.model)
    if len(visible) < len(shown):
        st.button(f"Show all {len(shown)}", on_click=lambda: st.session_state.update({SHOW_ALL: True}))


def _well_known(models: Sequence[WellKnown]) -> None:
    """Cards of models that are not here, with what they need, and a button if this server fetches them."""
    limits = settings()
    if not models or (not limits.upload_limit and limits.shared):
        return
    st.subheader("Well known, not here yet", anchor=False)
    with st.container(key="well_known"):
        for model in models:
            with st.container(border=True, height="stretch", key=f"card {model.hub_id}"):
                st.html(card_html(model.listed(limits), open_now=False, testid="well-known"))
                if may_download(limits) and st.button("Download", key=f"download {model.name}", disabled=_is_opening()):
                    _open_upload([], partial(open_path, model.hub_id))


def _draw_card(listed: ListedModel, *, open_now: bool) -> None:
    st.html(card_html(listed, open_now=open_now))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if not listed.problem:
            _open_button(listed.name, "Open", key=f"open {listed.name}")
        if listed.has_card:
            st.button("Model card", key=f"model_card {listed.name}", on_click=_choose_card, args=(listed,))
        if listed.own:
            label = "Remove" if is_upload(listed.name) else "Close"
            st.button(label, key=f"remove {listed.name}", on_click=_remove, args=(listed.name,))


def _open_button(name: str, label: str, key: str) -> None:
    st.button(label, icon=":material/arrow_forward:", key=key, on_click=select_model, args=(name,))


def _remove(name: str) -> None:
    """Delete an upload of this visitor, or close a folder that the visitor opened."""
    upload_store().remove(current_visitor(), name)


def _choose_card(listed: ListedModel) -> None:
    st.session_state[CARD] = listed


@st.dialog("Model card", width="medium")
def _model_card_dialog(listed: ListedModel) -> None:
    st.caption(escape_markdown(f"{listed.title}: as its author wrote it, without images."))
    st.markdown(safe_markdown(ask(ModelCardRequest(model=listed.name)).answer.text))
