"""Models: what can be opened here, and a way to bring a checkpoint of one's own."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from app.access.settings import settings
from app.access.uploads import Guest
from app.models.cards import KINDS, account, kind, markup, problem
from app.models.upload import bring_folder, bring_path, bring_zip
from app.services.model_listing import Card, cards
from app.services.traces import discard, own_cards
from app.state.session import choose
from app.state.state import State
from app.ui.markdown import lines, literal, prose
from model.checkpoints import Entry
from model.checkpoints.load import card_of as read_card
from model.errors import HeadlightError

TITLE, ICON, PATH = "Models", ":material/deployed_code:", "models"
STYLE = Path(__file__).parent / "models.css"
FIRST = 24  # cards that are drawn before somebody asks for all
MANY = 6  # models from which on one may search
WAYS = {"zip": "Zip file", "folder": "Folder", "path": "Path or id"}
SAID, ROUND, ALL = "_brought", "_round", "_all_models"


def show(state: State, entry: Entry | None = None) -> None:
    """The page; it looks the same whichever model is open, and where none is."""
    st.html(STYLE)
    st.title("Models")
    mine = own_cards()
    _bring()
    if mine:
        st.subheader("Yours", anchor=False)
        st.caption("Only your browser sees these. Uploads are deleted when you leave, or send another one.")
        _grid(mine, state)
        st.subheader("Everybody's", anchor=False)
    offered = sorted(cards(), key=lambda card: bool(problem(card)))
    if not offered:
        st.info("No model is here yet. Start with `headlight --models FOLDER`, or train one.")
    _grid(_some(offered), state)


def _bring() -> None:
    """Bring a checkpoint of one's own, and hear what became of it."""
    chosen = settings()
    ways = [way for way in WAYS if (way == "path" and not chosen.shared) or (way != "path" and chosen.upload_limit)]
    if not ways:
        return
    with st.container(border=True, key="bring"):
        left, right = st.columns([2, 3], gap="medium", vertical_alignment="center")
        with left:
            st.subheader("Open your own checkpoint", anchor=False)
            st.caption(
                "A folder with config.json, weights (.safetensors or .bin) and a tokenizer, as it lies on disk. "
                f"An upload may have up to {chosen.upload_limit:,} MB, is seen by you alone, and nothing in it is run."
            )
        with right:
            way = st.segmented_control(
                "How it comes here",
                ways,
                default=ways[0],
                required=True,
                format_func=WAYS.__getitem__,
                key="way",
                label_visibility="collapsed",
            )
            {"zip": _zip, "folder": _folder, "path": _path}[way or ways[0]]()
        _told()


def _zip() -> None:
    sent = st.file_uploader("A .zip of the checkpoint", type="zip", key=f"zip_{_round()}")
    if sent is not None:
        _take([sent], lambda: bring_zip(sent.name, sent))


def _folder() -> None:
    sent = st.file_uploader("The checkpoint's folder", accept_multiple_files="directory", key=f"folder_{_round()}")
    if sent:
        _take(sent, lambda: bring_folder({file.name: file for file in sent}))


def _path() -> None:
    with st.form("path", border=False, enter_to_submit=True):
        text = st.text_input(
            "Folder on this machine, or the id of a model on the Hugging Face Hub",
            placeholder=f"{Path.home() / 'my-model'}, or gpt2",
        )
        if st.form_submit_button("Open"):
            _take([], lambda: bring_path(text))


def _take(files: Sequence[UploadedFile], bring: Callable[[], Guest]) -> None:
    """Let a visitor's checkpoint in, and say what became of it once the page is drawn anew."""
    told: tuple[str, str]
    with st.spinner("Checking and opening ...", show_time=True):
        try:
            guest = bring()
            told = (guest.name, "")
        except HeadlightError as error:
            told = ("", str(error))
        except Exception as error:  # whatever a stranger's file brings about, the page goes on
            logging.getLogger(__name__).error("".join(traceback.format_tb(error.__traceback__)))
            told = ("", f"Something went wrong inside Headlight ({type(error).__name__}); the checkpoint is not open.")
    _release(files)
    st.session_state[SAID] = told
    st.session_state[ROUND] = _round() + 1  # an uploader of another key is empty
    st.rerun()


def _release(files: Sequence[UploadedFile]) -> None:
    """Give back the memory in which Streamlit holds what was sent; it would keep it until the visitor leaves."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None or not exists():
        return
    manager = get_instance().uploaded_file_mgr
    for file in files:
        if isinstance(manager, MemoryUploadedFileManager):
            manager.remove_file(context.session_id, file.file_id)


def _told() -> None:
    """What became of what was brought last."""
    name, problem = st.session_state.get(SAID, ("", ""))
    if problem:
        st.error(literal(problem), icon=":material/error:")
    elif name:
        brought = next((card for card in (*own_cards(), *cards()) if card.name == name), None)
        if brought:
            st.success(lines((f"{brought.title} is here, and opens.", *_account(name))), icon=":material/check_circle:")


def _account(name: str) -> tuple[str, ...]:
    try:
        return account(name)
    except HeadlightError as error:  # it was given away meanwhile, and there is no room now
        return (str(error),)


def _round() -> int:
    number: int = st.session_state.get(ROUND, 0)
    return number


def _some(offered: Sequence[Card]) -> Sequence[Card]:
    """Those that somebody looks for, where there are many."""
    if len(offered) <= MANY:
        return offered
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    words = left.text_input("Search", key="model_search", placeholder="name, family, licence ...", live=True) or ""
    there = [one for one in KINDS if any(kind(card) == one for card in offered)]
    kinds = right.pills(
        "Kind", there, selection_mode="multi", format_func=KINDS.__getitem__, key="model_kinds", wrap=True
    )
    found = [
        card
        for card in offered
        if (not kinds or kind(card) in kinds)
        and all(
            word in f"{card.title} {card.facts.family} {card.facts.licence}".lower() for word in words.lower().split()
        )
    ]
    st.caption(f"{len(found)} of {len(offered)} models")
    return found


def _grid(shown: Sequence[Card], state: State) -> None:
    some = shown if st.session_state.get(ALL) else shown[:FIRST]
    for start in range(0, len(some), 3):
        for column, card in zip(st.columns(3), some[start : start + 3], strict=False):
            with column, st.container(border=True, height="stretch", key=f"card {card.name}"):
                _card(card, open_now=card.name == state.model)
    if len(some) < len(shown):
        st.button(f"Show all {len(shown)}", on_click=lambda: st.session_state.update({ALL: True}))


def _card(card: Card, *, open_now: bool) -> None:
    st.html(markup(card, open_now=open_now))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if not problem(card):
            st.button(
                "Open", icon=":material/arrow_forward:", key=f"open {card.name}", on_click=choose, args=(card.name,)
            )
        if read_card(card.folder):
            st.button("Model card", key=f"read {card.name}", on_click=_read, args=(card,))
        if card.own:
            st.button("Remove", key=f"remove {card.name}", on_click=discard, args=(card.name,))


@st.dialog("Model card", width="medium")
def _read(card: Card) -> None:
    st.caption(literal(f"{card.title}: as its author wrote it, without pictures."))
    st.markdown(prose(read_card(card.folder)))
