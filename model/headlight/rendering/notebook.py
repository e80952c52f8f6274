"""The result of `headlight.run`: a trace that shows its heads in a notebook.

This module is above `headlight.tracing`, which records traces and does not depend on rendering.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import ParamSpec

from headlight.nn.transformer import Transformer
from headlight.rendering.html import HtmlView, show_trace
from headlight.text.tokenizer import Tokenizer
from headlight.tracing import run as recording
from headlight.tracing import trace as tracing
from headlight.tracing.run import InterventionLike

Parameters = ParamSpec("Parameters")


@dataclass(frozen=True, eq=False)
class Trace(tracing.Trace):
    """The recorded values of one forward pass (`headlight.tracing.trace.Trace`), with a notebook view."""

    def show(self, layer: int | None = None, head: int | None = None) -> HtmlView:
        """All heads as interactive HTML in a notebook: thumbnails, and one head as heatmap, lines, text and table.

        The named head is shown first, or else `strongest_local_head`; `save` writes a file. Raises EditError if the
        trace has no weights: for a long text `run` keeps them only with `keep=("*.weights", "*.mask")`. Without masks,
        cells that any head attends to count as allowed.
        """
        return show_trace(self, layer, head)


def _with_show(record: Callable[Parameters, tracing.Trace]) -> Callable[Parameters, Trace]:
    """The same function, returning a trace with a notebook view."""

    @wraps(record)
    def record_and_wrap(*args: Parameters.args, **options: Parameters.kwargs) -> Trace:
        trace = record(*args, **options)
        return Trace(**{each.name: getattr(trace, each.name) for each in fields(trace)})

    return record_and_wrap


run = _with_show(recording.run)


def run_texts(
    model: Transformer, tokenizer: Tokenizer, texts: Sequence[str], interventions: Sequence[InterventionLike] = ()
) -> list[Trace]:
    """A trace of each text, with the same edits. Raises like `run`."""
    return [run(model, tokenizer, text, interventions) for text in texts]
