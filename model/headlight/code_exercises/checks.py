"""The checks of the exercises. Each gives a note for a solution that passes (or ""), or raises CheckFailed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from headlight.code_exercises import diagnoses
from headlight.code_exercises.cases import (
    TOLERANCE,
    AttentionResult,
    Case,
    MakeCase,
    agrees,
    describe_difference,
    right_result,
)
from headlight.code_exercises.diagnoses import CheckFailed, Diagnosis
from headlight.code_exercises.misconceptions import recognize
from headlight.code_exercises.solution import Bind, BoundSolution, Solution
from headlight.code_exercises.steps import change, compute

BindAgain = Callable[[float], BoundSolution]  # the solution bound to a case, with a dropout rate
Examine = Callable[[BindAgain], str]


class Check:
    """A title that states the expected behavior, and a function that examines it in some cases."""

    def __init__(self, title: str, examine: Examine, *cases: MakeCase) -> None:
        self.title, self.examine, self.cases = title, examine, cases

    def run(self, bind: Bind, solution: Solution) -> str:
        """Run the check; the note on a solution that passes."""
        notes = [self.examine(partial(_bind, bind, solution, make_case)) for make_case in self.cases]
        return notes[-1]


def _bind(bind: Bind, solution: Solution, make_case: MakeCase, dropout: float) -> BoundSolution:
    return bind(solution, make_case(), dropout)


def numbers(bind: BindAgain) -> str:
    """The output is right."""
    bound = bind(0.0)
    try:
        require_right(bound, *bound.answer())
    except Exception as error:
        is_explained = isinstance(error, CheckFailed) and error.diagnoses
        if not is_explained and _expects_all_axes(bound):
            raise CheckFailed(f"Given {bound.case.describe()}.", diagnoses.MASK_NEEDS_AXES) from error
        raise
    return ""


def require_right(bound: BoundSolution, output: Tensor, weights: Tensor | None) -> None:
    """Raise CheckFailed, with the misconception that gives this output, unless it is right."""
    right = right_result(bound.case)
    if agrees(output, right.output):
        return
    given = f"Given {bound.case.describe()}: {describe_difference('output', output, right.output)}."
    if weights is not None and agrees(weights, right.output):
        raise CheckFailed(given, diagnoses.RETURNED_IN_OTHER_ORDER)
    raise CheckFailed(given, *recognize(bound.case, output))


def _expects_all_axes(bound: BoundSolution) -> bool:
    """Whether a function is right if its mask already has the axes of the scores."""
    mask, module = bound.case.mask, bound.module
    if mask is None or module:
        return False
    by_query = mask if mask.dim() == 3 else mask[:, None, :]
    with_axes = by_query[:, None] if bound.case.query.dim() == 4 else by_query
    try:
        output, _ = bound.answer(*bound.arguments()[:3], with_axes.clone())
    except Exception:
        return False
    return agrees(output, right_result(bound.case).output)


def returned_weights(bind: BindAgain) -> str:
    """The weights are returned with the output."""
    bound = bind(0.0)
    _, weights = bound.answer()
    right = right_result(bound.case)
    if weights is None:
        raise CheckFailed("It returned one tensor, the output.", diagnoses.WEIGHTS_NOT_RETURNED)
    if not agrees(weights, right.weights):
        difference = describe_difference("weights", weights, right.weights)
        scores = compute(bound.case, change(normalize=lambda scores: scores)).weights
        known = (diagnoses.SCORES_RETURNED,) if agrees(weights, scores) else recognize(bound.case, weights, "weights")
        raise CheckFailed(f"Given {bound.case.describe()}: {difference}.", *known)
    return ""


def kept_weights(bind: BindAgain) -> str:
    """A module keeps its weights, to be drawn later, as an attribute of any name (or returns them)."""
    bound = bind(0.0)
    _, weights = bound.answer()
    assert bound.module
    kept = [each for each in (weights, *vars(bound.module).values()) if isinstance(each, Tensor)]
    if not any(agrees(each, right_result(bound.case).weights) for each in kept):
        raise CheckFailed("After a forward no attribute holds the right weights.", diagnoses.WEIGHTS_NOT_KEPT)
    return ""


def empty_row(bind: BindAgain) -> str:
    """A query whose keys are all masked gives finite numbers."""
    bound = bind(0.0)
    output, weights = bound.answer()
    if agrees(output, _even_where_empty(bound.case).output):
        return (
            "A query whose keys are all masked attends evenly to all of them here. That is finite; weights of 0, as "
            "in Headlight, hide them."
        )
    require_right(bound, output, weights)
    return ""


def _even_where_empty(case: Case) -> AttentionResult:
    steps = change(
        mask_scores=lambda scores, allowed: scores.masked_fill(~allowed, -1e9),
        mask_weights=lambda weights, allowed: weights,
    )
    with torch.no_grad():
        return compute(case, steps)


def unchanged_inputs(bind: BindAgain) -> str:
    """The call leaves its inputs unchanged."""
    bound = bind(0.0)
    arguments = bound.arguments()
    before = [argument.clone() for argument in arguments]
    bound.answer(*arguments)
    for name, old, new in zip(("query", "key", "value", "mask"), before, arguments, strict=False):
        if not (old.shape == new.shape and torch.equal(old, new)):
            raise CheckFailed(f"The call changed {name}.", diagnoses.INPUT_CHANGED)
    return ""


def gradients(bind: BindAgain) -> str:
    """Gradients reach the inputs and a module's layers; if the output is right, so are the inputs' gradients."""
    bound = bind(0.0)
    arguments = [each.requires_grad_(each.is_floating_point()) for each in bound.arguments()]
    output, _ = bound.answer(*arguments)
    _backward(output)
    _require_layer_gradients(bound)
    is_right = agrees(output, right_result(bound.case).output)
    for (name, right), argument in zip(_right_gradients(bound).items(), arguments, strict=False):
        if argument.grad is None:
            raise CheckFailed(f"No gradient reaches {name}.", diagnoses.NO_GRADIENT)
        if is_right and not agrees(argument.grad, right):
            given = describe_difference(f"the gradient of {name}", argument.grad, right)
            raise CheckFailed(f"Given {bound.case.describe()}: {given}.", diagnoses.NO_GRADIENT)
    return ""


def _right_gradients(bound: BoundSolution) -> dict[str, Tensor]:
    leaves = {name: getattr(bound.case, name).clone().requires_grad_() for name in ("query", "key", "value")}
    if bound.takes_one_input or bound.case.key is bound.case.query:
        leaves = dict.fromkeys(leaves, leaves["query"])
    _backward(right_result(replace(bound.case, **leaves)).output)
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


RATE = 0.5
COPIES = 4096  # of one example, so that the mean over dropouts is close to the expected one
STANDARD_ERRORS = 8.0  # the mean of a right solution deviates less than this


def dropped_weights(bind: BindAgain) -> str:
    """A function drops some of the weights, and multiplies the others by 1 / (1 - p).

    The values are two identity matrices side by side: the output is then two copies of the weights after dropout.
    """
    bound = bind(RATE)
    bound = replace(bound, case=_reading_case(bound.case))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        output, _ = bound.answer(*bound.arguments(), None, nn.Dropout(RATE).train())
    plain, _ = bound.answer()
    if output.shape != plain.shape:
        raise CheckFailed(f"With dropout, {describe_difference('output', output, plain)}.")
    if diagnosis := _diagnose(output.detach(), plain):
        raise CheckFailed(f"Given nn.Dropout({RATE}) in training mode.", diagnosis)
    return ""


def _reading_case(case: Case) -> Case:
    keys = case.key.shape[-2]
    identity = torch.eye(keys).expand(*case.key.shape[:-2], keys, keys)
    return replace(case, value=torch.cat((identity, identity), -1))


def _diagnose(output: Tensor, plain: Tensor) -> Diagnosis | None:
    """The fault in the two copies of the weights after dropout; None if they are right."""
    if agrees(output, plain):
        return diagnoses.DROPOUT_IGNORED
    is_zero, is_doubled = (
        output.abs() < TOLERANCE,
        torch.isclose(output, plain / (1 - RATE), rtol=TOLERANCE, atol=TOLERANCE),
    )
    first, second = output.chunk(2, -1)
    if bool((is_zero | is_doubled).all()):
        return None if agrees(first, second) else diagnoses.DROPOUT_ON_OUTPUT
    if bool((is_zero | torch.isclose(output, plain, rtol=TOLERANCE, atol=TOLERANCE)).all()):
        return diagnoses.DROPOUT_NOT_RESCALED
    sums = first.sum(-1)
    return diagnoses.DROPOUT_ON_SCORES if agrees(sums, torch.ones_like(sums)) else diagnoses.DROPOUT_ELSEWHERE


def no_dropout_in_evaluation(bind: BindAgain) -> str:
    """Dropout in evaluation mode changes nothing."""
    bound = bind(RATE)
    extra = () if bound.module else (None, nn.Dropout(RATE).eval())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        output, _ = bound.answer(*bound.arguments(), *extra)
    plain, _ = bind(0.0).answer()
    if not agrees(output, plain):
        difference = describe_difference("output", output, plain)
        raise CheckFailed(f"With dropout in evaluation mode, {difference}.", diagnoses.DROPOUT_IN_EVALUATION)
    return ""


def dropout_in_training(bind: BindAgain) -> str:
    """A module in training drops something, and its mean over many dropouts is the output without dropout."""
    bound = bind(RATE)
    assert bound.module
    outputs = _many_outputs(bound)
    plain, _ = bind(0.0).answer()
    if not bool((outputs.std(0) > TOLERANCE).any()):
        raise CheckFailed(f"Built with dropout {RATE} and in training mode.", diagnoses.DROPOUT_IGNORED)
    if not _is_mean(outputs, plain[0]):
        smaller = compute(bound.case, change(normalize=lambda scores: scores.softmax(-1) * (1 - RATE))).output[0]
        known = diagnoses.DROPOUT_NOT_RESCALED if _is_mean(outputs, smaller) else diagnoses.DROPOUT_ON_SCORES
        raise CheckFailed(f"The mean output over {COPIES} dropouts is not the output without dropout.", known)
    return ""


def _many_outputs(bound: BoundSolution) -> Tensor:
    assert bound.module
    copies = [each[:1].expand(COPIES, *each.shape[1:]).contiguous() for each in bound.arguments()]
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(1)
        bound.module.train()
        output, _ = bound.answer(*copies)
        bound.module.eval()
    return output.float()


def _is_mean(outputs: Tensor, expected: Tensor) -> bool:
    allowed = STANDARD_ERRORS * outputs.std(0) / COPIES**0.5 + TOLERANCE
    return bool(((outputs.mean(0) - expected.detach()).abs() <= allowed).all())
