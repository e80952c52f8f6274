"""The orders of heads besides those by a metric, which are the rows of HEAD_METRICS."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from headlight.registry import Registry


@dataclass(frozen=True)
class HeadOrder:
    """One order: its title, with {query} and {key} for the tokens that are chosen, and what it shows, in a sentence."""

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
    """The orders as the browser needs them."""
    return [{"name": name, **asdict(order)} for name, order in HEAD_ORDERS.items()]
