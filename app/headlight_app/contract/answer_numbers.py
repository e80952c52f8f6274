"""Numbers of a model's answers, which are probabilities or scores."""

from __future__ import annotations

from headlight_app.contract.parts import ProblemTypeName
from headlight_app.contract.request import Answer


class AnswerNumbers(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """The meaning of the numbers of a model's answers: a probability, or a score."""

    problem_type: ProblemTypeName = "single-label"
