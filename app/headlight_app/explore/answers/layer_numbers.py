"""The numbers of each layer at one token, beside the heads in a figure of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Literal

import numpy as np

from headlight.analysis.attribution import attribute_logits
from headlight.analysis.lenses.logit_lens import residual_norms
from headlight.errors import HeadlightError
from headlight.problem_types import problem_type_of
from headlight.tasks import task_of
from headlight.views.words import in_line, quoted_in_line, three_digits
from headlight_app.contract.reply import Reply
from headlight_app.explore.answers.layer_analysis import answer_text, extended_trace, position_of, target_answer
from headlight_app.explore.answers.lens.cells import lens_cells
from headlight_app.explore.contract import LayerColumn, LayerNumbersAnswer, LayerNumbersRequest
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve

Found = tuple[list[LayerColumn], str]  # columns, and what they are

ADDING = {
    "self": "attention",
    "cross": "cross-attention",
    "feed_forward": "feed-\nforward",
    "layer_embedding": "layer\nembedding",
}


def answer_layer_numbers(request: LayerNumbersRequest) -> Reply[LayerNumbersAnswer]:
    """The numbers that this model has; a model without some of them has the others."""
    resolved = resolve(request.question)
    tokens = resolved.trace.text.token_texts
    position = position_of(request.query, resolved.trace)
    parts: list[Callable[[], Found]] = [
        lambda: _lens(resolved, position),
        lambda: _norms(resolved, position),
        lambda: _added(resolved, position, request.token),
    ]
    found = []
    for part in parts:
        with suppress(HeadlightError):
            found.append(part())
    what = "; ".join(words for _, words in found)
    place = f"beside each layer, at {quoted_in_line(tokens[position])} (position {position})"
    columns = tuple(column for columns, _ in found for column in columns)
    return Reply(LayerNumbersAnswer(columns=columns, rule=f"{place}: {what}" if found else ""))


def _lens(resolved: ResolvedQuestion, position: int) -> Found:
    """The likeliest answer after each layer, and the rank of the true token."""
    cells = lens_cells(resolved, slice(position, position + 1))
    is_probability = problem_type_of(resolved.config).is_probability
    best, unit = ("likeliest", "probability p") if is_probability else ("highest", "score")
    answer = "label" if task_of(resolved.config).predicts_labels else "token"
    depths, target = range(len(cells.ranks)), cells.targets[0]
    columns = [
        _column(f"{best}\n{answer}", (in_line(cells.text(depth, 0)) for depth in depths), align="start"),
        _column("p" if is_probability else "score", (cells.number(depth, 0) for depth in depths)),
    ]
    if target < 0:
        return columns, f"the {best} {answer} by the logit lens and its {unit}"
    columns.append(
        _column(f"rank of\n{quoted_in_line(cells.token(target))}", (f"{rank:,}" for rank in cells.ranks[:, 0]))
    )
    return columns, "the likeliest token by the logit lens, its probability p, and the rank of the true token"


def _norms(resolved: ResolvedQuestion, position: int) -> Found:
    norms = residual_norms(extended_trace(resolved))[:, position].astype(float)
    return [_column("residual\nnorm", map(_three_digits, norms))], "the norm of the residual stream"


def _added(resolved: ResolvedQuestion, position: int, token: int) -> Found:
    """What the attention and the feed-forward of each layer add to the logit of an answer."""
    position, token, _ = target_answer(resolved, position, token)
    found = attribute_logits(resolved.model, extended_trace(resolved), position)
    added = found.logits(np.array([token]))[:, 0].astype(float)
    kinds = [kind for kind in ADDING if any(part.kind == kind for part in found.components)]
    sums = {kind: np.zeros(resolved.config.num_layers(resolved.config.stacks[-1])) for kind in kinds}
    for part, number in zip(found.components, added, strict=True):
        if part.kind in sums:
            sums[part.kind][part.layer] += number
    titles = ADDING | ({"self": "self-attention"} if "cross" in kinds else {})
    columns = [_column(f"{titles[kind]}\nadds", ("", *map(_signed, sums[kind]))) for kind in kinds]
    answer = quoted_in_line(answer_text(resolved.trace, resolved.tokenizer, token))
    return columns, f"contribution to the logit of {answer} (direct logit attribution)"


def _column(title: str, texts: Iterable[str], align: Literal["start", "end"] = "end") -> LayerColumn:
    embedding, *layers = texts
    return LayerColumn(title=title, embedding=embedding, layers=tuple(layers), align=align)


def _three_digits(number: float) -> str:
    """A number of a column: all digits before the point, or three with its zeros, so that points are aligned."""
    if number and abs(number) < 0.0001:
        return three_digits(number)
    return (f"{number:,.0f}" if abs(number) >= 100 else f"{number:#.3g}".rstrip(".")).replace("-", "−")


def _signed(number: float) -> str:
    """A summand with two decimals and a sign, so that a column is aligned."""
    size = f"{abs(number):.2f}"
    return f"−{size}" if number < 0 and size != "0.00" else f"+{size}"
