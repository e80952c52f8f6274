"""The widgets that write State. Each shows a value of the state and, when changed, updates it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st
from msgspec import to_builtins

from headlight.config import Config
from headlight_app.access.addresses import code_picture, current_room_address, page_folder, page_site
from headlight_app.access.uploads import is_upload
from headlight_app.contract.state import PER_MODEL_DEFAULTS, State
from headlight_app.engine.client import ask
from headlight_app.engine.models import AvailableModel
from headlight_app.frame.contract import FrameAnswer, FrameRequest
from headlight_app.room.panel import ROOM, mount_room
from headlight_app.state.session import change_state, report_serial
from headlight_app.state.url import encode_state
from headlight_app.state.variants import variant_parts
from headlight_app.ui.component import API, Component, Data, shared_styles
from headlight_app.ui.terms import terms_json

BASE, DIALOG, LISTS = "ui/frontend/styles/base.css", "frame/frontend/dialog.css", "frame/frontend/lists.css"


def _component(name: str, *styles: str, folder: str = "frame/frontend") -> Component:
    """A component of the frame; `styles` are loaded before its own."""
    path = f"{folder}/{name}"
    return Component(name, html=f"{path}.html", styles=(*styles, f"{path}.css"))


VARIANT = _component("model_variant", *shared_styles(LISTS))
MODEL_PICKER = _component("model_picker", BASE, LISTS)
HELP = _component("help", BASE, DIALOG)
PRESENTER_MODE = _component("presenter_mode", BASE)
SCENES = _component("scenes", BASE, DIALOG, folder="frame/frontend/scenes")
INVITED = "_invited"  # the invitation to show in this run


@lru_cache(maxsize=1)
def offered() -> FrameAnswer:
    """The choices from the engine, which are constant while the server runs."""
    return ask(FrameRequest()).answer


def model_picker(
    entries: Sequence[AvailableModel],
    chosen: AvailableModel,
    suits: Callable[[Config], bool],
    titles: Mapping[str, str],
) -> None:
    """The list of models, grouped by kind; choosing another model resets the edits.

    `suits` says which models the page can show; `titles` are those of models whose name is not a title.
    """
    groups: dict[str, list[Data]] = {}
    for entry in entries:
        title = titles.get(entry.name, entry.name)
        row = {"name": entry.name, "title": title, "purpose": entry.purpose, "enabled": suits(entry.config)}
        groups.setdefault(entry.kind, []).append(row)
    data = {
        "groups": [{"kind": kind, "models": models} for kind, models in groups.items()],
        "chosen": chosen.name,
        "turn": MODEL_PICKER.reported().get("turn", 0),
    }
    MODEL_PICKER.mount(data, _on_model_change)


def _on_model_change() -> None:
    change_state(model=MODEL_PICKER.reported().get("model"), **PER_MODEL_DEFAULTS, task="")


def variant_controls(
    state: State, trained: Config, trained_models: Mapping[str, str], elsewhere: Collection[str]
) -> None:
    """The parts of the model that can be replaced, initially as trained, except those that the page shows `elsewhere`.

    `trained_models` maps a positional encoding to the model trained with it that differs in nothing else. This is a
    component, so that Explore gets a choice within the browser and repaints without waiting for a rerun.
    """
    variants = offered().variants
    titles = {field: part.title for field, part in variants.parts.items() if field not in ("scale", *elsewhere)}
    data = {
        **variant_parts(variants, state.variant, trained, trained_models, titles),
        "trained_scale": trained.attention.scale,
        "terms": terms_json(),
        "model": state.model,
        "variant": to_builtins(state.variant),
        "serial": report_serial(),
        "turn": VARIANT.reported().get("turn", 0),
    }
    VARIANT.mount(data, _on_variant_change)


def _on_variant_change() -> None:
    report = VARIANT.reported()
    opened = {"model": str(report["model"])} if report.get("model") else {}
    change_state(variant=report.get("variant"), **opened)


def device_selector(state: State, devices: Sequence[str]) -> None:
    """The device to compute on."""
    shown = state.device if state.device in devices else devices[0]
    key = _widget_key("device", shown)
    st.selectbox("Device", devices, key=key, on_change=_store_widget("device", shown))


def measure_toggle(state: State) -> None:
    """The switch between attention weights and what they move."""
    shown = state.measure == "moved"
    store = _store_widget("measure", shown, lambda chosen: "moved" if chosen else "")
    about = (
        "Each weight × the length of its projected value, as a share of the head's output. A key with much attention "
        "that moves little is a sink."
    )
    st.toggle("By what moves", key=_widget_key("measure", shown), on_change=store, help=about)


def presenter_toggle(state: State) -> None:
    """The switch for large type and fewer controls."""
    key = _widget_key("presenter", state.presenter == "1")
    store = _store_widget("presenter", state.presenter == "1", lambda chosen: "1" if chosen else "")
    st.toggle("Presenter mode", key=key, on_change=store, help="Large type for a projector. Also with the key p")


def _widget_key(field: str, shown: object) -> str:
    """The key of a separate widget for each value of a field, initialized with that value.

    A request sent before the browser received a new value contains the old one. With the same key for both values, it
    would count as a choice and undo the new value.
    """
    key = f"{field}={shown}"
    st.session_state[key] = shown
    return key


def _store_widget(field: str, shown: object, encode: Callable[[Any], str] = str) -> Callable[[], None]:
    """The callback that stores a choice of the widget that shows this value."""

    def store() -> None:
        chosen = st.session_state.get(f"{field}={shown}", shown)  # the widget may have left the page meanwhile
        if chosen != shown:
            change_state(**{field: encode(chosen)})

    return store


def presenter_mode(state: State) -> None:
    """The key and the button for presenter mode, on every page."""

    def store() -> None:
        change_state(presenter=PRESENTER_MODE.reported().get("presenter"))

    PRESENTER_MODE.mount({"presenter": state.presenter == "1"}, store)


def scenes(state: State, titles: Mapping[str, str]) -> None:
    """The list of scenes, on every page; `titles` are those of the pages, by path."""
    SCENES.mount({"api": API, "pages": _page_rows(titles), "presenter": state.presenter == "1"})


def room(state: State, titles: Mapping[str, str]) -> None:
    """The status of this browser's room, and the sheet in which a teacher opens one."""
    invitation = None
    if number := st.session_state.pop(INVITED, 0):
        address, site = room_address(state)
        picture = code_picture(address)
        invitation = {"number": number, "address": address, "site": site, "picture": picture}

    def invite() -> None:
        st.session_state[INVITED] = ROOM.reported().get("invite", 0)

    mount_room(_page_rows(titles), state.presenter == "1", invitation, invite)


def room_address(state: State) -> tuple[str, str]:
    """The URLs of this view and of the server for others; both the server's if they cannot open the model.

    A teacher's notes and a student's work stay here.
    """
    visited = urlsplit(st.context.url or "")
    site = current_room_address() or page_site(st.context.url or "")
    if is_upload(state.model):
        return site, site
    query = urlencode(encode_state(state.change(presenter="", notes="", lesson_work="")))
    return f"{site}/{visited.path.rpartition('/')[2]}{'?' if query else ''}{query}", site


def _page_rows(titles: Mapping[str, str]) -> list[dict[str, str]]:
    """The pages with their URL paths, as the browser knows them. The first page is their folder."""
    first, folder = next(iter(titles)), page_folder(st.context.url or "")
    return [
        {"name": path, "title": title, "path": f"{folder}/{'' if path == first else path}"}
        for path, title in titles.items()
    ]
