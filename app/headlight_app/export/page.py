"""What the menu Export of every page knows of it."""

from __future__ import annotations

from msgspec import to_builtins

from headlight_app.access.addresses import current_room_address
from headlight_app.contract.question import OWN_IMAGE_PREFIX
from headlight_app.contract.state import State
from headlight_app.engine.models import own_titles
from headlight_app.ui.component import Data


def shared_page(path: str, model: str) -> Data:
    """What a link must know besides what was chosen: a model of one's own, and the address for others."""
    return {
        "path": path,
        "own_model": own_titles().get(model, ""),
        "own_image_prefix": OWN_IMAGE_PREFIX,
        "room_address": current_room_address(),
    }


def shared_state(path: str, state: State) -> Data:
    """The same with everything that was chosen, for a page that knows only its own part of it."""
    return {"page": shared_page(path, state.model), "state": to_builtins(state)}
