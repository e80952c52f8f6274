"""The plots of the selected heads; what draws each is in PLOTS of static/heads/head_panel.js, under the same name."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from model.registry import Registry


@dataclass(frozen=True)
class Plot:
    """One plot: its title, what the title leaves open, and whether the model must read a text or an image for it."""

    title: str
    description: str = ""
    reads: Literal["", "text", "image"] = ""


# The first that there is for what a model reads is its usual one.
PLOTS: Registry[Plot] = Registry(
    "plot",
    {
        "overlay": Plot("Image", reads="image"),
        "heatmap": Plot("Map"),
        "lines": Plot("Lines"),
        "text": Plot("Text", reads="text"),
        "table": Plot("Table"),
        "qk_projection": Plot("Query-key", "Queries and keys of the head in one plane"),
    },
)


def plots_json() -> list[dict[str, str]]:
    """The plots as the browser needs them."""
    return [{"name": name, **asdict(plot)} for name, plot in PLOTS.items()]
