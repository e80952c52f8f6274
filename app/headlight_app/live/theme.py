"""The colours of the app as a style sheet, for a page without Streamlit, which would set them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from headlight_app.ui.modules import ROOT

CONFIG = ROOT / "frame" / "script" / ".streamlit" / "config.toml"
FONTS = {  # the page brings the last one, which has arrows
    "font": 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif, "STIX Two Math"',
    "codeFont": "ui-monospace, monospace",
}


def theme_styles() -> str:
    """The variables that components read, light or dark as the system is."""
    theme = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"]
    shared = {name: value for name, value in theme.items() if isinstance(value, str)}
    light, dark = (_variables(theme[name]) for name in ("light", "dark"))
    return (
        f":root {{ color-scheme: light dark; {_variables(shared | FONTS)} {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    )


def _variables(names: Mapping[str, Any]) -> str:
    """Names of the configuration as variables, such as textColor as --st-text-color."""
    return " ".join(
        f"--st-{re.sub('[A-Z]', lambda sign: f'-{sign[0].lower()}', name)}: {value};"
        for name, value in names.items()
        if isinstance(value, str)
    )
