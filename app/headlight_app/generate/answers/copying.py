"""Where a generated token comes from, as views: heads that copied it, and passages of the prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from headlight.analysis.faithfulness.copying import KEEP, Copy, Copying, Passage, cut_passages, trace_copying
from headlight.generation.generate import TextGenerator, fill_mask
from headlight.generation.step import GenerationStep, SamplingConfig
from headlight.tasks import task_of
from headlight.text.tokenizer import Encoded
from headlight.tracing.inputs import encode_input
from headlight.views.encoding import plain_rows
from headlight.views.kinds import BarsView, ChangesView, NumberTable, Verdict
from headlight.views.rows import Row, row
from headlight.views.words import in_line, percent, quoted
from headlight_app.contract.reply import Reply
from headlight_app.generate.answers.step import resolve_prompt
from headlight_app.generate.contract import CopyingAnswer, CopyingRequest
from headlight_app.inference.resolved_question import ResolvedQuestion

LISTED = 4  # heads of either kind
LONGEST = 80  # characters of a passage in the sentence
HEADS_NOTE = (
    "Heads that look at an earlier copy of the token, and what they add to its logit beyond what they add to all "
    "tokens; one that subtracts suppressed it."
)
PASSAGES_NOTE = (
    "Each line of the prompt is a passage, or each sentence of a single line. What earlier layers moved between tokens "
    "is estimated (ALTI-Logit). Deleting a passage proves it."
)


def answer_copying(request: CopyingRequest) -> Reply[CopyingAnswer]:
    """The heads that copied a token, and what each passage of the prompt added to it."""
    resolved = resolve_prompt(request.question)
    prompt = encode_input(resolved.model, resolved.tokenizer, resolved.model_input)
    step, passages = _step(resolved, request), cut_passages(prompt)
    fills_masks = task_of(resolved.config).fills_masks
    position = request.position if fills_masks else len(step.text.ids) - 1
    found = trace_copying(resolved.model, step, position, request.token, passages)
    text = resolved.tokenizer.token_text(request.token)
    rows = plain_rows(_rows(prompt, text, passages, found), with_tables=True)
    return Reply(CopyingAnswer(text=text, rows=rows))


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


def _rows(prompt: Encoded, token: str, passages: Sequence[Passage], found: Copying) -> Iterator[Row]:
    texts = [prompt.text[passage.start : passage.stop].strip() for passage in passages]
    said = Verdict(source_words(token, found, texts), tables=dict(_tables(texts, found)))
    yield row(said, title=f"Where {quoted(token)} comes from")
    copiers, suppressors = ([head for head in found.heads if sign * head.logit > 0] for sign in (1, -1))
    if found.heads:
        yield row(_heads([*copiers[:LISTED], *suppressors[:LISTED]]))
    if passages:
        yield row(_passages(prompt, token, passages, texts, found))


def source_words(token: str, found: Copying, texts: Sequence[str]) -> str:
    """The origin of the token in a sentence. `texts` are those of the passages."""
    if not found.occurrences:
        return f"{quoted(token)} does not occur in the text that the model read, so no head could copy it."
    times = "once" if len(found.occurrences) == 1 else f"{len(found.occurrences)} times"
    stands = f"{quoted(token)} occurs {times} in the text that the model read"
    if not any(head.logit > 0 for head in found.heads):
        return f"{stands}, but no head adds 0.05 or more to its logit from there."
    if found.source is None or len(texts) < 2:
        return f"{stands}."
    return f"{stands}. It comes from passage {found.source + 1}: {quoted(_shortened(texts[found.source]))}."


def _heads(heads: Sequence[Copy]) -> ChangesView:
    """The heads with the largest copies; a click chooses one."""
    places = [(int(head.path.split(".")[1]), head.head) for head in heads]
    return ChangesView(
        "Heads: what each adds to its logit",
        tuple(
            (
                f"layer {layer}, head {number}: {percent(head.weight)} of its attention at position {head.key}",
                head.logit,
            )
            for (layer, number), head in zip(places, heads, strict=True)
        ),
        picks=tuple({"layer": layer, "head": head} for layer, head in places),
        note=HEADS_NOTE,
        tables={},
    )


def _passages(
    prompt: Encoded, token: str, passages: Sequence[Passage], texts: Sequence[str], found: Copying
) -> BarsView:
    """What each passage adds to the token's logit.

    A passage of a chat is of the text that its template made, so there is no prompt without it.
    """
    whole = prompt.text
    rests = [(whole[: passage.start] + whole[passage.stop :]).strip(" \n") for passage in passages]
    picks = tuple({"text": rest, "passage": text} for rest, text in zip(rests, texts, strict=True))
    return BarsView(
        title=f"What each passage adds to the logit of {quoted(token)}",
        labels=tuple(f"{place + 1}: {in_line(text)}" for place, text in enumerate(texts)),
        series={"copied": found.copied, "in all": found.moved},
        is_signed=True,
        picks=() if prompt.chat else picks,
        action="" if prompt.chat else "Delete",
        marked=found.source,
        note=PASSAGES_NOTE,
        tables={},
    )


def _shortened(text: str) -> str:
    words = in_line(text)
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


def _tables(texts: Sequence[str], found: Copying) -> Iterator[tuple[str, NumberTable]]:
    """All numbers, to be saved."""
    if found.heads:
        names = tuple(f"{head.path}[{head.head}] from {head.key}" for head in found.heads)
        numbers = np.array([(head.weight, head.logit) for head in found.heads])
        yield (
            "Heads that copied",
            NumberTable({"head": names, "number": ("weight", "added to the logit")}, numbers),
        )
    if texts:
        both = np.array([found.copied, found.moved]).T
        axes = {"passage": tuple(map(in_line, texts)), "number": ("copied", "in all")}
        yield "Passages of the prompt", NumberTable(axes, both)
