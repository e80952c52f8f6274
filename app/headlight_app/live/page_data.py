"""Explore and Generate as the app would mount them, with what is known before the first answer, for a live page."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import msgspec
from msgspec import to_builtins

from headlight.checkpoints import CatalogEntry
from headlight.tasks import task_of
from headlight_app.contract.parts import VariantChoices
from headlight_app.contract.question import OWN_IMAGE_PREFIX, Variant
from headlight_app.contract.state import DEFAULT_STATE, State
from headlight_app.explore.answers.page import page_answer
from headlight_app.explore.contract import ExplorePageAnswer, ExplorePageRequest
from headlight_app.explore.page import SHOWN_PARTS, choice_data, instrument, told
from headlight_app.explore.tabs import TABS
from headlight_app.generate.answers.page import answer_generate_page
from headlight_app.generate.contract import GeneratePageRequest
from headlight_app.generate.page import COMPONENT, PATH, prompt_data
from headlight_app.state.url import KNOWN_NAMES
from headlight_app.state.variants import normalized_state, trained_variant, variant_parts
from headlight_app.ui.component import Data

PAUSE = 250  # milliseconds after the last change before the page returns the choices as data


def live_page(entry: CatalogEntry, encodings: tuple[str, ...]) -> Data:
    """`LivePage` in live/frontend/page/types.ts; `encodings` are the positional ones that the page can compute."""
    known = page_answer(ExplorePageRequest(model=entry.name, device="cpu"))
    known = msgspec.structs.replace(known, reads_pair=False, reads_chat=False)  # a live page reads one text
    generate = _generate(entry) if task_of(entry.config).generates else None
    component = instrument("explore", "Explore" if generate else escape(entry.name))
    return {
        "html": component.markup,
        "css": component.stylesheet,
        "data": _data(entry, known, encodings),
        "rules": _rules(known),
        "generate": generate,
    }


def _data(entry: CatalogEntry, known: ExplorePageAnswer, encodings: tuple[str, ...]) -> Data:
    """What `show_instrument` passes to the component, of a session that has just begun."""
    state = normalized_state(DEFAULT_STATE.change(model=entry.name), entry.config)
    state = state.with_default_head(known.opening_head).change(attention=known.default_attention)
    question = state.question(known.opening.text, known.opening.source)
    choices = _with_encodings(known.variants, encodings)
    data = choice_data(state, question, known.writes_target) | told(known)
    return data | {
        "variants": variant_parts(choices, state.variant, entry.config, {}, SHOWN_PARTS),
        "trained": to_builtins(trained_variant(entry.config)),
        "terms": {name: {**term, "chapter": "", "screen": ""} for name, term in data["terms"].items()},
        "link_settings": {name: getattr(DEFAULT_STATE, name) for name in data["settings"]},
        "first_tasks": [],
        "serial": 0,
        "takes_focus": False,
        "pause": PAUSE,
        "path": "explore",
        "own_model": "",
        "own_image_prefix": OWN_IMAGE_PREFIX,
        "room_address": "",
    }


def _generate(entry: CatalogEntry) -> Data:
    """The page Generate, with what `prompt_data` tells of a session that has just begun."""
    known = answer_generate_page(GeneratePageRequest(model=entry.name, device="cpu")).answer
    known = msgspec.structs.replace(known, reads_chat=False)
    state = normalized_state(DEFAULT_STATE.change(model=entry.name), entry.config).with_default_head(known.default_head)
    question = state.question(known.examples[0].text, known.examples[0].source)
    return {
        "html": COMPONENT.markup,
        "css": COMPONENT.stylesheet,
        "data": prompt_data(state, entry.config, question, known)
        | {
            "presenter": "",
            "serial": 0,
            "shared": {"page": {"path": PATH, "own_model": "", "room_address": ""}, "state": to_builtins(state)},
        },
    }


def _with_encodings(choices: VariantChoices, encodings: tuple[str, ...]) -> VariantChoices:
    """The choices with these positional encodings alone."""
    parts = dict(choices.parts)
    part = parts["positional_encoding"]
    names = {name: title for name, title in part.names.items() if name in encodings}
    parts["positional_encoding"] = msgspec.structs.replace(part, names=names)
    return msgspec.structs.replace(choices, parts=parts)


def _rules(known: ExplorePageAnswer) -> dict[str, dict[str, Any]]:
    """What each choice of a link may be, as `decode_state` checks it: JSON schema with patterns of JavaScript."""
    kinds = msgspec.json.schema(State)["$defs"]
    names = {
        **KNOWN_NAMES,
        "tab": tuple(TABS),
        "quantity": tuple(row.name for row in known.catalogue.quantities),
    }
    state = {name: _rule(rule) for name, rule in kinds[State.__name__]["properties"].items() if name != "variant"}
    state |= {name: state[name] | {"enum": [*allowed]} for name, allowed in names.items()}
    return {
        "state": state,
        "variant": {name: _rule(rule) for name, rule in kinds[Variant.__name__]["properties"].items()},
    }


def _rule(rule: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in rule.items() if name not in ("default", "description")}
    if "pattern" in kept:
        kept["pattern"] = re.sub(r"\\A(.*)\\Z", r"^\1$", kept["pattern"])
    return kept
