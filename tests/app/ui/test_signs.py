"""Each sign in the sources of the page is in a font that the server sends: for another, browsers may draw a box."""

from pathlib import Path

import streamlit
from fontTools.ttLib import TTFont

import headlight_app

PACKAGE = Path(headlight_app.__file__).parent
STREAMLIT_FONTS = Path(streamlit.__file__).parent / "static" / "static" / "media"
FORMULAS = PACKAGE / "ui" / "frontend" / "formulas"  # drawn in the mathematics font
OF_TOKENS = {"∅"}  # an empty token: text, in any font of the system


def test_every_sign_in_the_sources_of_the_page_is_in_a_font_that_the_server_sends() -> None:
    (font,) = STREAMLIT_FONTS.glob("SourceSansVF-Upright*.woff2")
    served = set(map(chr, TTFont(font).getBestCmap()))
    assert {"a", "→", "▶", "✓"} <= served and "漢" not in served
    sources = [
        file for kind in ("html", "css", "ts") for file in PACKAGE.rglob(f"*.{kind}") if FORMULAS not in file.parents
    ]
    assert len(sources) > 100
    missing = {
        str(file.relative_to(PACKAGE)): signs
        for file in sources
        if (signs := {sign for sign in file.read_text(encoding="utf-8") if sign.isprintable()} - served - OF_TOKENS)
    }
    assert not missing, 'draw them: an <svg class="icon">, as in ui/frontend/heads/heads_tab.html'
