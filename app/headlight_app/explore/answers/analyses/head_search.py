"""Change the answer: a greedy search for heads without which another answer is the likeliest."""

from __future__ import annotations

import json
from dataclasses import asdict
from time import monotonic

import numpy as np

from headlight.analysis import ablation
from headlight.analysis.ablation import AblatedHead, HeadSearch
from headlight.attention_groups import attention_groups
from headlight.cancellation import check_cancelled
from headlight.errors import InputError
from headlight.problem_types import problem_type_name
from headlight.views.kinds import BarsView, ChoiceView, Verdict
from headlight.views.words import quoted
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses import stepwise
from headlight_app.explore.answers.analyses.head_ablation import before_the_start
from headlight_app.explore.answers.analyses.parts import part_of, part_pick, part_title
from headlight_app.explore.answers.analyses.row import Analysis, Step, Views
from headlight_app.explore.answers.analyses.stepwise import read_progress
from headlight_app.explore.answers.layer_analysis import answer_text, target_answer
from headlight_app.inference.resolved_question import ResolvedQuestion

MAX_HEADS_OFF = 10
LARGEST = 1e9  # of a logit, or of a log-probability


def head_search(resolved: ResolvedQuestion, state: State, progress: str) -> Step:
    """The answer's probability after each head that the search has found, and its result in a sentence."""
    stepwise.require_heads(resolved.config)
    model = resolved.model
    position, token, logits = target_answer(resolved, state.query)
    search = read_progress(progress, HeadSearch, HeadSearch())
    _require_possible(search, ablation.all_heads(model), len(logits))
    until = monotonic() + stepwise.STEP_SECONDS
    while not search.is_done(MAX_HEADS_OFF):
        check_cancelled()
        edited = resolved.with_input(edits=(*resolved.question.edits, *search.edits))
        search = ablation.advance_search(model, edited.trace_of(*ablation.KEEP), search, position, token)
        if monotonic() > until:
            break
    done = search.is_done(MAX_HEADS_OFF)
    heads = len(ablation.all_heads(model))
    share = min(search.tested / heads, 0.99)
    words = "" if done else f"{_ordinal(len(search.heads) + 1)} head: {search.tested} of {heads} tried"
    views = _views(resolved, search, token, done=done) if search.leads else ()
    return Step(views, json.dumps(asdict(search)), 1.0 if done else share, words)


def _require_possible(search: HeadSearch, heads: list[tuple[str, int]], answers: int) -> None:
    """Raise InputError for the state of a search that this model cannot be in."""
    named = [head for head in (*search.heads, search.best) if head is not None]
    margins = [head.margin for head in named] + [lead.margin for lead in search.leads]
    numbers = margins + [lead.log_probability for lead in search.leads]
    is_possible = (
        all((head.path, head.head) in heads for head in named)
        and 0 <= search.tested <= len(heads)
        and 0 <= len(search.leads) - len(search.heads) <= 1
        and all(0 <= lead.likeliest < answers for lead in search.leads)
        and all(abs(number) <= LARGEST for number in numbers)
    )
    if not is_possible:
        raise InputError(stepwise.NO_PROGRESS)


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number // 10 == 1 else ending}"


def _views(resolved: ResolvedQuestion, search: HeadSearch, token: int, *, done: bool) -> Views:
    answer = answer_text(resolved.trace, resolved.tokenizer, token)
    shown = search.heads[: len(search.leads) - 1]
    bars = BarsView(
        title=f"Probability of {quoted(answer)}, the heads switched off one after another",
        labels=("all heads on", *(f"without {_title(resolved, head)}" for head in shown)),
        series={"probability of the answer": [float(np.exp(lead.log_probability)) for lead in search.leads]},
        high=1.0,
        as_percent=True,
        picks=({}, *(part_pick(part_of(f"{head.path}[{head.head}]"), head.path.split(".")[0]) for head in shown)),
    )
    if not done:
        return (bars,)
    said = Verdict(outcome_words(resolved, search, answer))
    if not search.is_changed or not search.heads:
        return bars, said
    return bars, said, ChoiceView("", ("Switch these off",), ({"toggle_edits": search.edits},))


def _title(resolved: ResolvedQuestion, head: AblatedHead) -> str:
    part = part_of(f"{head.path}[{head.head}]")
    groups = {group.path(part.layer): group.title for group in attention_groups(resolved.config)}
    title = f"layer {part.layer}, head {part.head}"
    return f"{groups[head.path]}, {title}" if len(groups) > 1 else part_title(part).replace("Layer", "layer")


def outcome_words(resolved: ResolvedQuestion, search: HeadSearch, answer: str) -> str:
    """The result of a search that is done, in a sentence."""
    count, likeliest = len(search.heads), search.leads[-1].likeliest
    these = "this head" if count == 1 else f"these {count} heads"
    if search.is_changed and problem_type_name(resolved.config) == "multi-label":
        label = f"Without {these} the label" if count else "The label"
        return f"{label} {quoted(answer)} has less than 50 %: the model no longer gives it."
    if search.is_changed:
        other = quoted(answer_text(resolved.trace, resolved.tokenizer, likeliest))
        return f"Without {these} the answer is {other} and no longer {quoted(answer)}."
    another = "Heads were tried one at a time, so another set may still change it."
    if not search.stuck:
        still = f"Without {these} the answer is still {quoted(answer)}."
        return f"{still} The search stops at {MAX_HEADS_OFF}. {another}"
    found = f"Besides {these}, no" if count else "No"
    return f"{found} head makes {quoted(answer)} less likely, so the answer stays. {another}"


ANALYSIS = Analysis(
    "Change the answer",
    "Which heads does the answer depend on? Heads are switched off one by one, each time the head that reduces "
    "the answer's lead most, until another answer is the likeliest. A smaller set may exist.",
    reads=("query",),
    of_likeliest=True,
    compute=before_the_start,
    start="Find the heads",
    step=head_search,
    offered=lambda off: "" if off.changes_answer else "Find the heads that change the answer",
)
