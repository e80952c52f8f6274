"""Answers for Patching: how much of another text's answer one of its values restores."""

from __future__ import annotations

from headlight.analysis.patching import KEEP, RECEIVING_PARTS, PatchedRuns, Receiver
from headlight.errors import TextError
from headlight_app.contract.reply import Reply
from headlight_app.contract.state import PatchKind
from headlight_app.explore.answers.layer_analysis import answer_text, target_answer
from headlight_app.explore.contract import NamedAnswer, PatchingAnswer, PatchingRequest
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve


def answer_patching(request: PatchingRequest) -> Reply[PatchingAnswer]:
    """The share of the logit difference that each patch of a layer restores, from `first` on.

    The answer has the patches of one batch; the next request starts at `first` + `count`.
    """
    resolved = resolve(request.question)
    stack = request.stack or resolved.config.stacks[-1]
    if stack not in resolved.config.stacks:
        raise TextError(f"This model has no {stack}; its stacks: {', '.join(resolved.config.stacks)}.")
    patch = patch_of(resolved, stack, request.patch, request.receiver)
    runs = patched_runs(resolved, request, stack, patch)
    if request.layer >= runs.layers(patch):
        raise TextError(f"There is no layer {request.layer} to patch, counted from 0.")
    shares = next(runs.shares(patch, request.layer, request.first), None)
    if shares is None:
        raise TextError(f"There is no patch {request.first}, counted from 0.")
    answer, other = (
        NamedAnswer(id=each, text=answer_text(runs.trace, resolved.tokenizer, each)) for each in runs.answers
    )
    of_tokens = request.patch == "residual"
    return Reply(
        PatchingAnswer(
            first=request.first,
            count=len(shares),
            patches=len(runs.trace.text_of_stack(runs.stack).ids)
            if of_tokens
            else resolved.config.for_stack(runs.stack).heads,
            position=runs.position,
            answer=answer,
            other_answer=other,
            before=runs.before,
            after=runs.after,
        ),
        shares.astype("<f4").tobytes(),
    )


def patch_of(resolved: ResolvedQuestion, stack: str, patch: PatchKind, receiver: str) -> PatchKind | Receiver:
    """The patch: a kind of value, or an input of a head such as "4.6". Raises TextError if no earlier head feeds it."""
    if patch not in RECEIVING_PARTS:
        return patch
    layer, _, head = receiver.partition(".")
    if not layer.strip("0"):
        raise TextError("A head of layer 0 reads no earlier head. Choose one of a later layer.")
    return Receiver.of_head(resolved.model, stack, int(layer), patch, int(head))


def patched_runs(
    resolved: ResolvedQuestion, request: PatchingRequest, stack: str, patch: PatchKind | Receiver
) -> PatchedRuns:
    """The run of a question and the run of the other text. Raises TextError if there is no other text."""
    if not request.other_text.strip():
        raise TextError("Type another text with equally many tokens; its values replace those of this text.")
    position, answer, _ = target_answer(resolved, request.query, request.token)
    other = resolved.of_other_text(request.other_text)
    keep = (*KEEP, patch.path) if isinstance(patch, Receiver) else KEEP
    here, there = (each.trace_of(*keep) for each in (resolved, other))
    return PatchedRuns.of(resolved.model, here, there, position, (answer, other_answer(other, position)), stack)


def other_answer(other: ResolvedQuestion, position: int) -> int:
    """The likeliest answer to the other text at a position, or at its end if it is shorter."""
    return int(other.logits(min(position, len(other.trace.text.ids) - 1)).argmax())
