"""Pages run by Streamlit without a browser."""

import json
from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

from headlight_app.server.launch import SCRIPT

OF_EVERY_PAGE = tuple(f"headlight_{name}" for name in ("help", "model_picker", "presenter_mode", "room", "scenes"))
TIMEOUT = 180  # seconds; the first run imports everything, possibly on a busy machine


def open_app(**query: str) -> AppTest:
    """The app at an address."""
    return _at(AppTest.from_file(SCRIPT, default_timeout=TIMEOUT), query)


def alone(name: str, **query: str) -> AppTest:
    """One page, given by its module name, at an address and without the sidebar."""

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

    def call(page: "Callable[[], None]") -> None:  # quoted: the script imports nothing
        page()

    return _at(AppTest.from_function(call, default_timeout=TIMEOUT, args=(page,)), query)


def unfolded(at: AppTest, *expanders: str) -> AppTest:
    """The same page after opening the expanders with these keys."""
    for key in expanders:
        at.session_state[key] = True
    return at.run()


def component_data(part: Any) -> dict[str, Any]:
    """The data given to the component in a part of the page (`at.main`, `at.sidebar`)."""
    components = part.get("bidi_component")
    (component,) = (each for each in components if each.proto.component_name not in OF_EVERY_PAGE)
    [data] = json.loads(component.proto.json)
    found: dict[str, Any] = data
    return found


def _at(at: AppTest, query: dict[str, str]) -> AppTest:
    for name, value in query.items():
        at.query_params[name] = value
    return at.run()
