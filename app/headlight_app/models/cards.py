"""The card of a checkpoint on the Models page."""

from __future__ import annotations

from html import escape

from headlight_app.access.uploads import describe_ownership
from headlight_app.engine.contract import ListedModel


def card_html(listed: ListedModel, *, open_now: bool, testid: str = "model") -> str:
    """A card as HTML; names from the checkpoint are escaped."""
    badge_flags = [
        (describe_ownership(listed.name), listed.own),
        ("shipped", listed.shipped),
        ("open now", open_now),
    ]
    badges = "".join(f"<span>{badge}</span>" for badge, holds in badge_flags if holds)
    rows = "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in listed.details.items())
    details = f"<dl>{rows}</dl>" if rows else ""
    problem_html = f"<p class='problem'>{escape(listed.problem)}</p>" if listed.problem else ""
    return (
        f"<article class='headlight-model' data-testid='{testid}'><h3>{escape(listed.title)}</h3>"
        f"<p class='what'>{escape(listed.kind)}{badges}</p>{details}{problem_html}</article>"
    )
