"""Compare: two texts, models, masks or position schemes side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from app.components.workbench import mounted, reported
from app.services import labels
from app.services.examples import Example, openings
from app.services.traces import models, own_cards
from app.state.session import serial, take
from app.state.state import LONGEST_ADDRESS, Question, State, own_parts
from app.state.url import beside_read, beside_told
from model.checkpoints import Entry
from model.config import Config

TITLE, ICON, PATH = "Compare", ":material/balance:", "compare"
NAME = "compare"
SETTINGS = ("model", "masks", "position", "kernel", "scale", "device")
CHOICES = ("masked", "edits", "attention", "layer", "head", "query")


@dataclass(frozen=True)
class Preset:
    """Something worth comparing: its title, what the first side reads (None: what it reads now), and the difference."""

    title: str
    text: str | None
    other: dict[str, Any] = field(default_factory=dict)


def show(state: State, entry: Entry) -> None:
    """The page."""
    opening = opening_of(entry, state.device)
    question = state.question(opening.text, opening.source)
    usual = telling(entry.config)
    other = beside_read(state.beside)
    data = _data(state, entry, question, usual if other is None else other) | {"presenter": state.presenter}
    mounted(NAME, data, partial(_listen, usual, opening))
    if len(state.beside) > LONGEST_ADDRESS:
        st.info(
            "The second text is too long for an address: a copied link does not carry it.", icon=":material/link_off:"
        )


def opening_of(entry: Entry, device: str = "auto") -> Example:
    """What the first side reads when nobody has typed: a sentence in which a word comes twice."""
    known = openings(entry, device)
    return known[min(3, len(known) - 1)]


def telling(config: Config) -> dict[str, Any]:
    """A difference to begin with: the same model without its positions, or seeing otherwise where it has none."""
    if config.position != "none":
        return {"position": "none"}
    return {"masks": "none" if config.masks else "causal"}


def presets(entry: Entry, names: list[str]) -> list[Preset]:
    """What is offered for a model."""
    config, found = entry.config, []
    last = config.layers - 1
    if config.position != "none":
        found.append(Preset("With and without positions", None, {"position": "none"}))
    masks = "none" if "causal" in config.masks else "causal"
    found.append(Preset("Looking back, or both ways", None, {"masks": masks}))
    found.append(Preset("Scores divided by √d, or not", None, {"scale": "off" if config.scale else "on"}))
    if config.layers:
        off = tuple(f"{config.stacks[-1]}.{last}.self.weights[{head}]=set:0" for head in range(config.heads))
        found.append(Preset("Without the last layer's heads", None, {"edits": off}))
    if config.top == "masked-language":
        found.append(Preset("Milk or letter", "The [MASK] drank the milk.", {"text": "The [MASK] read the letter."}))
    elif not config.has_cross:
        found.append(
            Preset(
                "Too tired, or too wide",
                "The dog did not cross the road because it was too tired",
                {
                    "text": "The dog did not cross the road because it was too wide",
                },
            )
        )
        found.append(Preset("Who bit whom", "The dog bit the man and he", {"text": "The man bit the dog and he"}))
    others = [name for name in names if name != entry.name]
    return found + [Preset(f"Beside {name}", None, {"model": name}) for name in others[:2]]


def _data(state: State, entry: Entry, question: Question, other: dict[str, Any]) -> dict[str, Any]:
    """What the component needs to know from Streamlit."""
    asked, known = asdict(question), models()
    choice = {name: getattr(state, name) for name in CHOICES} | {"text": question.text, "source": question.source}
    base = st.get_option("server.baseUrlPath").strip("/")
    titles = {card.name: f"{card.title} (yours)" for card in own_cards()}
    offered = presets(entry, [each.name for each in known])
    return {
        "api": f"/{base}/api" if base else "/api",
        "choice": _plain(choice),
        "other": _plain(other),
        "settings": {name: asked[name] for name in SETTINGS},
        "presets": [{"title": each.title, "text": each.text, "other": _plain(each.other)} for each in offered],
        "models": [
            {
                "name": each.name,
                "title": titles.get(each.name, each.name),
                "trained": own_parts(each.config) | {"sourced": each.config.has_cross},
            }
            for each in known
        ],
        "options": {
            "masks": [[name, title] for name, title in labels.MASKS.items()],
            "position": [[name, title] for name, title in labels.POSITION_NAMES.items()],
            "kernel": [[name, title] for name, title in labels.KERNEL_NAMES.items()],
            "scale": [["on", "divided by √d"], ["off", "not divided"]],
        },
        "sourced": entry.config.has_cross,
        "serial": serial(),
    }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: list(item) if isinstance(item, tuple) else item for name, item in values.items()}


def _listen(usual: dict[str, Any], opening: Example) -> None:
    """Take over what the component reported; a difference that nobody touched stays unsaid."""
    told = reported(NAME)
    given = {name: tuple(item) if isinstance(item, list) else item for name, item in told.pop("other").items()}
    take(told | {"beside": beside_told(given) if given != usual else ""}, opening.text, opening.source)
