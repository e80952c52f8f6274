"""What the Generate page asks: one generation step, how its token was sampled, and the attention behind it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np

from app.generate.request import GenerationRequest
from app.state.request import parse_question, parse_request
from app.state.url import GeneratedTokens
from app.ui.wire_format import pack
from app.worker.attention_payload import variant_notes
from app.worker.prefix_cache import prefix_cache
from app.worker.resolved_question import ResolvedQuestion, resolve
from model.attention_groups import attention_groups
from model.errors import TextError
from model.generation.fill_mask import fill_mask, remaining_masks
from model.generation.generate import Prefix, TextGenerator
from model.generation.sampling import Sample, SamplingConfig
from model.generation.step import GenerationStep
from model.nn.masks import is_causal
from model.nn.transformer import Transformer
from model.tasks import task_of
from model.text.tokenizer import Encoded, Tokenizer

MAX_CANDIDATES = 12


@dataclass(frozen=True)
class StepResult:
    """One step, the prefix with its key/value cache where one is kept, and how many tokens were read for it."""

    step: GenerationStep
    prefix: Prefix | None
    tokens_read: int


def handle_generate(body: dict[str, Any]) -> bytes:
    """The step after those in `generated`: candidates, the sample, and the last query's attention as float32.

    The numbers are [layer head key] for each kind of attention, one after the other. Nothing is kept for the visitor:
    who sends the same steps gets the same answer. Where all masks are filled there is only the text.
    """
    resolved = resolve(parse_question(body))
    question, model, tokenizer = resolved.question, resolved.model, resolved.tokenizer
    request, started = parse_request(GenerationRequest, body, "request"), perf_counter()
    sampling, generated = request.sampling.config, request.generated
    if task_of(model.config).fills_masks:
        text, remaining = remaining_masks(model, tokenizer, question.text, question.masked_positions, dict(generated))
        if not remaining:
            return pack({"done": True, "tokens": _tokens_payload(text, None)})
        result = _fill_mask(resolved, sampling, generated)
        row = result.step["logits"][result.step.position]
    else:
        result = _continue_text(resolved, sampling, generated, request.use_cache)
        row = result.step["logits"][-1]
    step = result.step
    group_payloads, numbers = _attention_payload(step)
    meta = {
        "position": step.position,
        "chosen": step.chosen_token,
        **_candidates_payload(row, sampling.sample(row, len(generated)), tokenizer),
        "attention_groups": group_payloads,
        "cache": _cache_payload(result, model),
        "tokens_read": result.tokens_read,
        "length": len(step.text.ids),
        "context": step.config.context_length,
        "end_token": tokenizer.end_id if task_of(model.config).continues_text else None,
        "notes": _notes(resolved, generated),
        "tokens": _tokens_payload(step.text, step.source) if request.with_tokens else None,
        "milliseconds": (perf_counter() - started) * 1_000,
    }
    return pack(meta, numbers)


def _continue_text(
    resolved: ResolvedQuestion, sampling: SamplingConfig, generated: GeneratedTokens, use_cache: bool
) -> StepResult:
    """The next token of a text; with `use_cache` only the tokens after a prefix that was read before are read."""
    question, model, tokenizer = resolved.question, resolved.model, resolved.tokenizer
    keep = (f"{model.config.stacks[-1]}.*.weights", "logits")
    source = resolved.source
    if question.masked_positions:
        raise TextError("A model that continues texts has no mask token. Show the masked tokens again.")
    generator = TextGenerator.from_text(
        model,
        tokenizer,
        question.text,
        question.edits,
        source=source,
        sampling=sampling,
        keep=keep,
        prediction_row_only=True,
    )
    tokens = tuple(token for _, token in generated)
    prefix = prefix_cache().longest_prefix(generator, (*generator.text.ids, *tokens)) if use_cache else None
    step, new_prefix = generator.step(tokens, prefix)
    if use_cache:
        prefix_cache().store(generator, new_prefix)
    return StepResult(step, new_prefix, len(step.text.ids) - step.start)


def _fill_mask(resolved: ResolvedQuestion, sampling: SamplingConfig, generated: GeneratedTokens) -> StepResult:
    """The surest of the masks that are left."""
    question, model, tokenizer = resolved.question, resolved.model, resolved.tokenizer
    masked_positions, keep = question.masked_positions, (f"{model.config.stacks[-1]}.*.weights", "logits")
    filled = dict(generated)
    step = fill_mask(
        model,
        tokenizer,
        question.text,
        question.edits,
        masked_positions=masked_positions,
        filled=filled,
        sampling=sampling,
        keep=keep,
        prediction_row_only=True,
    )
    return StepResult(step, None, len(step.text.ids))


def _candidates_payload(row: np.ndarray, sample: Sample, tokenizer: Tokenizer) -> dict[str, Any]:
    """The likeliest tokens and the chosen one: their shares of the whole vocabulary, and their chances by the rule."""
    exponentials = np.exp(row.astype(np.float64) - row.max())
    probabilities = exponentials / exponentials.sum()
    order = np.argsort(-probabilities, kind="stable")
    shown = [int(token) for token in order[:MAX_CANDIDATES]]
    if sample.chosen not in shown:
        shown.append(sample.chosen)
    return {
        "candidates": [
            {
                "id": token,
                "text": tokenizer.token_text(token),
                "probability": float(probabilities[token]),
                "sampling_probability": float(sample.probabilities[token]),
            }
            for token in shown
        ],
        "kept_count": int(np.count_nonzero(sample.probabilities)),
        "vocabulary": len(probabilities),
        "rank": int(np.flatnonzero(order == sample.chosen)[0]) + 1,
        "random_number": sample.random_number,
        "entropy": float(
            -(probabilities * np.log2(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)).sum()
        ),
    }


def _attention_payload(step: GenerationStep) -> tuple[list[dict[str, Any]], bytes]:
    """The weights of the row that the step was asked of, for every head that reads the text or the source."""
    group_payloads, chunks, offset = [], [], 0
    for attention_group in attention_groups(step.config):
        if attention_group.queries != "text":
            continue
        paths = [f"{attention_group.path(layer)}.weights" for layer in range(attention_group.layers)]
        rows = np.ascontiguousarray(np.stack([step[path][:, 0] for path in paths]), dtype="<f4")
        group_payloads.append({**asdict(attention_group), "columns": rows.shape[-1], "offset": offset})
        chunks.append(rows.tobytes())
        offset += rows.size
    return group_payloads, b"".join(chunks)


def _cache_payload(result: StepResult, model: Transformer) -> dict[str, Any]:
    """What is kept of the tokens read, layer by layer; or why nothing is."""
    layer_sizes = result.prefix.cache_sizes() if result.prefix else ()
    if layer_sizes:
        layers = [{**asdict(one), "bytes": one.bytes} for one in layer_sizes]
        return {"layers": layers, "heads": model.config.heads, "reason": ""}
    if task_of(model.config).fills_masks:
        reason = (
            "Every token sees every other, so a filled word changes the keys and values of all: each step reads all."
        )
    elif not is_causal(model.config.masks):
        reason = (
            "Under this mask a token may see later ones, so each new one changes the keys and values of all others."
        )
    else:
        reason = (
            "An edit mixes the values of several tokens, so keys and values of earlier ones do not stay as they are."
        )
    return {"layers": [], "heads": model.config.heads, "reason": reason}


def _notes(resolved: ResolvedQuestion, generated: GeneratedTokens) -> list[str]:
    """What somebody should know before believing the text."""
    question, model = resolved.question, resolved.model
    note_texts = [" ".join(variant_notes(resolved))]
    if question.edits:
        note_texts.append(f"Changes made on Explore are in force: {', '.join(question.edits)}.")
    if (
        generated
        and any(mask.startswith("custom:") for mask in model.config.masks)
        and task_of(model.config).continues_text
    ):
        note_texts.append(
            "Your mask holds among the tokens of the prompt. A new token sees all before it, unseen by them."
        )
    return [note for note in note_texts if note]


def _tokens_payload(text: Encoded, source: Encoded | None) -> dict[str, Any]:
    """The tokens that the model read: which are special, and which follow a space that their text leaves out."""

    def rows_of(encoded: Encoded) -> list[dict[str, Any]]:
        rows, previous_end = [], 0
        for piece, special, (start, end) in zip(
            encoded.token_texts, encoded.special_mask, encoded.offsets, strict=True
        ):
            between = encoded.text[previous_end:start] + encoded.text[start:end][:1]
            space_before = end > start and any(map(str.isspace, between)) and not piece[:1].isspace()
            rows.append({"text": piece, "special": special, "space_before": space_before})
            previous_end = max(previous_end, end)
        return rows

    return {"text": rows_of(text), "source": rows_of(source) if source else None}
