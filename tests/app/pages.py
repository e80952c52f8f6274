"""Pages as Streamlit runs them, without a browser."""

import json
from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

from headlight_app.server.launch import SCRIPT

OF_EVERY_PAGE = tuple(f"headlight_{name}" for name in ("help", "model_picker", "presenter_mode", "room", "scenes"))
TIMEOUT = 180  # seconds; the first run imports everything, perhaps on a busy machine


def open_app(**query: str) -> AppTest:
    """The app at an address."""
    return _at(AppTest.from_file(SCRIPT, default_timeout=TIMEOUT), query)


def alone(name: str, **query: str) -> AppTest:
    """One page at an address, by its module's name, without the sidebar."""

    def page(name: str) -> None:
        from importlib import import_module

        from headlight_app.engine.models import available_models
        from headlight_app.state.session import current_state

        state = current_state()
        entry = next(entry for entry in available_models() if entry.name == state.model)
        import_module(f"headlight_app.{name}.page").show(state, entry)

    return _at(AppTest.from_function(page, default_timeout=TIMEOUT, args=(name,)), query)


def scripted(page: Callable[[], None], **query: str) -> AppTest:
    """A function as a page, at an address."""

    def call(page: "Callable[[], None]") -> None:  # in the script, which imports nothing
        page()

    return _at(AppTest.from_function(call, default_timeout=TIMEOUT, args=(page,)), query)


def unfolded(at: AppTest, *expanders: str) -> AppTest:
    """The same page once somebody has opened some of its expanders, by their keys."""
    for key in expanders:
        at.session_state[key] = True
    return at.run()


def component_data(part: Any) -> dict[str, Any]:
    """What the component in a part of the page (`at.main`, `at.sidebar`) was given."""
    components = part.get("bidi_component")
    (component,) = (each for each in components if each.proto.component_name not in OF_EVERY_PAGE)
    [data] = json.loads(component.proto.json)
    found: dict[str, Any] = data
    return found


def _at(at: AppTest, query: dict[str, str]) -> AppTest:
    for name, value in query.items():
        at.query_params[name] = value
    return at.run()
