"""The Positions page: the embeddings, rotations or biases by which a model knows the order of its tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import streamlit as st
from msgspec import to_builtins
from msgspec.structs import replace

from headlight.config import Config
from headlight.errors import HeadlightError
from headlight_app.contract.state import State
from headlight_app.engine.client import ask
from headlight_app.engine.models import AvailableModel
from headlight_app.export.page import shared_state
from headlight_app.positions import losses
from headlight_app.positions.contract import PositionProfileRequest
from headlight_app.ui import charts, export_menu
from headlight_app.ui.arrays import read_arrays
from headlight_app.ui.component import Component, Data, api_address

TITLE, ICON, PATH = "Positions", ":material/waves:", "positions"
EXPORT = Component(
    "positions",
    module="positions/frontend/main.js",
    html="positions/frontend/positions_export.html",
    styles=(
        *("ui/frontend/styles/base.css", export_menu.STYLE, "positions/frontend/positions_export.css"),
        "ui/frontend/styles/presenter.css",
    ),
    parts=(export_menu.export_menu(),),
)
ShowChart = Callable[..., None]  # `charts.show`, for this screen
MAX_POSITIONS = 256  # more would be more cells than a screen has pixels


def show(state: State, entry: AvailableModel) -> None:
    """The page."""
    heading = st.container(horizontal=True, vertical_alignment="center")
    heading.title("How the model knows order")
    request = _chosen_request(state, entry.config)
    try:
        reply = ask(request)
    except HeadlightError as error:
        st.info(str(error))
        return
    profile = reply.answer
    st.markdown(profile.description)
    if profile.formula:
        st.latex(profile.formula)
    if profile.missing:
        st.info(profile.missing)
    elif state.variant.positional_encoding:
        st.info("The model was not trained with this positional encoding; this is how it would act on the model.")
    show_chart = partial(charts.show, presenter=state.presenter == "1")
    chosen = _charts(read_arrays(profile.shapes, reply.numbers), profile.missing, show_chart)
    tables = losses.measured_losses(entry)
    with heading:
        known = {"title": profile.title, "writes_pdf": profile.writes_pdf, "losses": to_builtins(tables)}
        asked = {"api": api_address(), "request": to_builtins(request), "presenter": state.presenter}
        asked["shared"] = shared_state(PATH, state)
        EXPORT.mount(asked | known | chosen)
    losses.show(tables, entry, show_chart)
    with st.expander("The code that computes this", icon=":material/code:"):
        st.code(profile.code, language="python")


def _chosen_request(state: State, config: Config) -> PositionProfileRequest:
    """The question, with the controls for the stack and the layer that it is about."""
    stacks = config.stacks
    stack = st.segmented_control("Stack", stacks, default=stacks[-1], key="stack") if len(stacks) > 1 else stacks[0]
    stack = stack or stacks[-1]
    layer = _choose_layer(state, config, stack)
    length = min(config.context_length, MAX_POSITIONS)
    # Nothing of what the model reads or how it is edited matters.
    question = replace(state.question(""), text="", source="", image="", edits=(), masked_positions=())
    return PositionProfileRequest(question=question, length=length, stack=stack, layer=layer)


def _choose_layer(state: State, config: Config, stack: str) -> int | None:
    """Which layer, where they differ; an encoding that replaces the model's own is that of all layers."""
    if state.variant.positional_encoding or not config.for_stack(stack).per_layer.positions_differ:
        return None
    help_text = "The layers of this model encode positions each in their own way."
    return st.selectbox("Layer", range(config.num_layers(stack)), key="positions_layer", help=help_text, width=200)


def _charts(arrays: Mapping[str, np.ndarray], missing: str, show_chart: ShowChart) -> Data:
    """The charts of what an encoding has, without what it is `missing`; gives what was chosen of them."""
    chosen: Data = {}
    if "embeddings" in arrays and not missing:
        chosen |= {"channels": _embedding_charts(show_chart, arrays["embeddings"])}
    if "angles" in arrays:
        chosen |= {"pairs": _rotation_charts(show_chart, arrays["angles"])}
    if "bias" in arrays and not missing:
        chosen |= {"head": _bias_charts(show_chart, arrays["bias"], arrays.get("slopes"))}
    if "similarity" in arrays:
        chosen |= {"position": _similarity_charts(show_chart, arrays["similarity"], "angles" in arrays)}
    if "buckets" in arrays:
        _bucket_charts(show_chart, arrays["buckets"], arrays.get("bucket_similarity"))
    return chosen


