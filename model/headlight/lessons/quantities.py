"""The quantities in expressions of a lesson: values of a run or of a screen, and functions of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from headlight.analysis.attention_maps import attention_rollout
from headlight.analysis.head_metrics import HEAD_METRICS, head_metrics
from headlight.analysis.lenses.logit_lens import lens_at, logit_lens, residual_norms, target_tokens
from headlight.analysis.residual_stream import require_attention_alone
from headlight.analysis.weight_importance import weighted_value_norm
from headlight.course.sentences import rank_word
from headlight.errors import InputError, shortened
from headlight.lessons.scope import Scope, Value
from headlight.lessons.tables import Table
from headlight.nn.hooks import HOOK_POINTS
from headlight.nn.stack import NORM_PLACEMENTS
from headlight.registry import Registry
from headlight.tasks import task_of
from headlight.tracing.predictions import candidates
from headlight.tracing.trace import require_head
from headlight.views.kinds import BarsView, HeatMapView, MatrixView, to_numpy
from headlight.views.words import NATS_PER_BIT, digits

MOST_PREDICTIONS = 12
DRAWN = (-2, -1, 1, 2, 3)  # without 0, which would make products too easy
Inner = Callable[[Scope], Value]  # an expression that is computed in another scope


@dataclass(frozen=True)
class Quantity:
    """A quantity: the names and kinds of its arguments, and a description of its value.

    `kinds` are "number", "text", "table" or "expression": the last is computed in a scope that the quantity chooses.
    """

    arguments: tuple[str, ...]
    kinds: tuple[str, ...]
    description: str
    compute: Callable[..., Value]


def _row(signature: str, description: str, compute: Callable[..., Value]) -> Quantity:
    """A row from arguments such as "layer:number, head:number"."""
    pairs = [each.strip().split(":") for each in signature.split(",") if each.strip()]
    names, kinds = tuple(name for name, _ in pairs), tuple(kind for _, kind in pairs)
    return Quantity(names, kinds, description, compute)


def whole(number: float, what: str) -> int:
    """A whole number as int. Raises InputError for other numbers."""
    if not (math.isfinite(number) and number == int(number)):
        raise InputError(f"The {what} is {digits(number, 6)}; it must be a whole number.")
    return int(number)


def _query_key(scope: Scope, values: np.ndarray) -> Table:
    return Table(np.asarray(values, float), ("query", "key"), (scope.tokens, scope.tokens))


def _head(scope: Scope, layer: float, head: float) -> tuple[str, int]:
    """The path of a layer's attention and the index of its head. Raises InputError or EditError."""
    config, at = scope.model.config, whole(layer, "layer")
    if not 0 <= at < config.num_layers(scope.stack):
        raise InputError(f"There is no layer {at}: this model has {config.num_layers(scope.stack)}, counted from 0.")
    require_head(whole(head, "head"), config.for_stack(scope.stack).heads)
    return f"{scope.stack}.{at}.self", int(head)


def _metric(scope: Scope, name: str) -> Value:
    HEAD_METRICS.require(name)
    return Table.numbered(head_metrics(scope.trace)[name], ("layer", "head"))


def _recorded(hook_point: str) -> Callable[[Scope, float, float], Value]:
    def compute(scope: Scope, layer: float, head: float) -> Value:
        path, at = _head(scope, layer, head)
        return _query_key(scope, scope.trace[f"{path}.{hook_point}"][at])

    return compute


def _moved(scope: Scope, layer: float, head: float) -> Value:
    path, at = _head(scope, layer, head)
    return _query_key(scope, weighted_value_norm(scope.model, scope.trace, path)[at])


def _rollout(scope: Scope, layer: float) -> Value:
    path, _ = _head(scope, layer, 0.0)
    require_attention_alone(scope.model.config, "attention rollout")
    has_residual = NORM_PLACEMENTS[scope.model.config.norm_placement].has_residual
    return _query_key(scope, attention_rollout(scope.trace.attention(), has_residual)[int(path.split(".")[1])])


def _norms(scope: Scope) -> Value:
    norms = residual_norms(scope.trace)
    depths = tuple(f"depth {at}" for at in range(len(norms)))
    return Table(np.asarray(norms, float), ("depth", "token"), (depths, scope.tokens))


def _value(scope: Scope, path: str) -> Value:
    values = scope.trace[path]
    return Table.numbered(values, HOOK_POINTS[path.rpartition(".")[2]].axes[-values.ndim :])


