"""States of widgets that no page sends: such a widget counts as untouched, and the log gets no traceback.

Streamlit hands what a browser says of a widget to the widget's own reader, which fails where another kind of value
comes, JSON that is none, or a file of a type that it does not take.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
from streamlit.runtime.state.session_state import Serialized, WStates


def ignore_misfits() -> None:
    """From now on, read a state that does not fit its widget as one that was never sent."""
    read = WStates.__getitem__

    def read_or_reset(states: WStates, key: str) -> Any:
        state, metadata = states.states.get(key), states.widget_metadata.get(key)
        if not isinstance(state, Serialized) or metadata is None:
            return read(states, key)
        kind = state.value.WhichOneof("value")
        if kind in (None, metadata.value_type):
            with suppress(Exception):  # whatever a reader raises, what it reads came from a browser
                if kind in ("json_value", "json_trigger_value"):  # Streamlit logs a traceback for what is none of these
                    msgspec.json.decode(getattr(state.value, kind), type=dict[str, Any] | list[Any] | None)
                return read(states, key)
        states.set_from_value(key, metadata.deserializer(None))
        return read(states, key)

    WStates.__getitem__ = read_or_reset  # type: ignore[method-assign]
