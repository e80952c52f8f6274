"""Checks of dropout: on the weights, with the rest made larger, and only in training."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from headlight.code_exercises import diagnoses
from headlight.code_exercises.case import Case
from headlight.code_exercises.checks import MakeCase, Run
from headlight.code_exercises.comparison import TOLERANCE, agrees, describe_difference
from headlight.code_exercises.finding import CheckFailed, Diagnosis
from headlight.code_exercises.solution import Bind, BoundSolution, Solution
from headlight.code_exercises.steps import change, compute

RATE = 0.5
COPIES = 4096  # of one example, so that the mean over dropouts is close to what is expected
STANDARD_ERRORS = 8.0  # the mean of a right solution is not further off


def dropped_weights(make_case: MakeCase) -> Run:
    """A function drops some of the weights, and makes the others larger by 1 / (1 - p).

    The values are two identity matrices side by side: the output is then twice the dropped weights.
    """

    def run(bind: Bind, solution: Solution) -> str:
        bound = bind(solution, _reading_case(make_case()), RATE)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            output, _ = bound.answer(*bound.arguments(), None, nn.Dropout(RATE).train())
        plain, _ = bound.answer()
        if output.shape != plain.shape:
            raise CheckFailed(f"With dropout, {describe_difference('output', output, plain)}.")
        if diagnosis := _diagnose(output.detach(), plain):
            raise CheckFailed(f"Given nn.Dropout({RATE}) in training mode.", diagnosis)
        return ""

    return run


def _reading_case(case: Case) -> Case:
    keys = case.key.shape[-2]
    identity = torch.eye(keys).expand(*case.key.shape[:-2], keys, keys)
    return replace(case, value=torch.cat((identity, identity), -1))


def _diagnose(output: Tensor, plain: Tensor) -> Diagnosis | None:
    """What dropout has done to the two copies of the weights; None where that is right."""
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


def no_dropout_in_evaluation(make_case: MakeCase) -> Run:
    """Dropout that is in evaluation mode changes nothing."""

    def run(bind: Bind, solution: Solution) -> str:
        bound = bind(solution, make_case(), RATE)
        extra = () if bound.module else (None, nn.Dropout(RATE).eval())
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            output, _ = bound.answer(*bound.arguments(), *extra)
        plain, _ = bind(solution, make_case(), 0.0).answer()
        if not agrees(output, plain):
            difference = describe_difference("output", output, plain)
            raise CheckFailed(f"With dropout in evaluation mode, {difference}.", diagnoses.DROPOUT_IN_EVALUATION)
        return ""

    return run


def dropout_in_training(make_case: MakeCase) -> Run:
    """A module in training drops something, and its mean over many dropouts is the output without."""

    def run(bind: Bind, solution: Solution) -> str:
        bound = bind(solution, make_case(), RATE)
        assert bound.module
        outputs = _many_outputs(bound)
        plain, _ = bind(solution, make_case(), 0.0).answer()
        if not bool((outputs.std(0) > TOLERANCE).any()):
            raise CheckFailed(f"Built with dropout {RATE} and in training mode.", diagnoses.DROPOUT_IGNORED)
        if not _is_mean(outputs, plain[0]):
            smaller = compute(bound.case, change(normalize=lambda scores: scores.softmax(-1) * (1 - RATE))).output[0]
            known = diagnoses.DROPOUT_NOT_RESCALED if _is_mean(outputs, smaller) else diagnoses.DROPOUT_ON_SCORES
            raise CheckFailed(f"The mean output over {COPIES} dropouts is not the output without dropout.", known)
        return ""

    return run


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