def _predictions(scope: Scope, count: float) -> Value:
    """The likeliest tokens in alphabetical order, so that their order does not reveal which is first."""
    number = whole(count, "number of predictions")
    if not 1 <= number <= MOST_PREDICTIONS:
        raise InputError(f"A lesson names 1 to {MOST_PREDICTIONS} predictions, not {number}.")
    found = sorted(candidates(scope.trace, scope.opened.tokenizer, scope.position, number), key=lambda each: each.token)
    labels = tuple(each.token or "¶" for each in found)  # whitespace only: new lines, in the shipped models
    return Table(np.array([each.probability for each in found]), ("token",), (labels,))


def _probability(scope: Scope, word: str) -> Value:
    return _answer(scope, word)[0]


def _rank(scope: Scope, word: str) -> Value:
    return float(_answer(scope, word)[1])


def _answer(scope: Scope, word: str) -> tuple[float, int]:
    """Probability and rank of a word, or of a classifier's label. Raises InputError for an unknown label."""
    import torch

    probabilities = torch.tensor(scope.trace.probabilities(scope.position))
    if task_of(scope.model.config).predicts_tokens:
        found = rank_word(scope.opened, word, probabilities)
        return found.probability, found.rank
    labels = scope.model.config.labels
    if word not in labels:
        known = shortened(", ".join(labels), 200)
        raise InputError(f"This model has no label {shortened(word, 30)!r}. It has {known}.")
    probability = probabilities[labels.index(word)]
    return float(probability), int((probabilities > probability).sum()) + 1


def _lens(scope: Scope) -> Value:
    """By depth, the probability of the whole model's likeliest token."""
    found = logit_lens(scope.model, scope.trace, scope.position)
    return Table.numbered(found[:, int(found[-1].argmax())], ("depth",))


def _surprise(scope: Scope) -> Value:
    """Bits of each token given the tokens before it; NaN for the first token."""
    traced, targets = scope.trace, target_tokens(scope.trace)
    if targets[-1] != -1 or len(targets) < 2:
        raise InputError("Surprise needs a model that predicts the next token, and two tokens or more.")
    last = traced.config.num_layers(scope.stack)
    losses = lens_at(scope.model, traced, last, targets, 1).negative_log_likelihood / NATS_PER_BIT
    return Table(np.array([np.nan, *losses[:-1]], float), ("token",), (scope.tokens,))


def _loss(scope: Scope) -> Value:
    table = _surprise(scope)
    assert isinstance(table, Table)
    return float(np.nanmean(table.values)) * NATS_PER_BIT


def _picture(scope: Scope, title: str) -> Value:
    """The numbers of a view of the step's screen."""
    views = [view for row in scope.rows for view in row.views]
    drawn = [each for each in views if isinstance(each, MatrixView | HeatMapView | BarsView)]
    found = next((each for each in drawn if each.title == title), None)
    if found is None:
        titles = ", ".join(f"“{each.title}”" for each in drawn) or "none with numbers; does the step have a `screen`?"
        raise InputError(f"The screen has no picture “{title}”. It has {titles}.")
    if isinstance(found, BarsView):
        names = tuple(found.series)
        values = np.array([to_numpy(found.series[name]) for name in names])
        return Table(values, ("series", "bar"), (names, tuple(found.labels)))
    values = to_numpy(found.values)
    rows, columns = (
        given or tuple(map(str, range(size)))
        for given, size in zip((found.rows, found.columns), values.shape, strict=True)
    )
    return Table(values, (found.row_axis or "row", found.column_axis or "column"), (tuple(rows), tuple(columns)))


def _draw(scope: Scope, rows: float, columns: float, number: float) -> Value:
    """A matrix of small whole numbers, drawn by the learner's seed, in the format of a screen's input."""
    sizes = [whole(each, "size of a matrix") for each in (rows, columns)]
    if not all(1 <= each <= 8 for each in sizes):
        raise InputError("A matrix is drawn with 1 to 8 rows and columns.")
    generator = np.random.default_rng([scope.seed, whole(abs(number), "number of a drawing")])
    return ";".join(",".join(map(str, row)) for row in generator.choice(DRAWN, size=sizes))


def _rows(scope: Scope, matrix: str) -> Value:
    return " and ".join(f"({row.replace(',', ', ')})" for row in matrix.replace("-", "−").split(";"))


def _edited(scope: Scope, edit: str, inner: Inner) -> Value:
    return inner(scope.with_(edits=(*scope.edits, edit)))


def _without(scope: Scope, layer: float, head: float, inner: Inner) -> Value:
    path, at = _head(scope, layer, head)
    return _edited(scope, f"{path}.weights[{at}]=set:0", inner)


