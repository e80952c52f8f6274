"""The programs of the analyses that the page draws by code of its own."""

from __future__ import annotations

from collections.abc import Iterator

from headlight.analysis.patching import RECEIVING_PARTS, Receiver
from headlight.tracing.live_edits import is_patch
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Program
from headlight_app.explore.answers.layer_analysis import target_answer
from headlight_app.explore.answers.patching import other_answer, patch_of
from headlight_app.export.answers.programs import model_arguments, run_call
from headlight_app.inference.head_selection import selected_attention, selected_head
from headlight_app.inference.resolved_question import ResolvedQuestion


def patching_programs(resolved: ResolvedQuestion, state: State) -> Iterator[Program]:
    """The map of patches from the other text into the unpatched run."""
    group = selected_attention(resolved.config, state.attention)
    chosen = selected_head(state, group)
    reads_no_layer = state.patch in RECEIVING_PARTS and not chosen[0]  # as the page says
    if reads_no_layer or not state.patch_from.strip():
        return
    other = resolved.of_other_text(state.patch_from)
    edits = tuple(edit for edit in resolved.question.edits if not is_patch(edit))
    runs = ", ".join(map(run_call, (resolved.with_input(edits=edits, patch_from=""), other)))
    position, token, _ = target_answer(resolved, state.query, state.target_token)
    answers = token, other_answer(other, position)
    into = patch_of(resolved, group.stack, state.patch, "{}.{}".format(*chosen))
    if isinstance(into, Receiver):
        name, arguments, part, option = "path_patching", f"{str(into)!r}, {position}, {answers}", "", f"--into={into}"
    else:
        arguments = f"{position}, {answers}, {group.stack!r}"
        name, part, option = "patching_map", f".{into}", f"--stack={group.stack}"
    call = f"patching = {name}(model, {runs}, {arguments}){part}"
    yield Program(
        ("", f"from headlight import {name}", call, "print(patching)"),
        (
            *("patching", f"--other={state.patch_from}", f"--position={position}"),
            *("--answers", *map(str, answers), option),
        ),
        keeps_patches=False,
    )


def lens_programs(resolved: ResolvedQuestion, state: State) -> Iterator[Program]:
    """The likeliest answer after each layer, by the displayed lens."""
    position, _, _ = target_answer(resolved, state.query, state.target_token)
    is_tuned = state.lens == "tuned" and resolved.tuned_lens is not None
    folder = model_arguments(resolved.question).partition(", device=")[0]
    reading = (
        "from headlight.analysis.lenses.tuned_lens import read_tuned_lens",
        f"lens = read_tuned_lens({folder}, model.config)",
    )
    call = f"print(logit_lens(model, trace, {position}{', lens' if is_tuned else ''}).argmax(-1))"
    imported = "from headlight.analysis.lenses.logit_lens import logit_lens"
    yield Program(("", imported, *(reading if is_tuned else ()), call))
