"""The last steps of a forward pass at one position: final norm, output head, logits, probabilities.

The logits come from the trace, like the predictions on a page; the network's own functions compute the steps before. In
the formulas i is the position, t an answer (a token of the vocabulary, or a label), c a channel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.analysis.walkthrough.steps import StepValue, WalkthroughStep, is_edited
from headlight.array_types import Float
from headlight.config import Config
from headlight.nn.output_heads import (
    LanguageModelHead,
    MaskedLanguageModelHead,
    PredictionHead,
    SequenceClassifier,
    TokenClassifier,
)
from headlight.nn.transformer import Transformer
from headlight.problem_types import problem_type_of
from headlight.tasks import task_of
from headlight.tracing.inputs import token_tensor
from headlight.tracing.recompute import logits_at, traced_tensor
from headlight.tracing.recording import to_numpy
from headlight.tracing.trace import Trace, position_index
from headlight.views.words import digits

SHOWN_ANSWERS = 10  # the likeliest, and the chosen one


@dataclass(frozen=True, eq=False)
class PredictionWalkthrough:
    """The steps for the chosen answer; entries along the axis "answer" belong to `answers`, likeliest first."""

    answers: tuple[int, ...]
    answer: int
    steps: tuple[WalkthroughStep, ...]


def paths_to_keep(config: Config) -> tuple[str, ...]:
    """The paths that a trace must hold for the steps; absent logits are recomputed."""
    return f"{config.stacks[-1]}.residual", f"{config.stacks[-1]}.final_residual"


@torch.inference_mode()
def prediction_walkthrough(
    model: Transformer, trace: Trace, position: int = -1, answer: int = -1, count: int = SHOWN_ANSWERS
) -> PredictionWalkthrough | None:
    """The steps that end in the probabilities of the likeliest `count` answers and of `answer` (-1: the likeliest).

    None for a model without an output head. Raises TextError for a position that does not exist.
    """
    if not task_of(model.config).predicts:
        return None
    position = position_index(position, len(trace.text.ids))
    logits = logits_at(model, trace, position)
    answers = np.argsort(-logits, kind="stable")[:count].tolist()
    answer = answer if 0 <= answer < len(logits) else answers[0]
    answers += [] if answer in answers else [answer]
    steps = _Prediction(model, trace, position, logits, answers, answer).steps()
    return PredictionWalkthrough(tuple(answers), answer, tuple(steps))


class _Prediction:
    """The values of the steps at one position."""

    def __init__(
        self,
        model: Transformer,
        trace: Trace,
        position: int,
        logits: Float[np.ndarray, " answer"],
        answers: list[int],
        answer: int,
    ) -> None:
        assert isinstance(model.output_head, PredictionHead)
        self.model, self.trace, self.position, self.head = model, trace, position, model.output_head
        self.logits, self.answers, self.answer = logits, answers, answer
        self.residual_path, self.final_path = paths_to_keep(model.config)

    def steps(self) -> Iterator[WalkthroughStep]:
        yield from self._stack_steps()
        hidden, symbol = traced_tensor(self.model, self.trace, self.final_path), "x_{i}"
        vector = hidden[self.position]
        if isinstance(self.head, SequenceClassifier):
            pooled = self.head.pool(hidden[None], self._answerable(len(hidden)))[0]
            values = (_vector(symbol, vector), _vector("x", pooled))
            yield self._step("pool", f"x = {_pool_formula(self.head)}", values)
            vector, symbol = pooled, "x"
        prepared = self.head.transformed(vector)
        formula = _transform_formula(self.head, self.model.config, symbol)
        if formula:
            result = symbol.replace("x", "x'")
            yield self._step("transform", f"{result} = {formula}", (_vector(symbol, vector), _vector(result, prepared)))
            symbol = result
        yield from self._answer_steps(prepared, symbol)

    def _stack_steps(self) -> Iterator[WalkthroughStep]:
        """From the residual stream to the input of the output head, x_i."""
        stack = self.model.stack(self.model.config.stacks[-1])
        maps = [("final-norm", stack.final_norm, "Norm({})"), ("project-out", stack.project_out, "{} W_{{out}}")]
        maps = [each for each in maps if not isinstance(each[1], nn.Identity)]
        symbols = [*("h_{i}", "h'_{i}")[: len(maps)], "x_{i}"]
        final = traced_tensor(self.model, self.trace, self.final_path)[self.position]
        before = traced_tensor(self.model, self.trace, self.residual_path)[self.position] if maps else final
        formula = f"{symbols[0]} = residual stream after {len(stack.blocks)} layers"
        paths = (self.residual_path,) if maps else (self.residual_path, self.final_path)
        yield self._step("last-layer", formula, (_vector(symbols[0], before),), *paths)
        for source, result, (name, module, text) in zip(symbols, symbols[1:], maps, strict=False):
            is_last = result == "x_{i}"
            after = final if is_last else module(before)
            values = (_vector(source, before), _vector(result, after))
            yield self._step(
                name, f"{result} = {text.format(source)}", values, *((self.final_path,) if is_last else ())
            )
            before = after

    def _answerable(self, length: int) -> Tensor:
        answerable = self.model.answerable(token_tensor(self.trace.text, self.model))
        return torch.ones(1, length, dtype=torch.bool, device=self.model.device) if answerable is None else answerable

    def _answer_steps(self, vector: Float[Tensor, " channel"], symbol: str) -> Iterator[WalkthroughStep]:
        projection = self.head.projection
        row = projection.weight[self.answer]
        product = (vector * row).float()
        channel = symbol.replace("_{i}", "_{ic}") if "_" in symbol else f"{symbol}_{{c}}"
        values = (_vector(symbol, vector), _vector("w_{t}", row), _vector("p_{c}", product))
        yield self._step("compare", f"p_{{c}} = {channel} · w_{{tc}}", values)
        bias = projection.bias
        raw = functional.linear(
            vector, projection.weight[self.answers], None if bias is None else bias[self.answers]
        ).float()
        cap = self.head.logit_soft_cap
        numbers = [StepValue(f"{symbol} · w_{{t}}", to_numpy(product.sum()))]
        if bias is not None:
            numbers.append(StepValue("b_{t}", to_numpy(bias[self.answer])))
        logits = StepValue("y_{t}", self.logits[self.answers], "answer")
        result = StepValue("y_{t}", to_numpy(raw), "answer") if cap else logits
        formula = f"y_{{t}} = {symbol} · w_{{t}}" + ("" if bias is None else " + b_{t}")
        yield self._step("logits", formula, (*numbers, result), *(() if cap else ("logits",)))
        if cap:
            formula = f"y_{{t}} ← {digits(cap, 6)} · tanh(y_{{t}} / {digits(cap, 6)})"
            yield self._step("logit-soft-cap", formula, (result, logits), "logits")
        yield from self._probability_steps(logits)

    def _probability_steps(self, logits: StepValue) -> Iterator[WalkthroughStep]:
        """From logits to probabilities; nothing for a model whose answers are scores."""
        problem_type = problem_type_of(self.model.config)
        if not problem_type.is_probability:
            return
        if problem_type.has_scores:
            shown = StepValue("P_{t}", problem_type.values(self.logits)[self.answers], "answer")
            yield self._step("sigmoid", "P_{t} = 1 / (1 + exp(−y_{t}))", (logits, shown))
            return
        powers = np.exp(self.logits.astype(np.float64) - self.logits.max())
        values = (
            logits,
            StepValue("e_{t}", powers[self.answers], "answer"),
            StepValue("Σ_{t} e_{t}", np.asarray(powers.sum())),
            StepValue("P_{t}", powers[self.answers] / powers.sum(), "answer"),
        )
        yield self._step("probabilities", "e_{t} = exp(y_{t} − max y),   P_{t} = e_{t} / Σ_{t} e_{t}", values)

    def _step(self, name: str, formula: str, values: tuple[StepValue, ...], *paths: str) -> WalkthroughStep:
        return WalkthroughStep(name, formula, values, paths, is_edited(self.trace, *paths))


def _pool_formula(head: SequenceClassifier) -> str:
    """The formula of the pooled vector, or of both beside each other; the tokens that are left out are not counted."""
    formulas = "; ".join(pooling.formula for pooling in head.poolings)
    both = formulas if len(head.poolings) == 1 else f"[{formulas}]"
    return f"{both}   without the tokens 1 to {head.skipped_tokens}" if head.skipped_tokens else both


def _vector(symbol: str, vector: Tensor) -> StepValue:
    return StepValue(symbol, to_numpy(vector), "channel")


def _transform_formula(head: PredictionHead, config: Config, symbol: str) -> str:
    """The map that an output head applies to a vector first, or nothing."""
    dense: nn.Module
    norm: nn.Module
    match head:
        case MaskedLanguageModelHead():
            dense, norm = head.transform, head.norm
        case SequenceClassifier() | TokenClassifier():
            dense, norm = head.transform.dense, head.transform.norm
        case LanguageModelHead() if head.logit_scale != 1.0:
            return f"{digits(head.logit_scale, 4)} · {symbol}"
        case _:
            return ""
    if isinstance(dense, nn.Identity):
        return "" if isinstance(norm, nn.Identity) else f"Norm({symbol})"
    formula = f"{symbol} W_{{T}}" + (" + b_{T}" if dense.bias is not None else "")
    activation = config.output_head_config.activation
    formula = formula if activation == "linear" else f"{activation}({formula})"
    return formula if isinstance(norm, nn.Identity) else f"Norm({formula})"