def _varied(scope: Scope, part: str, inner: Inner) -> Value:
    name, _, choice = part.partition("=")
    if name not in (known := ("positional_encoding", "attention_function", "masks")):
        raise InputError(f"A part is written as positional_encoding=none; parts are {', '.join(known)}.")
    return inner(scope.with_(parts=(*scope.parts, (name, choice))))


def _place(table: Table, axis: str) -> float:
    if axis not in table.axes:
        raise InputError(f"This table has no axis “{axis}”; it has {', '.join(table.axes)}.")
    return float(table.place()[table.axes.index(axis)])


def _token(scope: Scope, position: float) -> Value:
    at = whole(position, "token")
    if not -len(scope.tokens) <= at < len(scope.tokens):
        raise InputError(f"There is no token {at}: the text has {len(scope.tokens)}, counted from 0.")
    return scope.tokens[at]


def _of_number(function: Callable[..., float]) -> Callable[..., Value]:
    """A function of numbers that reports failure as a sentence."""

    def compute(scope: Scope, *numbers: float) -> Value:
        try:
            return float(function(*numbers))
        except (ValueError, OverflowError):
            raise InputError(
                f"The function gives no number for {', '.join(digits(each, 6) for each in numbers)}."
            ) from None

    return compute


_HEAD = "layer:number, head:number"
QUANTITIES: Registry[Quantity] = Registry(
    "quantity of a lesson",
    {
        "metric": _row("name:text", "a head metric of every head, by layer and head", _metric),
        "weights": _row(_HEAD, "the attention weights of a head, by query and key", _recorded("weights")),
        "scores": _row(_HEAD, "its scores before mask and softmax", _recorded("scores")),
        "moved": _row(_HEAD, "the length of weight × value × output projection, by query and key", _moved),
        "rollout": _row("layer:number", "the rollout of all heads up to a layer, by query and key", _rollout),
        "norms": _row("", "the length of the residual stream, by depth and token", _norms),
        "value": _row("path:text", "any value of the run by its path", _value),
        "tokens": _row("", "the number of tokens of the text", lambda scope: float(len(scope.tokens))),
        "token": _row("position:number", "the text of a token", _token),
        "layers": _row("", "the number of layers", lambda scope: float(scope.model.config.num_layers(scope.stack))),
        "heads": _row("", "the number of heads of a layer", lambda s: float(s.model.config.for_stack(s.stack).heads)),
        "predictions": _row("count:number", "the likeliest answers of the model, by their names", _predictions),
        "probability": _row("word:text", "the probability of a word as the answer", _probability),
        "rank": _row("word:text", "its rank among all answers, 1 for the likeliest", _rank),
        "lens": _row("", "the probability of the model's answer, by depth", _lens),
        "surprise": _row("", "the bits of each token, given the tokens before it", _surprise),
        "loss": _row("", "the mean of these, in nats", _loss),
        "picture": _row("title:text", "the numbers of a picture of the screen", _picture),
        "draw": _row("rows:number, columns:number, number:number", "a matrix drawn by the seed", _draw),
        "rows": _row("matrix:text", "such a matrix in a sentence, row by row", _rows),
        "edited": _row("edit:text, expression:expression", "an expression with an edit in force", _edited),
        "without": _row(f"{_HEAD}, expression:expression", "an expression with a head switched off", _without),
        "varied": _row("part:text, expression:expression", "an expression with another part", _varied),
        "on": _row(
            "text:text, expression:expression",
            "an expression on another text",
            lambda scope, text, inner: inner(scope.with_(text=text)),
        ),
        "largest": _row("table:table", "the largest number", lambda s, table: float(np.nanmax(table.values))),
        "smallest": _row("table:table", "the smallest number", lambda s, table: float(np.nanmin(table.values))),
        "sum": _row("table:table", "the sum", lambda scope, table: float(np.nansum(table.values))),
        "mean": _row("table:table", "the mean", lambda scope, table: float(np.nanmean(table.values))),
        "place": _row(
            "table:table, axis:text",
            "the place of the largest number on an axis",
            lambda s, table, axis: _place(table, axis),
        ),
        "name": _row(
            "table:table", "the name of the largest number's place", lambda scope, table: table.name(table.place())
        ),
        "abs": _row("number:number", "the size", _of_number(abs)),
        "exp": _row("number:number", "e to the power", _of_number(math.exp)),
        "log2": _row("number:number", "the binary logarithm", _of_number(math.log2)),
        "floor": _row("number:number", "the next whole number below", _of_number(math.floor)),
        "sqrt": _row("number:number", "the square root", _of_number(math.sqrt)),
        "min": _row("number:number, other:number", "the smaller", _of_number(min)),
        "max": _row("number:number, other:number", "the larger", _of_number(max)),
    },
)
