"""One generation step, how its token was sampled, and the attention behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from msgspec import structs

from headlight.analysis.moved_values import moved_values
from headlight.attention_groups import attention_groups
from headlight.errors import TextError
from headlight.generation.generate import Prefix, TextGenerator, fill_mask, remaining_masks
from headlight.generation.rules import end_tokens, follow_rules
from headlight.generation.step import GenerationStep, SamplingConfig
from headlight.sound.frames import EncodedSound
from headlight.tasks import task_of
from headlight.text.tokenizer import Encoded, Tokenizer
from headlight.views.encoding import plain_rows
from headlight.vision.patches import EncodedImage
from headlight_app.contract.parts import AttentionGroupAnswer
from headlight_app.contract.question import MEASURES, Question
from headlight_app.contract.reply import Reply
from headlight_app.contract.sampling import GeneratedTokens, Sampling
from headlight_app.generate.answers.cache import cache_rows
from headlight_app.generate.answers.next_token import next_token_rows
from headlight_app.generate.contract import GenerateAnswer, GenerateRequest, ReadTokens, StepAnswer, TextToken
from headlight_app.inference.attention_payload import group_answer, token_answers, variant_notes
from headlight_app.inference.prefix_cache import prefix_cache
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve

MAX_SPANS = 48  # spans of a recording, whose frames are too many to list


@dataclass(frozen=True)
class StepResult:
    """One step, the prefix with its key/value cache if there is one, and the number of tokens read for the step."""

    step: GenerationStep
    prefix: Prefix | None
    tokens_read: int

    @property
    def logits(self) -> np.ndarray:
        """The logits at the position whose token was sampled."""
        logits: np.ndarray = self.step["logits"][self.step.position if task_of(self.step.config).fills_masks else -1]
        return logits


def answer_generate(request: GenerateRequest) -> Reply[GenerateAnswer]:
    """The step after those in `generated`; only the text if all masks are filled.

    The server keeps no state for the visitor: the same steps get the same answer.
    """
    started, resolved = perf_counter(), resolve_prompt(request.question)
    question, tokenizer, generated = resolved.question, resolved.tokenizer, request.generated
    sampling = _sampling_config(request.sampling)
    if task_of(resolved.config).fills_masks:
        text, remaining = remaining_masks(
            resolved.model, tokenizer, resolved.model_input, question.masked_positions, dict(generated)
        )
        if not remaining:
            return Reply(GenerateAnswer(step=None, tokens=_read_tokens(text, None, tokenizer)))
        result = _fill_mask(resolved, sampling, generated)
    else:
        use_cache = request.use_cache and question.measure != "moved"  # the cache does not return its values
        result = _continue_text(resolved, sampling, generated, use_cache)
    answer, numbers = _step_answer(resolved, result, sampling, generated)
    answer = structs.replace(answer, milliseconds=(perf_counter() - started) * 1_000)
    tokens = _read_tokens(result.step.text, result.step.source, tokenizer) if request.with_tokens else None
    return Reply(GenerateAnswer(step=answer, tokens=tokens), numbers)


def resolve_prompt(question: Question) -> ResolvedQuestion:
    """The model and a question about one text. Raises TextError for a pair."""
    resolved = resolve(question)
    if resolved.question.text_pair:
        raise TextError("Generate reads one text, not a pair. Explore fills the masks of two.")
    return resolved


def _sampling_config(sampling: Sampling) -> SamplingConfig:
    top_p = sampling.top_p if sampling.top_p < 1 else None  # at 1, rounding could drop the last tokens
    return SamplingConfig(sampling.temperature, sampling.top_k or None, top_p, sampling.seed)


def _step_answer(
    resolved: ResolvedQuestion, result: StepResult, sampling: SamplingConfig, generated: GeneratedTokens
) -> tuple[StepAnswer, bytes]:
    """One step for the browser, and the attention of the step's query."""
    step, row, tokenizer = result.step, result.logits, resolved.tokenizer
    prompt_length, cached = len(step.text.ids) - len(generated), result.prefix.cache_sizes() if result.prefix else ()
    followed = follow_rules(resolved.config.generation, row, step.text.ids, prompt_length)
    sample = sampling.sample(followed, len(generated))
    rows = next_token_rows(step, row, sample, tokenizer, is_greedy=not sampling.temperature)
    groups, numbers = _asking_rows(resolved, step)
    answer = StepAnswer(
        position=step.position,
        chosen=step.chosen_token,
        chosen_text=tokenizer.token_text(step.chosen_token),
        rows=plain_rows(rows, with_tables=True),
        cache_rows=plain_rows(cache_rows(step.config, cached, prompt_length), with_tables=False),
        caches=bool(cached),
        attention_groups=groups,
        tokens_read=result.tokens_read,
        length=len(step.text.ids),
        context=step.config.context_length,
        end_tokens=end_tokens(resolved.config, tokenizer) if task_of(resolved.config).continues_text else (),
        notes=_notes(resolved, generated),
    )
    return answer, numbers


