"""A checkpoint in the page's words."""

from __future__ import annotations

from html import escape

from app.services.labels import POSITION_NAMES
from app.services.model_listing import Card
from app.services.traces import loaded, opened
from model.config import Config

KINDS = {
    "language": "Continues texts",
    "masked-language": "Fills masks",
    "both": "Source to target",
    "sequence-classifier": "Labels texts",
    "token-classifier": "Labels tokens",
    "pictures": "Reads pictures",
    "none": "Attention only",
    "broken": "Cannot be opened",
}


def kind(card: Card) -> str:
    """What a model does, as a key of KINDS."""
    config = card.facts.config
    if config is None:
        return "broken"
    if config.picture.channels:
        return "pictures"
    return "both" if config.has_cross and config.top == "language" else config.top


def markup(card: Card, *, open_now: bool) -> str:
    """A card as HTML; whatever a stranger wrote is text in it."""
    marks = [("yours", card.own), ("shipped", card.shipped), ("open now", open_now)]
    badges = "".join(f"<span>{mark}</span>" for mark, holds in marks if holds)
    config = card.facts.config
    facts = f"<dl>{_rows(card, config)}</dl>" if config else ""
    told = problem(card)
    why = f"<p class='problem'>{escape(told)}</p>" if told else ""
    return (
        f"<article class='headlight-model' data-testid='model'><h3>{escape(card.title)}</h3>"
        f"<p class='what'>{KINDS[kind(card)]}{badges}</p>{facts}{why}</article>"
    )


def problem(card: Card) -> str:
    """Why a model cannot be opened here; empty where it can."""
    allowed, wanted = opened().budget, card.facts.memory
    if wanted > allowed:
        return f"It takes {megabytes(wanted)} of memory; {megabytes(allowed)} are allowed here."
    return card.facts.problem


def _rows(card: Card, config: Config) -> str:
    told = {
        "Family": card.facts.family,
        "Size": f"{count(card.facts.parameters)} parameters",
        "Heads": heads(config),
        "Positions": POSITION_NAMES.get(config.position, config.position),
        **_reads(card.facts.tokenizer, config),
        "Disk": megabytes(card.bytes),
        "Memory": f"{megabytes(card.facts.memory)} once open",
        "Licence": card.facts.licence or "not stated",
    }
    return "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in told.items())


def _reads(tokenizer: str, config: Config) -> dict[str, str]:
    """What becomes of a text, or of a picture."""
    picture = config.picture
    if picture.channels:
        return {
            "Pictures": f"{picture.height:,} × {picture.width:,} pixels",
            "Patches": f"{picture.rows:,} × {picture.columns:,}",
        }
    return {"Tokenizer": f"{tokenizer}, {config.vocabulary:,} tokens", "Context": f"{config.context:,} tokens"}


def heads(config: Config) -> str:
    """Layers and heads, of both stacks where there are two."""
    if not config.has_cross:
        return f"{config.layers} layers × {config.heads} heads"
    there = config.of("encoder")
    if there.heads == config.heads:
        return f"{there.layers} + {config.layers} layers × {config.heads} heads"
    return f"{there.layers} × {there.heads} + {config.layers} × {config.heads} layers × heads"


def count(number: int) -> str:
    """A large number in three digits: 6.57 M."""
    return _short(number, (("B", 10**9), ("M", 10**6), ("k", 10**3), ("", 1)))


def megabytes(number: int) -> str:
    """Bytes in three digits: 13.2 MB."""
    return _short(number, (("GB", 10**9), ("MB", 10**6), ("kB", 10**3), ("B", 1)))


def _short(number: int, units: tuple[tuple[str, int], ...]) -> str:
    unit, size = next(((unit, size) for unit, size in units if number >= size), units[-1])
    value = number / size
    digits = 0 if size == 1 or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {unit}".strip()


def account(name: str, device: str = "auto") -> tuple[str, ...]:
    """How each weight of a model was used, sentence by sentence. Raises CheckpointError where it cannot be opened."""
    return loaded(name, device).notes or ("Each of its weights is used.",)
