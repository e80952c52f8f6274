"""The data that the Export menu of every page needs."""

from __future__ import annotations

from msgspec import to_builtins

from headlight_app.access.addresses import current_room_address
from headlight_app.contract.state import State
from headlight_app.engine.models import own_titles
from headlight_app.ui.component import Data


def shared_page(path: str, model: str) -> Data:
    """The data for links besides the state: whether the model is the visitor's own, and the server's URL for others."""
    return {
        "path": path,
        "own_model": own_titles().get(model, ""),
        "room_address": current_room_address(),
    }


def shared_state(path: str, state: State) -> Data:
    """The same with the whole state, for a component that has only its own part of it."""
    return {"page": shared_page(path, state.model), "state": to_builtins(state)}
