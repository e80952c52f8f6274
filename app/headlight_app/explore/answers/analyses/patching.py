"""Patching: values of this run are replaced one by one by those of another text; how much of its answer comes back?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headlight.analysis.patching import KEEP, RECEIVING_PARTS, PatchedRuns, Receiver
from headlight.errors import TextError
from headlight.tracing.live_edits import is_patch
from headlight.views.kinds import ChoiceView, InputView, Pick
from headlight.views.rows import row
from headlight.views.words import in_line, quoted, signed
from headlight.vision.shipped_images import shipped_image_names
from headlight_app.contract.state import PatchKind, State
from headlight_app.explore.answers.analyses.row import Analysis, Program, Step, Views
from headlight_app.explore.answers.analyses.stepwise import StepwiseMap, require_heads
from headlight_app.explore.answers.exchanged_word import example_to_patch_from, other_answer
from headlight_app.explore.answers.layer_analysis import answer_text, target_answer
from headlight_app.export.answers.programs import run_call
from headlight_app.inference.head_selection import selected_attention, selected_head
from headlight_app.inference.resolved_question import ResolvedQuestion


@dataclass(frozen=True)
class Kind:
    """A kind of patch: its title, what the columns of its map are, and how to read it."""

    title: str
    things: str
    note: str


_HELD = (
    "Heads in between are frozen, so only the direct effect on the chosen head counts. Click a head to map the inputs "
    "of that head."
)
_RESTORED = "1: the other text's answer is fully restored, 0: not at all. "
KINDS: dict[PatchKind, Kind] = {
    "heads": Kind("a head's output", "heads", _RESTORED + "Click a head to patch it in this run."),
    "direct_heads": Kind(
        "a head's output, direct path to the answer",
        "heads",
        "Later heads are frozen, so only the direct effect on the answer counts. Click a head to choose it.",
    ),
    "q": Kind("a head's output, direct path to the queries of", "heads", _HELD),
    "k": Kind("a head's output, direct path to the keys of", "heads", _HELD),
    "v": Kind("a head's output, direct path to the values of", "heads", _HELD),
    "residual": Kind(
        "a token's residual stream",
        "tokens",
        _RESTORED + "Click a cell to patch that token before that layer in this run.",
    ),
}
EDITS: dict[PatchKind, str] = {"heads": "self.weighted_values", "residual": "residual"}  # values that a click patches


def controls(resolved: ResolvedQuestion, state: State) -> Views:
    """The choice of what is put in place, and of the text, image or recording that it is from."""
    require_heads(resolved.config)
    group = selected_attention(resolved.config, state.attention)
    kinds = tuple(_title(resolved, kind, selected_head(state, group), group.kind) for kind in KINDS)
    kind = ChoiceView("put in place", kinds, tuple({"patch": kind} for kind in KINDS), form="select")
    if not resolved.config.reads_signal:
        placeholder = "another text with equally many tokens"
        return (row(kind, InputView("from the text", "patch_from", state.patch_from, placeholder=placeholder)),)
    names = ("", *shipped_image_names(resolved.config))
    picks = tuple({"patch_from": name} for name in names)
    return (row(kind, ChoiceView("from", ("…", *names[1:]), picks, form="select")),)


def _title(resolved: ResolvedQuestion, kind: PatchKind, head: tuple[int, int], attention: str) -> str:
    """The title of a kind of patch; one into a head names it."""
    if kind not in RECEIVING_PARTS:
        return KINDS[kind].title
    return f"{KINDS[kind].title} layer {head[0]}, head {head[1]}{' of self-attention' * (attention == 'cross')}"


def example(resolved: ResolvedQuestion, state: State) -> Views:
    """A button for an example of another text, while there is none: this text with one word replaced."""
    if state.patch_from:
        return ()
    text = example_to_patch_from(resolved, state.query, state.target_token)
    return (ChoiceView("", (f"Try: “{text}”",), ({"patch_from": text},), form="actions"),) if text else ()


def patching(resolved: ResolvedQuestion, state: State, progress: str) -> Step:
    """The share of the difference between the answers of both texts that each patch restores."""
    require_heads(resolved.config)
    config, group = resolved.config, selected_attention(resolved.config, state.attention)
    stack, chosen, kind = group.stack, selected_head(state, group), KINDS[state.patch]
    patch = patch_of(resolved, stack, state.patch, "{}.{}".format(*chosen))
    runs = _patched_runs(resolved, state, stack, patch)
    of_tokens = kind.things == "tokens"
    tokens = runs.trace.text_of_stack(stack).token_texts
    columns = [f"{place} {in_line(token)}" for place, token in enumerate(tokens)]
    heads = map(str, range(config.for_stack(stack).heads))

    def title(layer: int, column: int) -> str:
        return f"Layer {layer}, {f'token {columns[column]}' if of_tokens else f'head {column}'}"

    def pick(layer: int, column: int) -> Pick:
        if state.patch in EDITS:
            return {"toggle_edits": (f"{stack}.{layer}.{EDITS[state.patch]}[{column}]=from:B",)}
        return {"attention": f"{stack}.self", "layer": layer, "head": column}

    def details(share: float) -> str:
        apart = signed(runs.before + share * (runs.after - runs.before))
        return f"restores {signed(share)} of the difference, the logits are {apart} apart"

    here, there = (quoted(answer_text(runs.trace, resolved.tokenizer, answer)) for answer in runs.answers)
    return StepwiseMap(
        f"Restored share of the difference, {_title(resolved, state.patch, chosen, group.kind)} from "
        f"{quoted(state.patch_from)}",
        "The largest shares",
        kind.things,
        runs.layers(patch),
        tuple(columns if of_tokens else heads),
        kind.note,
        title,
        details,
        pick,
        f"the logit of {there} minus the logit of {here} is {signed(runs.before)} here, {signed(runs.after)} in the "
        "other text",
    ).step(progress, lambda layer, first: next(runs.shares(patch, layer, first)).tolist())


def patch_of(resolved: ResolvedQuestion, stack: str, patch: PatchKind, receiver: str) -> PatchKind | Receiver:
    """The patch: a kind of value, or an input of a head such as "4.6". Raises TextError if no earlier head feeds it."""
    if patch not in RECEIVING_PARTS:
        return patch
    layer, _, head = receiver.partition(".")
    if not layer.strip("0"):
        raise TextError("A head of layer 0 reads no earlier head. Choose one of a later layer.")
    return Receiver.of_head(resolved.model, stack, int(layer), patch, int(head))


def _patched_runs(resolved: ResolvedQuestion, state: State, stack: str, patch: PatchKind | Receiver) -> PatchedRuns:
    """The run of a question and the run of the other text. Raises TextError if there is no other text."""
    if not state.patch_from.strip():
        raise TextError("Type another text with equally many tokens; its values replace those of this text.")
    position, answer, _ = target_answer(resolved, state.query, state.target_token)
    other = resolved.of_other_text(state.patch_from)
    keep = (*KEEP, patch.path) if isinstance(patch, Receiver) else KEEP
    here, there = (each.trace_of(*keep) for each in (resolved, other))
    return PatchedRuns.of(resolved.model, here, there, position, (answer, other_answer(other, position)), stack)


def _programs(resolved: ResolvedQuestion, state: State) -> Iterator[Program]:
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


ANALYSIS = Analysis(
    "Patching",
    "Where does the model distinguish two texts? Each value in turn is replaced by its value for another text "
    "with one different word. The number is the share of the logit difference between the two answers that "
    "this restores.",
    reads=("query", "target_token", "attention", "patch", "patch_from"),
    reads_head_of=tuple(RECEIVING_PARTS),
    compute=controls,
    compute_long=example,
    pause=600,
    start="Patch each in turn",
    step=patching,
    of_unpatched=True,
    offered=lambda off: "See where another input changes the answer" if off.changes_answer else "",
    programs=_programs,
)
