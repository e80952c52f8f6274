"""Generate: a text that grows token by token, and what each step looked at."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

import streamlit as st

from app.components.workbench import mounted, reported
from app.services.examples import prompts
from app.services.head_selection import plain
from app.services.traces import models
from app.state.session import change, pointed, serial, take
from app.state.state import Question, State
from app.state.url import rule_read, rule_told, written_read, written_told
from model.checkpoints import Entry
from model.generation.sampling import Rule

TITLE, ICON, PATH = "Generate", ":material/stylus_note:", "generate"
NAME = "generate"
KINDS = {"language": "continue", "masked-language": "fill"}
SETTINGS = ("model", "masks", "position", "kernel", "scale", "device")
CHOICES = ("masked", "edits", "attention", "layer", "head")
WITHOUT = {
    "none": "ends without a head, so it writes nothing",
    "sequence-classifier": "gives a text one of its labels; it writes nothing",
    "token-classifier": "gives each token one of its labels; it writes nothing",
}


def show(state: State, entry: Entry) -> None:
    """The page."""
    kind = KINDS.get(entry.config.top)
    if kind is None:
        _instead(entry)
        return
    opening = prompts(entry, state.device)[0]
    question = state.question(opening.text, opening.source)
    seen = pointed(state, lambda: plain(question, state))
    data = _data(seen, entry, question, kind) | {"presenter": state.presenter}
    mounted(NAME, data, partial(_listen, question, opening.text, opening.source))


def _data(state: State, entry: Entry, question: Question, kind: str) -> dict[str, Any]:
    """What the component needs to know from Streamlit."""
    rule, asked = rule_read(state.draw), asdict(question)
    drawn = {"temperature": rule.temperature, "topK": rule.top_k or 0, "topP": rule.top_p or 1.0, "seed": rule.seed}
    choice = {name: getattr(state, name) for name in CHOICES} | {"text": question.text, "source": question.source}
    base = st.get_option("server.baseUrlPath").strip("/")
    return {
        "api": f"/{base}/api" if base else "/api",
        "kind": kind,
        "choice": {name: list(item) if isinstance(item, tuple) else item for name, item in choice.items()},
        "rule": drawn,
        "written": [list(pair) for pair in written_read(question, state.written)],
        "settings": {name: asked[name] for name in SETTINGS},
        "examples": [{"text": one.text, "source": one.source} for one in prompts(entry, state.device)],
        "sourced": entry.config.has_cross,
        "serial": serial(),
    }


def _listen(shown: Question, opening: str, opening_source: str) -> None:
    """Take over what the component reported."""
    told = reported(NAME)
    given, written = told.pop("rule"), tuple((place, token) for place, token in told.pop("written"))
    rule = Rule(float(given["temperature"]), given["topK"] or None, float(given["topP"]), given["seed"])
    now = Question(shown.model, told["text"], told["source"], masked=tuple(told["masked"]))
    take(told | {"draw": rule_told(rule), "written": written_told(now, written)}, opening, opening_source)


def _instead(entry: Entry) -> None:
    """What a person can do with a model that writes nothing."""
    st.info(f"This model {WITHOUT[entry.config.top]}. The page Explore shows its attention and its answers.")
    able = [other for other in models() if other.config.top in KINDS]
    if able:
        st.write("These models write, or fill in masked words:")
    for other in able[:6]:
        st.button(other.name, key=f"open_{other.name}", on_click=partial(change, model=other.name, edits=(), masked=()))
