"""The widgets that write State. Each shows what the state says and, when changed, changes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from app.session import change
from app.state import AFRESH, TRAINED, State
from model.checkpoint import Entry
from model.config import Config
from model.kernels import KERNELS
from model.positions import POSITIONS

MASKS = {
    "causal": "Causal",
    "none": "Bidirectional",
    "window": "Sliding window",
    "causal+window": "Causal + sliding window",
    "custom": "Custom matrix",
}
POSITION_NAMES = {
    "none": "None",
    "sinusoidal": "Sinusoidal",
    "learned": "Learned",
    "rope": "RoPE (rotary)",
    "alibi": "ALiBi",
    "relative": "Relative (T5)",
    "disentangled": "Disentangled (DeBERTa)",
}
KERNEL_NAMES = {"softmax": "Softmax", "hard": "Hard (argmax)", "linear": "Linear (elu + 1)"}
WIDTH = 4  # tokens, of a window that somebody has just chosen
MATRIX = "100/110/111"
LEAVING = "_leaving"


def model(state: State, entries: Sequence[Entry], titles: Mapping[str, str]) -> None:
    """Which model; another one starts without the edits made to this one. `titles` of those whose name is no title."""
    names = [entry.name for entry in entries]

    def take() -> None:
        change(model=st.session_state.model, **AFRESH)

    st.session_state.model = state.model if state.model in names else names[0]
    st.selectbox("Model", names, key="model", on_change=take, format_func=lambda name: titles.get(name, name))


def choose(name: str) -> None:
    """Go to a model as it was trained, and see its heads."""
    change(model=name, masks=TRAINED, position=TRAINED, kernel=TRAINED, scale=TRAINED, **AFRESH)
    st.session_state[LEAVING] = True


def leaving() -> bool:
    """Whether somebody has just chosen a model elsewhere than on the page that shows it; asked once in a run."""
    return bool(st.session_state.pop(LEAVING, False))


def wiring(state: State, trained: Config) -> None:
    """Mask, positions, kernel and scale, each as trained until somebody chooses otherwise."""
    _masks(state, trained)
    _part(state, "position", "Positions", trained.position, list(POSITIONS), POSITION_NAMES)
    _part(state, "kernel", "Kernel", trained.kernel, list(KERNELS), KERNEL_NAMES)
    _scale(state, trained)
    if any((state.masks, state.position, state.kernel, state.scale)):
        st.button("Back to how it was trained", on_click=_as_trained, width="stretch")


def device(state: State, devices: Sequence[str]) -> None:
    """Where to compute."""
    st.session_state.device = state.device if state.device in devices else devices[0]
    st.selectbox("Device", devices, key="device", on_change=_taking("device"))


def presenter(state: State) -> None:
    """Large type and fewer controls."""

    def take() -> None:
        change(presenter="1" if st.session_state.presenter else "")

    st.session_state.presenter = state.presenter == "1"
    st.toggle("Presenter mode", key="presenter", on_change=take, help="Large type for a projector. On Explore also: p")


def _taking(field: str) -> Callable[[], None]:
    return lambda: change(**{field: st.session_state[field]})


def _as_trained() -> None:
    change(masks=TRAINED, position=TRAINED, kernel=TRAINED, scale=TRAINED)


def _part(state: State, field: str, title: str, trained: str, options: list[str], names: dict[str, str]) -> None:
    """One interchangeable part: the one it was trained with first, then all others."""

    def label(option: str) -> str:
        return f"{names.get(trained, trained)} · as trained" if option == TRAINED else names.get(option, option)

    others = [option for option in options if option != trained]
    chosen = getattr(state, field)
    st.session_state[field] = chosen if chosen in others else TRAINED
    st.selectbox(title, [TRAINED, *others], key=field, format_func=label, on_change=_taking(field))


def _masks(state: State, trained: Config) -> None:
    """The mask's kind, and the width or matrix that some kinds need."""
    own = "+".join(trained.masks) or "none"

    def label(kind: str) -> str:
        return f"{MASKS.get(own, own)} · as trained" if kind == TRAINED else MASKS[kind]

    def take() -> None:
        kind = st.session_state.masks
        argument = {"custom": f":{MATRIX}"}.get(kind, f":{WIDTH}" if kind.endswith("window") else "")
        change(masks=kind + argument)

    kind, _, argument = state.masks.rpartition("+")[2].partition(":")
    kind = f"causal+{kind}" if state.masks.startswith("causal+") else kind
    kinds = [TRAINED, *(name for name in MASKS if name != own)]
    st.session_state.masks = kind if kind in kinds else TRAINED
    st.selectbox("Mask", kinds, key="masks", format_func=label, on_change=take)
    if kind.endswith("window"):
        _width(kind, argument)
    elif kind == "custom":
        _matrix(argument)


def _width(kind: str, argument: str) -> None:
    st.session_state.width = min(max(int(argument), 1), 64) if argument.isdecimal() else WIDTH

    def take() -> None:
        change(masks=f"{kind}:{st.session_state.width}")

    st.slider("Window width (tokens)", 1, 64, key="width", on_change=take)


def _matrix(argument: str) -> None:
    st.session_state.matrix = argument.replace("/", "\n")

    def take() -> None:
        change(masks="custom:" + "/".join(st.session_state.matrix.split()))

    st.text_area(
        "Matrix: a row per query, 1 = may attend",
        key="matrix",
        on_change=take,
        help="As many rows and columns as the text has tokens.",
    )


def _scale(state: State, trained: Config) -> None:
    def take() -> None:
        on = st.session_state.scale
        change(scale=TRAINED if on == trained.scale else "on" if on else "off")

    st.session_state.scale = {"on": True, "off": False}.get(state.scale, trained.scale)
    st.toggle("Divide scores by √d", key="scale", on_change=take)
