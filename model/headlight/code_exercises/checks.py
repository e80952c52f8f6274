"""The checks of the exercises: each gives a note for a solution that passes (or ""), or raises CheckFailed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from headlight.code_exercises import diagnoses
from headlight.code_exercises.case import Answer, Case, right_answer
from headlight.code_exercises.comparison import agrees, describe_difference
from headlight.code_exercises.finding import CheckFailed
from headlight.code_exercises.misconceptions import recognize
from headlight.code_exercises.solution import Bind, BoundSolution, Solution
from headlight.code_exercises.steps import change, compute

MakeCase = Callable[[], Case]
Run = Callable[[Bind, Solution], str]


@dataclass(frozen=True)
class Check:
    """One check: a title that says what is right, and what is run."""

    title: str
    run: Run


def numbers(*cases: MakeCase) -> Run:
    """The output is right in each case."""

    def run(bind: Bind, solution: Solution) -> str:
        for make_case in cases:
            bound = bind(solution, make_case(), 0.0)
            try:
                require_right(bound, *bound.answer())
            except Exception as error:
                is_explained = isinstance(error, CheckFailed) and error.diagnoses
                if not is_explained and _expects_all_axes(bound):
                    raise CheckFailed(f"Given {bound.case.describe()}.", diagnoses.MASK_NEEDS_AXES) from error
                raise
        return ""

    return run


def require_right(bound: BoundSolution, output: Tensor, weights: Tensor | None) -> None:
    """Raise CheckFailed, with the misconception that gives this output, unless it is right."""
    right = right_answer(bound.case)
    if agrees(output, right.output):
        return
    given = f"Given {bound.case.describe()}: {describe_difference('output', output, right.output)}."
    if weights is not None and agrees(weights, right.output):
        raise CheckFailed(given, diagnoses.RETURNED_IN_OTHER_ORDER)
    raise CheckFailed(given, *recognize(bound.case, output))


def _expects_all_axes(bound: BoundSolution) -> bool:
    """Whether a function is right if its mask comes with the axes of the scores."""
    mask, module = bound.case.mask, bound.module
    if mask is None or module:
        return False
    by_query = mask if mask.dim() == 3 else mask[:, None, :]
    with_axes = by_query[:, None] if bound.case.query.dim() == 4 else by_query
    try:
        output, _ = bound.answer(*bound.arguments()[:3], with_axes.clone())
    except Exception:
        return False
    return agrees(output, right_answer(bound.case).output)


def returned_weights(make_case: MakeCase) -> Run:
    """The weights are returned beside the output."""

    def run(bind: Bind, solution: Solution) -> str:
        bound = bind(solution, make_case(), 0.0)
        _, weights = bound.answer()
        right = right_answer(bound.case)
        if weights is None:
            raise CheckFailed("It returned one tensor, the output.", diagnoses.WEIGHTS_NOT_RETURNED)
        if not agrees(weights, right.weights):
            difference = describe_difference("weights", weights, right.weights)
            scores = compute(bound.case, change(normalize=lambda scores: scores)).weights
            known = (
                (diagnoses.SCORES_RETURNED,) if agrees(weights, scores) else recognize(bound.case, weights, "weights")
            )
            raise CheckFailed(f"Given {bound.case.describe()}: {difference}.", *known)
        return ""

    return run


def kept_weights(make_case: MakeCase) -> Run:
    """A module keeps its weights, to be drawn later, as an attribute of any name (or returns them)."""

    def run(bind: Bind, solution: Solution) -> str:
        bound = bind(solution, make_case(), 0.0)
        _, weights = bound.answer()
        assert bound.module
        kept = [each for each in (weights, *vars(bound.module).values()) if isinstance(each, Tensor)]
        if not any(agrees(each, right_answer(bound.case).weights) for each in kept):
            raise CheckFailed("After a forward no attribute holds the right weights.", diagnoses.WEIGHTS_NOT_KEPT)
        return ""

    return run


def empty_row(make_case: MakeCase) -> Run:
    """A query that may look at nothing gives finite numbers."""

    def run(bind: Bind, solution: Solution) -> str:
        bound = bind(solution, make_case(), 0.0)
        output, weights = bound.answer()
        if agrees(output, _even_where_empty(bound.case).output):
            return (
                "A row without any key looks evenly at all of them here, those that it may not see, too. That "
                "is finite; weights of 0, as in Headlight, hide them."
            )
        require_right(bound, output, weights)
        return ""

    return run


def _even_where_empty(case: Case) -> Answer:
    steps = change(
        mask_scores=lambda scores, allowed: scores.masked_fill(~allowed, -1e9),
        mask_weights=lambda weights, allowed: weights,
    )
    with torch.no_grad():
        return compute(case, steps)


def unchanged_inputs(make_case: MakeCase) -> Run:
    """The inputs are afterwards as they were."""

    def run(bind: Bind, solution: Solution) -> str:
        bound = bind(solution, make_case(), 0.0)
        arguments = bound.arguments()
        before = [argument.clone() for argument in arguments]
        bound.answer(*arguments)
        for name, old, new in zip(("query", "key", "value", "mask"), before, arguments, strict=False):
            if not (old.shape == new.shape and torch.equal(old, new)):
                raise CheckFailed(f"After the call, {name} is another tensor than before.", diagnoses.INPUT_CHANGED)
        return ""

    return run


def gradients(make_case: MakeCase) -> Run:
    """Gradients reach the inputs and a module's layers; where the output is right, so are those of the inputs."""

    def run(bind: Bind, solution: Solution) -> str:
        bound = bind(solution, make_case(), 0.0)
        arguments = [each.requires_grad_(each.is_floating_point()) for each in bound.arguments()]
        output, _ = bound.answer(*arguments)
        _backward(output)
        _require_layer_gradients(bound)
        is_right = agrees(output, right_answer(bound.case).output)
        for (name, right), argument in zip(_right_gradients(bound).items(), arguments, strict=False):
            if argument.grad is None:
                raise CheckFailed(f"No gradient reaches {name}.", diagnoses.NO_GRADIENT)
            if is_right and not agrees(argument.grad, right):
                given = describe_difference(f"the gradient of {name}", argument.grad, right)
                raise CheckFailed(f"Given {bound.case.describe()}: {given}.", diagnoses.NO_GRADIENT)
        return ""

    return run


def _right_gradients(bound: BoundSolution) -> dict[str, Tensor]:
    leaves = {name: getattr(bound.case, name).clone().requires_grad_() for name in ("query", "key", "value")}
    if bound.takes_one_input or bound.case.key is bound.case.query:
        leaves = dict.fromkeys(leaves, leaves["query"])
    _backward(right_answer(replace(bound.case, **leaves)).output)
    return {name: leaf.grad for name, leaf in leaves.items() if leaf.grad is not None}


def _require_layer_gradients(bound: BoundSolution) -> None:
    for name, parameter in bound.module.named_parameters() if bound.module else ():
        if parameter.grad is None:
            raise CheckFailed(f"No gradient reaches {name}: it would never be trained.", diagnoses.NO_GRADIENT)


def _backward(output: Tensor) -> None:
    probe = torch.linspace(-1, 1, output.numel()).reshape(output.shape)
    try:
        output.backward(probe)  # type: ignore[no-untyped-call]
    except RuntimeError as error:
        message = str(error).partition("\n")[0]
        known = diagnoses.CHANGED_FOR_GRADIENT if "inplace" in message else diagnoses.NO_GRADIENT
        raise CheckFailed(f"PyTorch cannot compute gradients through it: {message[:200]}", known) from error
