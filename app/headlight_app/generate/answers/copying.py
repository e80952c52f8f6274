"""Where a generated token comes from: heads that copied it, and passages of the prompt."""

from __future__ import annotations

from dataclasses import asdict

from headlight.analysis.faithfulness.copying import KEEP, Passage, cut_passages, trace_copying
from headlight.generation.generate import TextGenerator, fill_mask
from headlight.generation.step import GenerationStep, SamplingConfig
from headlight.tasks import task_of
from headlight.text.tokenizer import Encoded
from headlight.tracing.inputs import encode_input
from headlight_app.contract.reply import Reply
from headlight_app.generate.answers.step import resolve_prompt
from headlight_app.generate.contract import CopyingAnswer, CopyingHead, CopyingRequest, PassageAnswer
from headlight_app.inference.resolved_question import ResolvedQuestion


def answer_copying(request: CopyingRequest) -> Reply[CopyingAnswer]:
    """The heads that copied a token, and what each passage of the prompt added to it."""
    resolved = resolve_prompt(request.question)
    prompt = encode_input(resolved.model, resolved.tokenizer, resolved.model_input)
    step, passages = _step(resolved, request), cut_passages(prompt)
    fills_masks = task_of(resolved.config).fills_masks
    position = request.position if fills_masks else len(step.text.ids) - 1
    found = trace_copying(resolved.model, step, position, request.token, passages)
    numbers = zip(passages, found.copied, found.moved, strict=True)
    answer = CopyingAnswer(
        text=resolved.tokenizer.token_text(request.token),
        occurrences=found.occurrences,
        heads=tuple(CopyingHead(**asdict(head)) for head in found.heads),
        passages=tuple(_passage(prompt, passage, copied, moved) for passage, copied, moved in numbers),
        source=found.source,
        rest=found.rest,
    )
    return Reply(answer)


def _step(resolved: ResolvedQuestion, request: CopyingRequest) -> GenerationStep:
    """The step that generated the token, with all values needed to explain it."""
    question, model, tokenizer = resolved.question, resolved.model, resolved.tokenizer
    if task_of(resolved.config).fills_masks:
        masked, filled = question.masked_positions, dict(request.generated)
        return fill_mask(
            model, tokenizer, resolved.model_input, question.edits, masked_positions=masked, filled=filled, keep=KEEP
        )
    text, source = resolved.model_input, resolved.source
    generator = TextGenerator.from_text(
        model, tokenizer, text, question.edits, source=source, sampling=SamplingConfig(), keep=KEEP
    )
    return generator.step(tuple(token for _, token in request.generated))[0]


def _passage(prompt: Encoded, passage: Passage, copied: float, moved: float) -> PassageAnswer:
    text = prompt.text
    return PassageAnswer(
        text=text[passage.start : passage.stop].strip(),
        without=None if prompt.chat else (text[: passage.start] + text[passage.stop :]).strip(" \n"),
        copied=copied,
        moved=moved,
    )
