"""The Positions page: the positional encoding of a stack in words, its charts and its losses as views, and its code."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from headlight.analysis.position_profile import encoding_name
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS, PositionalEncoding
from headlight.nn.transformer import describe_missing_weights
from headlight.views.kinds import ChoiceView, Equations, Pick, Verdict
from headlight.views.rows import Row
from headlight_app.contract.reply import Reply
from headlight_app.contract.state import State
from headlight_app.export.answers.views import ShownPage
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve
from headlight_app.inference.source_code import source_of
from headlight_app.positions.answers.charts import chart_rows
from headlight_app.positions.answers.exchange import exchange_rows
from headlight_app.positions.answers.losses import loss_rows, measured_losses
from headlight_app.positions.contract import EncodingCodeAnswer, EncodingCodeRequest

MAX_POSITIONS = 256  # a screen does not have enough pixels for more
MAX_BIASES = 1 << 23  # numbers to compute: 256 positions of 128 heads
OF_ANOTHER = "The model was not trained with this positional encoding; this is how it would act on the model."


@dataclass(frozen=True)
class Subject:
    """The stack, and the layer if layers differ, whose encoding is shown at the positions 0 to `length` - 1."""

    stack: str
    layer: int | None
    encoding: type[PositionalEncoding]
    length: int

    @property
    def words(self) -> str:
        """In the description of a saved figure."""
        layer = "" if self.layer is None else f", layer {self.layer}"
        return f"{self.stack}{layer}, {self.length} positions"


def answer_encoding_code(request: EncodingCodeRequest) -> Reply[EncodingCodeAnswer]:
    """The code of an encoding, and the commands that measured the losses of all."""
    resolved = resolve(request.question)
    encoding = _subject(resolved, request.attention, request.layer).encoding
    commands = tuple(found.command for _, found in measured_losses(resolved.config.architecture))
    return Reply(EncodingCodeAnswer(code=source_of(encoding), commands=commands))


def show_encoding(resolved: ResolvedQuestion, state: State) -> ShownPage:
    """The views of the page: its choices, the encoding in words, its charts, and the measured losses."""
    subject = _subject(resolved, state.attention, state.layer)
    profile = resolved.position_profile(subject.length, subject.stack, subject.layer)
    missing = describe_missing_weights(resolved.model)
    return ShownPage(
        rows=(
            *_choices(resolved, subject),
            *(() if missing else exchange_rows(resolved, subject.stack, state.order_text)),
            *_words(subject.encoding, missing or (OF_ANOTHER if _is_replaced(resolved) else "")),
            *chart_rows(profile, state, only_layout=bool(missing)),
            *loss_rows(resolved.config.architecture, resolved.question.model),
        ),
        title=subject.encoding.title,
        about=subject.words,
        program={"length": subject.length, "stack": subject.stack, "layer": subject.layer},
    )


def _is_replaced(resolved: ResolvedQuestion) -> bool:
    return bool(resolved.question.variant.positional_encoding)


def _subject(resolved: ResolvedQuestion, attention: str, layer: int) -> Subject:
    """The stack and layer of a choice, as far as the model has them; a replaced encoding is the same in all layers."""
    config = resolved.config
    asked = attention.partition(".")[0]
    stack = asked if asked in config.stacks else config.stacks[-1]
    of_stack = config.for_stack(stack)
    differ = of_stack.per_layer.positions_differ and not _is_replaced(resolved)
    shown = min(max(layer, 0), config.num_layers(stack) - 1) if differ else None
    encoding = POSITIONAL_ENCODINGS[encoding_name(of_stack, shown)]
    return Subject(stack, shown, encoding, _length(encoding, of_stack.context_length, of_stack.heads))


def _length(encoding: type[PositionalEncoding], context_length: int, heads: int) -> int:
    """As many positions as a screen can show, and fewer if very many heads have biases."""
    most = min(context_length, MAX_POSITIONS)
    has_biases = encoding.bias is not PositionalEncoding.bias
    return max(min(most, math.isqrt(MAX_BIASES // heads)), 1) if has_biases else most


def _choices(resolved: ResolvedQuestion, subject: Subject) -> Iterator[Row]:
    """The choices of a stack and a layer, if there are several; their channels are others."""
    stacks, layers = resolved.config.stacks, range(resolved.config.num_layers(subject.stack))
    if len(stacks) > 1:
        of_stack: tuple[Pick, ...] = tuple({"attention": f"{stack}.self", "channels": ()} for stack in stacks)
        yield Row((ChoiceView("Stack", tuple(stacks), of_stack, chosen=stacks.index(subject.stack)),))
    if subject.layer is not None:
        of_layer: tuple[Pick, ...] = tuple({"layer": layer, "channels": ()} for layer in layers)
        yield Row(
            (ChoiceView("Layer", tuple(map(str, layers)), of_layer, form="select", chosen=subject.layer),),
            text="Each layer of this model encodes positions in its own way.",
        )


def _words(encoding: type[PositionalEncoding], reservation: str) -> Iterator[Row]:
    """The description and formula of an encoding, and what restricts the charts below it."""
    yield Row((Equations(lines=(encoding.formula,)),) if encoding.formula else (), text=encoding.description)
    if reservation:
        yield Row((Verdict(reservation),))
