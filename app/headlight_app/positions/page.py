"""The Positions page: the embeddings, rotations or biases that tell a model the order of its tokens."""

from __future__ import annotations

import streamlit as st
from msgspec import to_builtins

from headlight.config import Config
from headlight.errors import HeadlightError
from headlight_app.contract.state import State
from headlight_app.engine.client import ask
from headlight_app.engine.models import AvailableModel
from headlight_app.export.page import shared_state
from headlight_app.positions import losses
from headlight_app.positions.contract import PositionProfileRequest
from headlight_app.ui import export_menu
from headlight_app.ui.component import API, Component, shared_styles

TITLE, ICON, PATH = "Positions", ":material/waves:", "positions"
COMPONENT = Component(
    "positions",
    html="positions/frontend/positions.html",
    styles=(*shared_styles("positions/frontend/positions.css"), export_menu.STYLE),
    parts=(export_menu.export_menu(),),
)
MAX_POSITIONS = 256  # a screen does not have enough pixels for more


def show(state: State, entry: AvailableModel) -> None:
    """The page."""
    st.title("How the model knows order")
    if not state.presenter:  # in presenter mode the teacher explains, and the charts come first
        st.markdown(
            "Attention by itself sees a set of words: “dog bites man” and “man bites dog” would be the same to it. So "
            "each model marks the position of each token. The open model does it like this:"
        )
    request = _chosen_request(state, entry.config)
    try:
        profile = ask(request).answer
    except HeadlightError as error:
        st.info(str(error))
        return
    st.markdown(profile.description)
    if profile.formula:
        st.latex(profile.formula)
    if profile.missing:
        st.info(profile.missing)
    elif state.variant.positional_encoding:
        st.info("The model was not trained with this positional encoding; this is how it would act on the model.")
    tables = losses.measured_losses(entry)
    known = {"title": profile.title, "losses": to_builtins(tables)}
    asked = {"api": API, "request": to_builtins(request), "presenter": state.presenter}
    COMPONENT.mount(asked | known | {"shared": shared_state(PATH, state)})
    losses.show(tables, entry)
    with st.expander("The code that computes this", icon=":material/code:"):
        st.code(profile.code, language="python")


def _chosen_request(state: State, config: Config) -> PositionProfileRequest:
    """The question, with controls for its stack and layer."""
    stacks = config.stacks
    stack = st.segmented_control("Stack", stacks, default=stacks[-1], key="stack") if len(stacks) > 1 else stacks[0]
    stack = stack or stacks[-1]
    layer = _choose_layer(state, config, stack)
    length = min(config.for_stack(stack).context_length, MAX_POSITIONS)
    question = state.question("").without_input
    return PositionProfileRequest(question=question, length=length, stack=stack, layer=layer)


def _choose_layer(state: State, config: Config, stack: str) -> int | None:
    """The chosen layer if layers differ, else None; a replaced encoding is the same in all layers."""
    if state.variant.positional_encoding or not config.for_stack(stack).per_layer.positions_differ:
        return None
    help_text = "Each layer of this model encodes positions in its own way."
    return st.selectbox("Layer", range(config.num_layers(stack)), key="positions_layer", help=help_text, width=200)