def _continue_text(
    resolved: ResolvedQuestion, sampling: SamplingConfig, generated: GeneratedTokens, use_cache: bool
) -> StepResult:
    """The next token of a text; with `use_cache`, only the tokens after a cached prefix are read."""
    question, model, tokenizer = resolved.question, resolved.model, resolved.tokenizer
    keep, source = _kept(resolved), resolved.source
    if question.masked_positions:
        raise TextError("A model that continues texts has no mask token. Show the masked tokens again.")
    generator = TextGenerator.from_text(
        model,
        tokenizer,
        resolved.model_input,
        question.edits,
        source=source,
        sampling=sampling,
        keep=keep,
        prediction_row_only=True,
    )
    tokens = tuple(token for _, token in generated)
    prefix = (
        prefix_cache().longest_prefix(generator, (*generator.text.ids, *tokens), resolved.owner) if use_cache else None
    )
    step, new_prefix = generator.step(tokens, prefix)
    if use_cache:
        prefix_cache().store(generator, new_prefix, resolved.owner)
    return StepResult(step, new_prefix, len(step.text.ids) - step.start)


def _kept(resolved: ResolvedQuestion) -> tuple[str, ...]:
    """The values that a step keeps; the attention values only if the page shows what the weights move."""
    stack = resolved.config.stacks[-1]
    values = (f"{stack}.*.v",) if resolved.question.measure == "moved" else ()
    return f"{stack}.*.weights", "logits", *values


def _fill_mask(resolved: ResolvedQuestion, sampling: SamplingConfig, generated: GeneratedTokens) -> StepResult:
    """The prediction of the most certain remaining mask."""
    question, model, tokenizer = resolved.question, resolved.model, resolved.tokenizer
    masked_positions, keep = question.masked_positions, _kept(resolved)
    filled = dict(generated)
    step = fill_mask(
        model,
        tokenizer,
        resolved.model_input,
        question.edits,
        masked_positions=masked_positions,
        filled=filled,
        sampling=sampling,
        keep=keep,
        prediction_row_only=True,
    )
    return StepResult(step, None, len(step.text.ids))


def _asking_rows(resolved: ResolvedQuestion, step: GenerationStep) -> tuple[tuple[AttentionGroupAnswer, ...], bytes]:
    """The row of the step's query, for every head that reads the text or the source."""
    moved = resolved.question.measure == "moved"
    answers, chunks, offset = [], [], 0
    for attention_group in attention_groups(step.config):
        if attention_group.queries != "text":
            continue
        paths = [attention_group.path(layer) for layer in range(attention_group.layers)]
        shown = [
            moved_values(resolved.model, step, path).length if moved else step[f"{path}.weights"] for path in paths
        ]
        rows = np.ascontiguousarray(np.stack([each[:, 0] for each in shown]), dtype="<f4")
        if attention_group.keys == "source" and isinstance(step.source, EncodedSound):
            rows = np.add.reduceat(rows, [span.start for span in sound_spans(step.source)], axis=-1)
        answer = group_answer(attention_group, (1, rows.shape[-1]), offset, ())
        answers.append(structs.replace(answer, shows=MEASURES["moved"] if moved else ""))
        chunks.append(rows.tobytes())
        offset += rows.size
    return tuple(answers), b"".join(chunks)


def _notes(resolved: ResolvedQuestion, generated: GeneratedTokens) -> tuple[str, ...]:
    """Notes to read before trusting the text."""
    question, model = resolved.question, resolved.model
    note_texts = [" ".join(variant_notes(resolved))]
    if question.edits:
        note_texts.append(f"Edits made on Explore apply: {', '.join(question.edits)}.")
    if (
        generated
        and any(mask.startswith("custom:") for mask in model.config.masks)
        and task_of(model.config).continues_text
    ):
        note_texts.append(
            "Your mask applies within the prompt. A new token sees all earlier tokens; they do not see it."
        )
    return tuple(note for note in note_texts if note)


def _read_tokens(text: Encoded, source: Encoded | None, tokenizer: Tokenizer) -> ReadTokens:
    if isinstance(source, EncodedSound):
        return ReadTokens(text=text_tokens(text, tokenizer), source=tuple(_span_tokens(source)))
    read = None if source is None else text_tokens(source, tokenizer.source_tokenizer)
    return ReadTokens(text=text_tokens(text, tokenizer), source=read)


def sound_spans(sound: EncodedSound) -> tuple[range, ...]:
    """The frames of a recording in spans of equal length, and the silence after it as one."""
    count, size = sound.read_count, -(-sound.read_count // MAX_SPANS)
    heard = [range(first, min(first + size, count)) for first in range(0, count, size)]
    return (*heard, range(count, len(sound.ids))) if count < len(sound.ids) else tuple(heard)


def _span_tokens(sound: EncodedSound) -> Iterator[TextToken]:
    """A token for each span, named by its time; its weight is the sum over its frames."""
    for span in sound_spans(sound):
        first, end = (sound.frame_seconds * frame for frame in (span.start, span.stop))
        words = f"{first:.2f}–{end:.2f} s" + ", silence" * (span.start >= sound.read_count)
        yield TextToken(text=words, id=span.start, special=False, masked=False, end=0, space_before=True)


def text_tokens(encoded: Encoded, tokenizer: Tokenizer) -> tuple[TextToken, ...]:
    """The tokens that the model read, and which of them follow a space that is not in their text."""
    rows, previous_end = [], 0
    for token, (start, end) in zip(token_answers(encoded, tokenizer), encoded.offsets, strict=True):
        between = encoded.text[previous_end:start] + encoded.text[start:end][:1]
        space_before = end > start and any(map(str.isspace, between)) and not token.text[:1].isspace()
        is_apart = space_before or isinstance(encoded, EncodedImage)  # patches are not parts of a word
        rows.append(TextToken(**structs.asdict(token), space_before=is_apart))
        previous_end = max(previous_end, end)
    return tuple(rows)
