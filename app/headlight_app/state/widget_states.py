"""Invalid widget states: such a widget counts as untouched, and no traceback is logged.

Streamlit passes a widget state from the browser to the widget's deserializer, which fails on a value of another kind,
invalid JSON, or a file of a type that it does not accept.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
from streamlit.runtime.state.session_state import Serialized, WStates


def ignore_misfits() -> None:
    """Patch Streamlit, so that a state that does not fit its widget counts as never sent."""
    read = WStates.__getitem__

    def read_or_reset(states: WStates, key: str) -> Any:
        state, metadata = states.states.get(key), states.widget_metadata.get(key)
        if not isinstance(state, Serialized) or metadata is None:
            return read(states, key)
        kind = state.value.WhichOneof("value")
        if kind in (None, metadata.value_type):
            with suppress(Exception):  # a deserializer may raise anything on browser input
                if kind in ("json_value", "json_trigger_value"):  # Streamlit logs a traceback for any other JSON
                    msgspec.json.decode(getattr(state.value, kind), type=dict[str, Any] | list[Any] | None)
                return read(states, key)
        states.set_from_value(key, metadata.deserializer(None))
        return read(states, key)

    WStates.__getitem__ = read_or_reset  # type: ignore[method-assign]
