"""A link to the page Models, for a page that no model here suits."""

from __future__ import annotations

import streamlit as st

MODELS_ICON = ":material/deployed_code:"


def models_link(query: dict[str, str]) -> None:
    """The link, with the choices of the page in its address."""
    page = st.Page(lambda: None, title="Models", url_path="models")  # the navigation knows a page by its address
    st.page_link(page, label="To the page Models", icon=MODELS_ICON, query_params=query)
