"""Scope: the model, text and screen of a step's expressions, and the runs that they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from headlight.checkpoints.load import Checkpoint
from headlight.errors import InputError
from headlight.lessons.tables import Table
from headlight.nn.transformer import Transformer, variant
from headlight.tracing.predictions import prediction_positions
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from headlight.views.rows import Row

Value = float | str | bool | Table
MAX_TOKENS, MAX_RUNS = 64, 80  # per text, per step: more would keep a class waiting


@dataclass(frozen=True, eq=False)
class Scope:
    """A model, a text, edits, and parts that replace the model's own; or the views of a course screen.

    `names` are the values of the lesson's `let` lines. Scopes made by `with_` share their runs.
    """

    checkpoint: Checkpoint | None
    text: str
    seed: int = 0
    names: Mapping[str, Value] = field(default_factory=dict)
    rows: tuple[Row, ...] = ()
    edits: tuple[str, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    _runs: dict[Any, Trace] = field(default_factory=dict)

    def with_(self, **changes: Any) -> Scope:
        """A copy with changed fields."""
        return replace(self, **changes)

    @property
    def opened(self) -> Checkpoint:
        """The model and its tokenizer. Raises InputError if the lesson has none."""
        if self.checkpoint is None:
            raise InputError("This lesson has no model. Name one in its header.")
        return self.checkpoint

    @property
    def model(self) -> Transformer:
        """The network, with the parts of this scope."""
        network = self.opened.model
        return variant(network, **dict(self.parts)) if self.parts else network  # type: ignore[arg-type]

    @property
    def stack(self) -> str:
        """The predicting stack."""
        return self.model.config.stacks[-1]

    @property
    def trace(self) -> Trace:
        """The run of this scope. Raises HeadlightError for a text that the model cannot read."""
        run_of = (self.text, self.edits, self.parts)
        if run_of not in self._runs:
            self._runs[run_of] = self._run()
        return self._runs[run_of]

    def _run(self) -> Trace:
        if not self.text:
            raise InputError("This lesson has no text for its model. Write one in its header.")
        if len(self._runs) >= MAX_RUNS:
            raise InputError(f"This step runs its model more than {MAX_RUNS} times. Use fewer runs.")
        tokens = len(self.opened.tokenizer.encode(self.text).ids)
        if tokens > MAX_TOKENS:
            raise InputError(f"The text has {tokens} tokens; a lesson takes at most {MAX_TOKENS}. Shorten it.")
        return run(self.model, self.opened.tokenizer, self.text, self.edits)

    @property
    def position(self) -> int:
        """The predicting position: the first mask, or the last token. Raises InputError if there is none."""
        positions = prediction_positions(self.model, self.opened.tokenizer, self.trace.text)
        if not positions:
            raise InputError("This model predicts nothing for this text. A model that fills masks needs a [MASK].")
        return positions[0]

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of the text without the spaces in front of them."""
        return tuple(each.strip() or "␣" for each in self.trace.text.token_texts)
