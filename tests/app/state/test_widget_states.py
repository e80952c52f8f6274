"""Forged widget states leave the page unchanged."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import streamlit
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX, WStates
from streamlit.testing.v1.element_tree import Block

from headlight_app.engine.models import available_models
from headlight_app.frame.sidebar import _store_widget
from headlight_app.state.widget_states import ignore_misfits
from headlight_app.tasks.page import _choose_task
from tests.app.pages import alone, open_app
from tests.sampling import some

KINDS = WidgetState.DESCRIPTOR.oneofs_by_name["value"].fields
REPORTS = (
    *("", "null", "5", '"x"', "[" * 2_000, '{"settled": 5}', '{"settled": {"serial": "x", "turn": []}}'),
    '{"settled": {"serial": 9, "text": 5, "model": {}, "variant": 7, "presenter": [], "side_b": "x", "sampling": {}}}',
    '{"settled": {"serial": 99, "text": "\\ud800", "model": "\\ud800", "presenter": "\\ud800"}}',
)


def forged(name: str) -> Iterator[WidgetState]:
    """The state of a widget as every value type, and as JSON that no component sends."""
    for kind in KINDS:
        state = WidgetState(id=name)
        if kind.name == "file_uploader_state_value":
            state.file_uploader_state_value.uploaded_file_info.add()
        elif kind.message_type:
            getattr(state, kind.name).SetInParent()
        else:
            setattr(state, kind.name, kind.default_value)
        yield state
    for report in REPORTS:
        yield WidgetState(id=name, json_value=report)
        yield WidgetState(id=f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{name}__events", json_trigger_value=report)


def protos(block: Block) -> Iterator[Any]:
    """The elements that the page sends."""
    for node in block.children.values():
        if getattr(node, "proto", None) is not None:
            yield node.proto
        if isinstance(node, Block):
            yield from protos(node)


@pytest.mark.parametrize(
    "page", some(["", "models", "tasks", "compare", "generate", "course"], lambda page: page in ("", "course"))
)
def test_a_state_that_no_page_sends_is_ignored(
    page: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(WStates, "__getitem__", WStates.__getitem__)  # restored after this test
    ignore_misfits()
    at = alone(page, model="next") if page else open_app(model="next")
    names = {proto.id for proto in protos(at._tree) if str(getattr(proto, "id", "")).startswith("$$")}
    assert names
    for states in zip(*map(forged, ["$$ID-0-unknown", *names]), strict=True):
        at._run(WidgetStates(widgets=states))
        assert not at.exception
    assert not [record for record in caplog.records if record.exc_info]


def test_the_installed_streamlit_still_needs_it() -> None:
    states = WStates()
    states.set_widget_from_proto(WidgetState(id="a", int_value=1))
    states.set_widget_metadata(WidgetMetadata("a", lambda _: 1 / 0, str, "json_value"))
    told = f"Streamlit {streamlit.__version__} ignores a state that does not fit: delete state/widget_states.py."
    with pytest.raises(ZeroDivisionError):
        pytest.fail(f"{told} {states['a']}")


@pytest.mark.parametrize(
    ("module", "changed"),
    [("frame.sidebar", _store_widget("measure", False)), ("tasks.page", lambda: _choose_task(available_models()[0]))],
    ids=["sidebar", "tasks"],
)
def test_a_change_of_a_widget_that_the_session_has_forgotten_is_ignored(
    module: str, changed: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"headlight_app.{module}.change_state", lambda **_: pytest.fail("a choice is stored"))
    changed()  # outside of a session, no widget has a value
