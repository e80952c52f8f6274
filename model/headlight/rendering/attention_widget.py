"""The widgets that `headlight.widget` creates; only this module needs anywidget, the extra `widget`.

The browser draws with the same script as a saved page. Choices are synchronized as traits in both directions; newly
computed values are sent as the metadata and numbers of an HtmlView.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from secrets import token_hex
from typing import Any

import anywidget
from IPython.display import publish_display_data
from traitlets import Bytes, Int, TraitError, Tuple, Unicode, observe, validate

from headlight.checkpoints.load import Checkpoint
from headlight.errors import HeadlightError, shortened
from headlight.rendering.html import SCRIPT, HtmlView, SavedView
from headlight.rendering.predictions import predictions_json
from headlight.tasks import task_of
from headlight.tracing.inputs import ModelInput
from headlight.tracing.interventions import InterventionLike
from headlight.tracing.run import run
from headlight.tracing.trace import NOT_FINITE, Trace

_CHOICES = ("attention", "layer", "head", "heads", "query", "pinned")
_TEXTS = ("text", "source")
_HEAD_NAME = re.compile(r"(\d+)\.(\d+)")
MAX_LIVE_CELLS = 1 << 16  # up to which float32 is sent per keystroke: Jupyter drops data above 1 MB per second

_Inputs = tuple[str | None, str | None, tuple[str, ...]]  # text, source, edits


class AttentionWidget(anywidget.AnyWidget):
    """The heads of one attention or trace. Each attribute can be read and set; an invalid value raises TraitError.

    `attention` is the name of an attention, such as "decoder.self"; `layer` and `head` are its chosen head; `heads` are
    all selected ones, as "2.3" for head 3 of layer 2, empty for a single one. `query` is the chosen position, -1 for
    the last; `pinned` are the positions with pinned rows, without those beyond the end of a shortened text.
    """

    _esm = SCRIPT.read_text(encoding="ascii") + "\nexport default { render: headlight.renderWidget };\n"
    _name = Unicode().tag(sync=True)
    _view = Bytes().tag(sync=True)
    _asked = Int().tag(sync=True)  # number of the browser's requests
    _answered = Int().tag(sync=True)  # the last of them that Python has received
    error = Unicode(help="A sentence on a choice in the browser that is invalid.").tag(sync=True)
    attention = Unicode().tag(sync=True)
    layer = Int().tag(sync=True)
    head = Int().tag(sync=True)
    heads = Tuple().tag(sync=True)
    query = Int(-1).tag(sync=True)
    pinned = Tuple().tag(sync=True)

    def __init__(self, view: HtmlView, saved: SavedView | None = None, **more: Any) -> None:
        self._shown, self._saved = view, saved
        known = {name: view.meta["state"][name] for name in _CHOICES if name in view.meta["state"]}
        first = {"attention": view.meta["attention_groups"][0]["name"]} | known
        super().__init__(_name=token_hex(8), _view=_pack(view), **first, **more)

    def show(self) -> HtmlView:
        """The current view, as from `Trace.show`: `save` writes a file that needs no Python."""
        state = {name: getattr(self, name) for name in _CHOICES}
        meta = self._shown.meta
        return replace(self._shown, meta={**meta, "state": {**meta["state"], **state}})

    def set_state(self, sync_data: Mapping[str, Any]) -> None:
        """Apply the choices of the browser; an invalid one sets `error`, and texts stay as typed."""
        with self.hold_sync():
            self.error = ""
            try:
                super().set_state(sync_data)
            except TraitError as error:
                self.error = str(error)
        if self.error:
            self.send_state([name for name in sync_data if name not in _TEXTS])
        self._answered = sync_data.get("_asked", self._answered)

    def _ipython_display_(self, **_: Any) -> None:
        """Show the view, which a saved notebook keeps, and the widget, which hides the view."""
        view = self._saved or self.show()
        saved = f'<div data-headlight-widget="{self._name}">{view._repr_html_()}</div>'
        kept = {"text/html": saved, "text/plain": self._shown.title}
        for data, metadata in ((kept, {}), self._repr_mimebundle_() or ({}, {})):
            publish_display_data(data, metadata)  # type: ignore[no-untyped-call]

    @property
    def _group(self) -> Mapping[str, Any]:
        groups: Sequence[Mapping[str, Any]] = self._shown.meta["attention_groups"]
        return next(each for each in groups if each["name"] == self.attention)

    @validate("attention")
    def _check_attention(self, proposal: Mapping[str, Any]) -> str:
        names = [each["name"] for each in self._shown.meta["attention_groups"]]
        if proposal["value"] not in names:
            raise TraitError(f"{proposal['value']!r} is not an attention of this model; there is {', '.join(names)}.")
        return str(proposal["value"])

    @observe("attention")
    def _clamp_head(self, _: Any) -> None:
        with self.hold_trait_notifications():
            self.heads, self.pinned = (), ()
            self.layer, self.head = (min(getattr(self, one), self._group[f"{one}s"] - 1) for one in ("layer", "head"))

    @observe("layer", "head", "heads")
    def _keep_head_among_heads(self, change: Mapping[str, Any]) -> None:
        if not self.heads or f"{self.layer}.{self.head}" in self.heads:
            return
        if change["name"] != "heads":
            self.heads = ()
            return
        with self.hold_trait_notifications():
            self.layer, self.head = map(int, self.heads[-1].split("."))

    @validate("layer", "head")
    def _check_head(self, proposal: Mapping[str, Any]) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        return _within(value, 0, self._group[f"{name}s"], name)

    @validate("heads")
    def _check_heads(self, proposal: Mapping[str, Any]) -> tuple[str, ...]:
        for name in proposal["value"]:
            match = _HEAD_NAME.fullmatch(str(name))
            if not match:
                raise TraitError(f"{shortened(str(name))!r} is not a head; head 3 of layer 2 is '2.3'.")
            _within(int(match[1]), 0, self._group["layers"], "layer")
            _within(int(match[2]), 0, self._group["heads"], "head")
        return tuple(map(str, proposal["value"]))

    @validate("query")
    def _check_query(self, proposal: Mapping[str, Any]) -> int:
        return _within(proposal["value"], -1, len(self._shown.meta["tokens"]), "query")

    @validate("pinned")
    def _check_pinned(self, proposal: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(position for position in proposal["value"] if position in range(self._group["rows"]))


class ModelWidget(AttentionWidget):
    """The heads of a model, updated when `text`, `source` or `edits` are set.

    `text` or `source` is None if the model reads an image or a sound instead. `trace` is the current trace. (An element
    of `marimo.ui.anywidget` has its own `text`: there, read `value["text"]`.)
    """

    text = Unicode(None, allow_none=True).tag(sync=True)
    source = Unicode(None, allow_none=True).tag(sync=True)
    edits = Tuple().tag(sync=True)

    def __init__(
        self,
        checkpoint: Checkpoint,
        text: ModelInput,
        source: ModelInput | None = None,
        edits: Sequence[InterventionLike] = (),
        saved: SavedView | None = None,
    ) -> None:
        self._checkpoint, self._given = checkpoint, {"text": text, "source": source}
        self._last: tuple[_Inputs, Trace, HtmlView] | None = None
        texts = {name: value for name, value in self._given.items() if isinstance(value, str)}
        inputs = (texts.get("text"), texts.get("source"), tuple(map(str, edits)))
        self._as_trained: tuple[Any, Trace] | None = None
        self.trace, view = self._run(inputs)
        super().__init__(self._with_predictions(view, inputs, -1), saved, **texts, edits=inputs[2])

    def _run(self, inputs: _Inputs) -> tuple[Trace, HtmlView]:
        """The trace of text, source and edits, and its view; the last one is cached."""
        if self._last is None or self._last[0] != inputs:
            trace = self._trace_of(inputs)
            self._last = inputs, trace, trace.show()
        return self._last[1:]

    def _trace_of(self, inputs: _Inputs) -> Trace:
        text, source = (self._given[name] if one is None else one for name, one in zip(_TEXTS, inputs[:2], strict=True))
        return run(self._checkpoint.model, self._checkpoint.tokenizer, text or "", inputs[2], source=source)

    def _with_predictions(self, view: HtmlView, inputs: _Inputs, query: int) -> HtmlView:
        """The view with the predictions at a query, before and after the changes."""
        texts, edits = inputs[:2], inputs[2]
        if edits and (self._as_trained is None or self._as_trained[0] != texts):
            self._as_trained = texts, self._trace_of((*texts, ()))
        before = self._as_trained[1].logits_at if edits and self._as_trained else None
        trace, tokenizer = self.trace, self._checkpoint.tokenizer
        found = predictions_json(trace, tokenizer, query, trace.logits_at, before)
        reason = "" if found else task_of(trace.config).no_prediction or NOT_FINITE
        meta = {**view.meta, "predictions": found, "changed": bool(edits), "no_prediction_reason": reason}
        return replace(view, meta=meta)

    @validate(*_TEXTS, "edits")
    def _check_inputs(self, proposal: Mapping[str, Any]) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        asked = {each: getattr(self, each) for each in (*_TEXTS, "edits")} | {name: value}
        edits = tuple(map(str, asked["edits"]))
        try:
            self._run((asked["text"], asked["source"], edits))
        except HeadlightError as error:
            raise TraitError(str(error)) from error
        return edits if name == "edits" else value

    @observe(*_TEXTS, "edits", "query")
    def _follow_inputs(self, _: Any) -> None:
        inputs = (self.text, self.source, self.edits)
        trace, view = self._run(inputs)
        if self.error:  # left by an invalid choice in the browser before this change by Python
            self.error = ""
            self.send_state([*_TEXTS, "edits"])
        with self.hold_sync():
            self.trace, self._shown = trace, view
            self.query = self.query if self.query < len(view.meta["tokens"]) else -1
            self.pinned = tuple(position for position in self.pinned if position < self._group["rows"])
            self._shown = self._with_predictions(view, inputs, self.query)
            self._view = _pack(_light(self._shown))


def _within(value: int, first: int, end: int, name: str) -> int:
    if not (isinstance(value, int) and first <= value < end):
        raise TraitError(f"The {name} must be from {first} to {end - 1}, not {value}.")
    return value


def _light(view: HtmlView) -> HtmlView:
    """The view per keystroke: beyond MAX_LIVE_CELLS without the float32 weights."""
    groups = view.meta["attention_groups"]
    cells = sum(each["layers"] * each["heads"] * each["rows"] * each["columns"] for each in groups)
    if not groups[0]["exact"] or cells <= MAX_LIVE_CELLS:
        return view
    coarse = [each | {"exact": False} for each in groups]
    return replace(view, meta={**view.meta, "attention_groups": coarse}, numbers=view.numbers[:cells])


def _pack(view: HtmlView) -> bytes:
    """The metadata and numbers in the format of the page's replies: the JSON's length, the JSON, and the numbers."""
    text = json.dumps(view.meta, allow_nan=False).encode()
    header = len(text).to_bytes(4, "little") + text
    return header + bytes(-len(header) % 4) + view.numbers
