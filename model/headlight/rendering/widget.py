"""widget(): heads in a notebook, which Python code can read and set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from headlight.checkpoints.load import Checkpoint
from headlight.errors import DataError
from headlight.nn.transformer import Transformer
from headlight.rendering.html import SavedView, show_trace
from headlight.rendering.show import show
from headlight.tracing.inputs import ModelInput
from headlight.tracing.interventions import InterventionLike
from headlight.tracing.trace import Trace

if TYPE_CHECKING:
    from headlight.rendering.attention_widget import AttentionWidget, ModelWidget


@overload
def widget(
    shown: Checkpoint,
    text: ModelInput,
    *,
    source: ModelInput | None = None,
    edits: Sequence[InterventionLike] = (),
    saved: SavedView | None = None,
) -> ModelWidget: ...


@overload
def widget(shown: Trace, *, saved: SavedView | None = None) -> AttentionWidget: ...


@overload
def widget(
    shown: Any, text: Sequence[str], keys: Sequence[str] | None = None, *, saved: SavedView | None = None
) -> AttentionWidget: ...


def widget(
    shown: Any,
    text: Any = None,
    keys: Sequence[str] | None = None,
    *,
    source: ModelInput | None = None,
    edits: Sequence[InterventionLike] = (),
    saved: SavedView | None = None,
) -> AttentionWidget:
    """Heads as a widget for JupyterLab, VS Code, Colab and marimo; Python can read and set the chosen head and query.

    `shown` is a checkpoint, which reads `text` (and `source`) with `edits`: a change of these, in Python or in the
    widget, updates the heads. Or it is a trace, or the attention of any library with its tokens and keys, as for
    `show`. A saved notebook shows its heads as they were at first; or `saved`, as a live page
    (`headlight_app.live.notebook.live_view`), which computes without a kernel. Raises ImportError without the extra
    `widget`, and the errors of `run` or `show` for invalid input.
    """
    try:
        from headlight.rendering.attention_widget import AttentionWidget, ModelWidget
    except ModuleNotFoundError as error:
        raise ImportError("A widget needs anywidget: pip install 'attention-headlight[widget]'.") from error
    if isinstance(shown, Checkpoint):
        return ModelWidget(shown, text, source, edits, saved)
    if isinstance(shown, Transformer):
        raise DataError(
            "A model alone reads no text: give its checkpoint; dataclasses.replace puts a variant into one."
        )
    if source is not None or edits:
        raise DataError("Only a model can follow a source or edits: give the checkpoint instead of its results.")
    return AttentionWidget(show_trace(shown) if isinstance(shown, Trace) else show(shown, text, keys), saved)