def _embedding_charts(show_chart: ShowChart, embedding: np.ndarray) -> list[int]:
    """Gives the chosen channels."""
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("What is added to each token")
        figure = charts.matrix_heatmap(embedding, "channel", "position", "value", diverging=True)
        show_chart(figure, "embeddings_chart")
    with right:
        st.subheader("Channels over positions")
        channels = _sample_channels(embedding.shape[1])
        chosen = st.pills("Channels", channels, selection_mode="multi", default=channels[2::2][:4], key="channels")
        lines = [(f"channel {channel}", embedding[:, channel]) for channel in chosen]
        show_chart(charts.line_chart(lines, "position", "value", height=310), "channels_chart")
    return chosen


def _rotation_charts(show_chart: ShowChart, angles: np.ndarray) -> list[int]:
    """Gives the chosen pairs of channels."""
    left, right = st.columns(2, gap="large")
    cosines = np.cos(angles)
    with left:
        st.subheader("Cosine of each rotation")
        figure = charts.matrix_heatmap(cosines, "pair of channels", "position", "cosine", diverging=True)
        show_chart(figure, "angles_chart")
    with right:
        st.subheader("Rotation angles of channel pairs")
        pairs = _sample_channels(angles.shape[1])
        chosen = st.pills("Pairs", pairs, selection_mode="multi", default=pairs[1::2][:4], key="pairs")
        lines = [(f"pair {pair}", cosines[:, pair]) for pair in chosen]
        show_chart(charts.line_chart(lines, "position", "cosine of the angle", height=310), "rotations_chart")
        st.caption(
            f"Pair 0 rotates by {angles[1, 0]:.3g} rad per token, the last pair by {angles[1, -1]:.2g}."
            if len(angles) > 1
            else ""
        )
    return chosen


def _sample_channels(count: int) -> list[int]:
    """A dozen of `count` channels, closer together at the front, where the frequencies are highest."""
    return sorted({min(round((count - 1) * (step / 11) ** 2), count - 1) for step in range(12)})


def _bias_charts(show_chart: ShowChart, bias: np.ndarray, slopes: np.ndarray | None) -> int:
    """Gives the chosen head."""
    heads, length = bias.shape[0], bias.shape[1]
    middle = length // 2
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Bias over distance")
        lines = [(f"head {head}", bias[head, middle]) for head in range(heads)]
        figure = charts.line_chart(lines, "distance (key minus query)", "added to the score", start=-middle)
        show_chart(figure, "bias_chart")
    head = 0
    with right:
        if slopes is not None:
            st.subheader("Slope of each head")
            names = [f"head {head}" for head in range(heads)]
            show_chart(charts.bar_chart(names, slopes, "decrease per token", height=380), "slopes_chart")
        else:
            st.subheader("Bias of one head")
            head = st.pills("Head", range(heads), default=0, key="bias_head") or 0
            figure = charts.matrix_heatmap(bias[head], "key", "query", "bias", diverging=True, height=440, square=True)
            show_chart(figure, "bias_map_chart", width="content")
    return head


def _bucket_charts(show_chart: ShowChart, buckets: np.ndarray, similarity: np.ndarray | None) -> None:
    """Which distances share a learned value, and how alike the learned vectors of two distances are."""
    furthest = len(buckets) // 2
    left, right = st.columns(2, gap="large") if similarity is not None else (st.container(), None)
    with left:
        st.subheader("Distances that share what is learned")
        lines = [("row of the table", buckets)]
        figure = charts.line_chart(lines, "distance (key minus query)", "row of the table", start=-furthest)
        show_chart(figure.update_layout(showlegend=False), "buckets_chart")
        st.caption("Where the line is level, all these distances have one row of the learned table between them.")
    if similarity is None or right is None:
        return
    with right:
        st.subheader("Similarity of distances")
        figure = charts.matrix_heatmap(similarity, "distance", "distance", "similarity", start=-furthest, square=True)
        show_chart(figure, "bucket_similarity_chart", width="content")
        st.caption(
            "Cosine of the learned vectors of two distances. What they add to a score depends on the query and the "
            "key: on Explore, Step by step shows it for the tokens of a text."
        )


def _similarity_charts(show_chart: ShowChart, similarity: np.ndarray, rotated: bool) -> int:
    """Gives the chosen position."""
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Similarity of positions")
        figure = charts.matrix_heatmap(similarity, "position", "position", "similarity", height=440, square=True)
        show_chart(figure, "similarity_chart", width="content")
    with right:
        st.subheader("Similarity to one position")
        position = st.slider("Position", 0, len(similarity) - 1, len(similarity) // 2, key="similarity_position")
        figure = charts.line_chart(
            [(f"position {position}", similarity[position])], "position", "similarity", height=310
        )
        show_chart(figure, "similarity_row_chart")
    st.caption(
        "Mean cosine of the differences of all angles: what the rotations leave of the product of two equal vectors."
        if rotated
        else "Cosine of the two position embeddings."
    )
    return position
