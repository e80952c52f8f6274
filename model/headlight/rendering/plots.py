"""The plots of heads, their colour ranges, and the orders of heads; PLOTS of heads/head_panel.ts draws the plots."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from headlight.registry import Registry


@dataclass(frozen=True)
class Plot:
    """One plot: its title, a description, and the input that the model must have for it, if any."""

    title: str
    description: str = ""
    reads: Literal["", "text", "image", "sound"] = ""


# The first one that suits a model's input is the default.
PLOTS: Registry[Plot] = Registry(
    "plot",
    {
        "overlay": Plot("Image", reads="image"),
        "sound": Plot("Sound", "The spectrogram, and the attention to each moment", reads="sound"),
        "heatmap": Plot("Map"),
        "lines": Plot("Lines"),
        "text": Plot("Text", reads="text"),
        "table": Plot("Table"),
        "qk_projection": Plot("Query-key", "Queries and keys of the head in one plane"),
    },
)


@dataclass(frozen=True)
class ColourRange:
    """A colour range of weights: its title, and its description in a file.

    Colours end at the `quantile`, from 0 to 1, of the shown weights; None: always at 1.
    """

    title: str
    description: str
    quantile: float | None = None


COLOUR_RANGES: Registry[ColourRange] = Registry(
    "colour range",
    {
        "full": ColourRange("0 to 1", "scale from 0 to 1"),
        "largest": ColourRange("to the largest", "scale from 0 to the largest weight shown", 1.0),
        "percentile": ColourRange(
            "to the 99th percentile", "scale from 0 to the 99th percentile of the weights shown", 0.99
        ),
    },
)


def plots_json() -> dict[str, list[dict[str, Any]]]:
    """The plots and the colour ranges for the browser."""
    return {
        name: [{"name": key, **asdict(row)} for key, row in rows]
        for name, rows in (("plots", PLOTS.items()), ("colour_ranges", COLOUR_RANGES.items()))
    }


@dataclass(frozen=True)
class HeadOrder:
    """One order: its title, with {query} and {key} for the chosen tokens, and a sentence on what it shows."""

    title: str
    lesson: str


HEAD_ORDERS: Registry[HeadOrder] = Registry(
    "order of heads",
    {
        "layer": HeadOrder("by layer", "Layer after layer, as the model computes them."),
        "query_key": HeadOrder(
            "“{query}” looks at “{key}”",
            "The heads in which this query looks most at this key come first; the number is its attention weight.",
        ),
    },
)


def head_orders_json() -> list[dict[str, str]]:
    """The orders for the browser."""
    return [{"name": name, **asdict(order)} for name, order in HEAD_ORDERS.items()]
