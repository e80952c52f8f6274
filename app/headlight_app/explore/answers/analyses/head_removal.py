"""Without this head: its direct effect, the responses of later parts, and the effect of the norms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from headlight.analysis.head_removal import KEEP, HeadRemoval, remove_head
from headlight.attention_groups import AttentionGroup
from headlight.views.kinds import ChangesView, NumberTable, Verdict
from headlight.views.words import percent, quoted, signed, three_digits
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.parts import opening_pick, part_name, part_of, part_title
from headlight_app.explore.answers.analyses.row import Analysis, Program, Views
from headlight_app.explore.answers.analyses.stepwise import require_heads
from headlight_app.explore.answers.layer_analysis import answer_text, target_answer
from headlight_app.inference.head_selection import selected_attention, selected_heads
from headlight_app.inference.resolved_question import ResolvedQuestion

LISTED = 8  # responses


def head_removal(resolved: ResolvedQuestion, state: State) -> Views:
    """The change of the logit of an answer in words, and part by part, largest responses first."""
    require_heads(resolved.config)
    group = selected_attention(resolved.config, state.attention)
    layer, head = selected_heads(state, group)[0]
    position, token, _ = target_answer(resolved, state.query, state.target_token)
    found = remove_head(resolved.model, resolved.trace_of(*KEEP), group.path(layer), head, position, token)
    path, stacks = f"{group.path(layer)}[{head}]", resolved.config.stacks
    answer = answer_text(resolved.trace, resolved.tokenizer, token)
    return Verdict(removal_words(found, path, stacks, answer)), _changes(found, _title(path, stacks), group, stacks)


def _title(path: str, stacks: Sequence[str]) -> str:
    """The title of the part of a path, with its stack if the model has two."""
    return part_title(part_of(path)) + _of_stack(path, stacks)


def _name(path: str, stacks: Sequence[str]) -> str:
    """The same within a sentence."""
    return part_name(part_of(path)) + _of_stack(path, stacks)


def _of_stack(path: str, stacks: Sequence[str]) -> str:
    return f" of the {path.partition('.')[0]}" if len(stacks) > 1 else ""


def removal_words(found: HeadRemoval, path: str, stacks: Sequence[str], answer: str) -> str:
    """The change, and whether later parts make up for the head, or which part carries the change."""
    before, after = found.before, found.after
    change = f"{three_digits(before)} to {three_digits(after)} ({signed(after - before)})"
    return (
        f"Without {_name(path, stacks)} the logit of {quoted(answer)} goes from {change}. "
        f"The head itself {_own_words(found, path, stacks)}; {_rest_words(found, stacks)}"
    )


def _own_words(found: HeadRemoval, path: str, stacks: Sequence[str]) -> str:
    if not path.startswith(f"{stacks[-1]}."):
        return f"adds nothing to it, as the answer is read from the {stacks[-1]}"
    return f"no longer adds {signed(-found.direct)}" if found.direct else "added nothing to it"


def _rest_words(found: HeadRemoval, stacks: Sequence[str]) -> str:
    repair, (name, carried) = found.self_repair, found.carrier
    if repair is None:
        if name == "direct":
            few = "that is too little to say which share of it the rest undoes."
            return few if found.direct else "nor does any later part respond."
        carrier = "of the norms" if name == "norms" else f"of {_name(name, stacks)}"
        return f"the largest part of the change is that {carrier} ({signed(carried)})."
    if not repair:
        return "nothing else changes."
    if repair < -1:
        return f"the rest adds {three_digits(-repair)} times as much."
    if repair < 0:
        return f"the rest adds {percent(-repair)} to that."
    undone = "all of that and more" if repair > 1 else f"{percent(repair)} of that"
    if found.repairs_itself:
        return f"self-repair: the rest undoes {undone}."
    return f"the rest undoes {undone}, too little to call it self-repair."


def _changes(found: HeadRemoval, title: str, group: AttentionGroup, stacks: Sequence[str]) -> ChangesView:
    responses = dict(sorted(found.responses.items(), key=lambda item: -abs(item[1])))
    listed, others = list(responses.items())[:LISTED], list(responses.values())[LISTED:]
    rest = {f"All {len(others)} other responses": sum(others)} if others else {}
    parts = {
        f"{title}: direct effect": found.direct,
        **{_title(path, stacks): value for path, value in listed},
        **rest,
    }
    saved = {"direct effect": found.direct, **responses, "norms": found.norms, "whole change": found.change}
    return ChangesView(
        "From the logit with the head to the logit without it",
        (*parts.items(), ("Norms", found.norms)),
        ("With the head", found.before),
        ("Without the head", found.after),
        picks=({}, *(opening_pick(part_of(path), group.stack) for path, _ in listed)),
        marked=0,
        tables={
            "Without a head": NumberTable(
                {"part": tuple(saved), "number": ("change of the logit",)}, np.array(list(saved.values()))[:, None]
            )
        },
    )


def _programs(resolved: ResolvedQuestion, state: State) -> Iterator[Program]:
    group = selected_attention(resolved.config, state.attention)
    layer, head = selected_heads(state, group)[0]
    path = group.path(layer)
    position, token, _ = target_answer(resolved, state.query, state.target_token)
    call = f'print(remove_head(model, trace, "{path}", {head}, {position}, {token}))'
    command = ("without", f"--head={path}[{head}]", f"--position={position}", f"--answer={token}")
    yield Program(("", "from headlight import remove_head", call), command)


ANALYSIS = Analysis(
    "Without this head",
    "The chosen head is switched off. The change in the answer's logit is the sum of the head's own "
    "contribution, the responses of later heads and networks, and the effect of the norms. This does not show "
    "why a part responds. The head's weights become 0; for self-repair, Rushing and Nanda (2024) put in its "
    "output on another text instead.",
    reads=("query", "target_token", "attention", "layer", "head"),
    compute_long=head_removal,
    pause=150,
    offered=lambda off: "See what reacts" if len(off.heads) == 1 and not off.of_whole_text else "",
    programs=_programs,
)
