"""The Positions page: the embeddings, rotations or biases that tell a model the order of its tokens."""

from __future__ import annotations

import streamlit as st

from headlight.errors import HeadlightError
from headlight_app.contract.state import State
from headlight_app.engine.client import ask
from headlight_app.engine.models import AvailableModel
from headlight_app.export.views_page import show_views
from headlight_app.positions.contract import EncodingCodeRequest

TITLE, ICON, PATH = "Positions", ":material/waves:", "positions"
READS = ("attention", "layer", "bias_head", "channels", "position", "order_text")


def show(state: State, entry: AvailableModel) -> None:
    """The page."""
    st.title("How the model knows order")
    if not state.presenter:  # in presenter mode the teacher explains, and the charts come first
        st.markdown(
            "Attention by itself sees a set of words: “dog bites man” and “man bites dog” would be the same to it. So "
            "most models mark the position of each token. This is what the open model does:"
        )
    question = state.question("").without_input
    show_views(PATH, state, question, READS)
    try:
        known = ask(EncodingCodeRequest(question=question, attention=state.attention, layer=state.layer)).answer
    except HeadlightError:  # the views say what is wrong
        return
    if known.commands:
        with st.expander("The commands that measured the losses", icon=":material/terminal:"):
            for command in known.commands:
                st.code(command, language=None, wrap_lines=True)
    with st.expander("The code that computes this", icon=":material/code:"):
        st.code(known.code, language="python")
