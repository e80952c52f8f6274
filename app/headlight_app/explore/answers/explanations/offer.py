"""What to look at next: once heads that change the answer much are switched off, the analyses that say why."""

from __future__ import annotations

from operator import attrgetter

from headlight.attention_groups import AttentionGroup, attention_groups
from headlight.problem_types import problem_type_of
from headlight.rendering.html import ablations_json
from headlight.views.kinds import ChoiceView, Pick
from headlight.views.rows import row
from headlight.views.words import percent, quoted
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.parts import part_name, part_of
from headlight_app.explore.answers.analyses.row import Analysis, HeadsOff, Views
from headlight_app.explore.answers.analyses.table import ANALYSES
from headlight_app.inference.attention_payload import predictions
from headlight_app.inference.resolved_question import ResolvedQuestion

LARGE = 0.2  # change of the likeliest answer's probability; the page asks for nothing if it is smaller


def offer(resolved: ResolvedQuestion, state: State) -> Views:
    """The change of the answer, and a button for each analysis; nothing unless it is large, and due to heads alone.

    Of several masks it is about the chosen one, else about the first.
    """
    heads, found = _heads_off(resolved), predictions(resolved, state.query)
    shown = next((one for one in found if one.position == state.query), next(iter(found), None))
    if not heads or shown is None or not problem_type_of(resolved.config).is_probability:
        return ()
    before, after = (max(shown.candidates, key=attrgetter(side)) for side in ("before", "after"))
    off = HeadsOff(heads, before, after, shown.token_text is None)
    rows = {name: each.offered(off) for name, each in ANALYSES.items() if each.exists(resolved.config)}
    offered = {name: words for name, words in rows.items() if words}
    is_large = off.changes_answer or abs(before.after - before.before) >= LARGE
    if not is_large or not offered:
        return ()
    picks = tuple(_pick(resolved, off, name) for name in offered)
    return (row(ChoiceView("", tuple(offered.values()), picks, form="actions"), text=change_words(off)),)


def change_words(off: HeadsOff) -> str:
    """The change of the answer in a sentence."""
    (group, layer, head), count = off.heads[0], len(off.heads)
    named = part_name(part_of(f"{group.path(layer)}[{head}]")) if count == 1 else f"these {count} heads"
    moves = "falls" if off.before.after < off.before.before else "rises"
    numbers = f"from {percent(off.before.before)} to {percent(off.before.after)}"
    other = f", and {quoted(off.after.text)} leads" if off.changes_answer else ""
    on = "it" if count == 1 else "them"
    return f"Without {named} {quoted(off.before.text)} {moves} {numbers}{other}. With {on} switched on again:"


def _heads_off(resolved: ResolvedQuestion) -> tuple[tuple[AttentionGroup, int, int], ...]:
    """The heads that the edits switch off; none if something else is changed too."""
    edits, groups = resolved.question.edits, attention_groups(resolved.config)
    found = {group: ablations_json(edits, group) for group in groups}
    if resolved.question.variant or any(not any(each.get(edit) for each in found.values()) for edit in edits):
        return ()
    return tuple(
        dict.fromkeys((group, *head) for group, heads in found.items() for off in heads.values() for head in off)
    )


def _pick(resolved: ResolvedQuestion, off: HeadsOff, analysis: str) -> Pick:
    group, layer, head = off.heads[0]
    chosen: Pick = {"attention": group.name, "layer": layer, "head": head, "heads": ()}
    return {"tab": "layers", "analysis": analysis, **chosen, "toggle_edits": resolved.question.edits}


OFFER = Analysis("What to look at next", reads=("query",), compute=offer)
