"""The answer of the beam search on Tasks."""

from __future__ import annotations

from collections.abc import Sequence

from headlight.cancellation import check_cancelled
from headlight.generation.generate import LENGTH_PENALTY, Hypothesis, beam_search
from headlight.text.tokenizer import Tokenizer
from headlight_app.contract.reply import Reply
from headlight_app.inference.resolved_question import resolve
from headlight_app.tasks.contract import Beam, BeamSearchAnswer, BeamSearchRequest

MAX_STEPS = 64  # tokens that a search writes


def answer_beam_search(request: BeamSearchRequest) -> Reply[BeamSearchAnswer]:
    """The beams kept after each step, each with the index of its parent, and the final texts.

    The search ignores the question's text, but applies its edits and variant.
    """
    resolved = resolve(request.question)
    edits, width = resolved.question.edits, request.beam_width
    steps: list[tuple[Beam, ...]] = []
    kept: tuple[Hypothesis, ...] = (Hypothesis(),)
    search = beam_search(
        resolved.model, resolved.tokenizer, "", edits, source=resolved.source, beams=width, steps=MAX_STEPS
    )
    for beams in search:
        check_cancelled()
        steps.append(tuple(_beam(beam, kept, resolved.tokenizer) for beam in beams))
        kept = beams
    texts = tuple(_written_text(beam, resolved.tokenizer) for beam in kept)
    return Reply(BeamSearchAnswer(steps=tuple(steps), texts=texts, length_penalty=LENGTH_PENALTY))


def _beam(beam: Hypothesis, previous: Sequence[Hypothesis], tokenizer: Tokenizer) -> Beam:
    """A beam as its parent plus one token; a beam that was already finished is its own parent, without a token."""
    rests = beam in previous
    return Beam(
        parent=previous.index(beam) if rests else [one.tokens for one in previous].index(beam.tokens[:-1]),
        token="" if rests else tokenizer.token_text(beam.tokens[-1]),
        log_probability=beam.log_probability,
        score=beam.score(LENGTH_PENALTY),
        finished=beam.is_finished,
    )


def _written_text(beam: Hypothesis, tokenizer: Tokenizer) -> str:
    return tokenizer.decode(beam.tokens[:-1] if beam.is_finished else beam.tokens)
