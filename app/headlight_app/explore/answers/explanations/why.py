"""Why the likeliest answer leads the second: the parts whose contributions to the two logits differ most."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import numpy as np

from headlight.analysis.attribution import attribute_logits
from headlight.analysis.residual_stream import Component
from headlight.array_types import Float
from headlight.problem_types import problem_type_of
from headlight.views.kinds import ChangesView, NumberTable
from headlight.views.rows import row
from headlight.views.words import quoted
from headlight_app.contract.parts import Candidate
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.parts import opening_pick, part_name, part_title
from headlight_app.explore.answers.analyses.row import Analysis, Views
from headlight_app.explore.answers.layer_analysis import answer_number, extended_trace
from headlight_app.inference.attention_payload import predictions
from headlight_app.inference.resolved_question import ResolvedQuestion

Difference = Float[np.ndarray, " component"]  # of the contributions to the two logits

LISTED = 4
HARDLY = 1.05  # times as likely
MILLION = 1e6


def why(resolved: ResolvedQuestion, state: State) -> Views:
    """The reasons for the first prediction that the page shows; nothing for one of the whole text."""
    shown = next(iter(predictions(resolved, state.query)), None)
    if shown is None or shown.token_text is None or len(shown.candidates) < 2:
        return ()
    first, second = sorted(shown.candidates, key=lambda candidate: -candidate.after)[:2]
    found = attribute_logits(resolved.model, extended_trace(resolved), shown.position)
    one, other = found.logits(np.array([first.id, second.id])).T.astype(float)
    difference = one - other
    places = reasons(found.components, difference)
    names = tuple(map(part_title, found.components))
    largest = ChangesView(
        "Largest parts of the difference of the two logits",
        tuple((names[place], difference[place]) for place in places),
        picks=tuple(opening_pick(found.components[place], resolved.config.stacks[-1]) for place in places),
        tables={
            "Difference of the two logits": NumberTable(
                {"part": names, "number": ("added to the difference",)}, difference[:, None]
            )
        },
    )
    words = f"{_lead(resolved, first, second)}; {favour_words(found.components, difference)}"
    return (row(largest, title=f"Why {quoted(first.text)} and not {quoted(second.text)}", text=words),)


def reasons(parts: Sequence[Component], difference: Difference) -> list[int]:
    """The places of the largest differences, and that of edits."""
    order = [int(place) for place in np.argsort(-np.abs(difference), kind="stable") if difference[place]]
    return [place for rank, place in enumerate(order) if rank < LISTED or parts[place].kind == "edit"]


def _lead(resolved: ResolvedQuestion, first: Candidate, second: Candidate) -> str:
    if not problem_type_of(resolved.config).is_probability:
        return f"Its score is higher by {answer_number(resolved.config, first.after - second.after)}"
    return likelihood_words(first.after / second.after if second.after else float("inf"))


def favour_words(parts: Sequence[Component], difference: Difference) -> str:
    """The part that favours the first answer most."""
    most = int(np.argmax(difference))
    return f"{part_name(parts[most])} favours it most." if difference[most] > 0 else "no single part favours it."


def likelihood_words(times: float) -> str:
    """The ratio of two probabilities; infinite if the second is 0 in the model's precision."""
    if isnan(times):
        return "The probabilities are not numbers"
    if times < HARDLY:
        return "It is hardly likelier"
    times = float(f"{times:.3g}")  # further digits would be those of the processor's rounding
    if times >= MILLION:
        return "It is at least a million times as likely"
    return f"It is {f'{times:,.0f}' if times >= 10 else f'{times:.1f}'} times as likely"


WHY = Analysis("Why", reads=("query",), compute=why)
