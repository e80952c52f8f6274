"""A link to the page Models, for a page that no model here suits."""

from __future__ import annotations

import streamlit as st

MODELS_TITLE, MODELS_ICON, MODELS_PATH = "Models", ":material/deployed_code:", "models"


def models_link(query: dict[str, str]) -> None:
    """The link, with the choices of the page in its address."""
    page = st.Page(lambda: None, title=MODELS_TITLE, url_path=MODELS_PATH)  # the navigation knows a page by its address
    st.page_link(page, label=f"To the page {MODELS_TITLE}", icon=MODELS_ICON, query_params=query)
