"""What the Layers tab asks: logit lens, logit attribution, information flow and head ablation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from time import monotonic
from typing import Any

import numpy as np

from app.state.request import integer_or_zero, parse_question, parse_request
from app.ui.wire_format import pack
from app.worker.resolved_question import ResolvedQuestion, resolve
from model.analysis import head_ablation, information_flow, logit_lens
from model.analysis.attribution import logit_attribution
from model.analysis.head_ablation import HeadSearch
from model.array_types import Float
from model.cancellation import check_cancelled
from model.config import Config
from model.errors import TextError
from model.nn.block import NORM_PLACEMENTS
from model.nn.output_heads import POOLINGS
from model.nn.transformer import Transformer, attention_at
from model.tasks import label_text, require_token_task, task_of
from model.text.tokenizer import Tokenizer
from model.tracing.run import encode_input
from model.tracing.trace import Trace

# All that the tab needs besides what every question keeps: one forward pass for all of its plots.
KEEP_PATTERNS = tuple(sorted({*logit_lens.KEEP, *logit_attribution.KEEP, *information_flow.KEEP, *head_ablation.KEEP}))
TOP_TOKENS = 5  # tokens for one depth, and tokens that a feed-forward promotes
MAX_LABELS = 10  # for one depth
MAX_LENS_TOKENS = 32  # tokens of the logit lens in one answer
MAX_MULTIPLICATIONS = 10**10  # multiplications that an answer may take where logits are made for it
EDGE_KINDS = ("residual", "self", "cross", "feed_forward")  # of edges, by the number that stands for them
HEADS_PER_EDGE = 3  # of one edge
MAX_HEADS_OFF = 10  # heads that a search switches off
SEARCH_SECONDS = 0.5  # of a search in one answer, so that people see it go on
NATS_PER_BIT = float(np.log(2))


def handle_logit_lens(body: dict[str, Any]) -> bytes:
    """The logit lens for `count` tokens from `first` on, behind a column for the text where that is what is labelled.

    Numbers: for each depth and column the likeliest answers, their shares, the true token's rank and its surprise.
    """
    resolved = resolve(parse_question(body))
    logit_lens.require_output_head(resolved.model)
    traced = extended_trace(resolved)
    length, first = len(traced.text.ids), integer_or_zero(body.get("first", 0))
    first = min(max(first, 0), length - 1)
    tokens = slice(first, min(first + MAX_LENS_TOKENS, length))
    targets = logit_lens.target_tokens(traced, _target_ids(resolved))
    numbers = np.stack(list(_lens_of_each_depth(resolved.model, traced, targets, tokens)))
    top_k = (numbers.shape[-1] - 2) // 2
    answers = {*map(int, np.unique(numbers[..., :top_k])), *targets[tokens]} - {-1}
    meta = {
        "first": first,
        "count": tokens.stop - first,
        "columns": numbers.shape[1],
        "depths": len(numbers),
        "top_k": top_k,
        "targets": targets[tokens],
        "answer_texts": {answer: answer_text(traced, resolved.tokenizer, answer) for answer in sorted(answers)},
        "predicts_labels": task_of(traced.config).predicts_labels,
        "explanation": lens_explanation(traced.config),
    }
    return pack(meta, numbers.astype("<f4").tobytes())


def _lens_of_each_depth(
    model: Transformer, traced: Trace, targets: Sequence[int], tokens: slice
) -> Iterator[Float[np.ndarray, "column number"]]:
    task = task_of(traced.config)
    count = MAX_LABELS if task.predicts_labels else TOP_TOKENS
    for depth in range(traced.config.num_layers(traced.config.stacks[-1]) + 1):
        of_tokens = _lens_rows(logit_lens.lens_at(model, traced, depth, targets, count, tokens))
        if task.whole_text:
            yield np.vstack((_lens_rows(logit_lens.lens_of_text(model, traced, depth, count)), of_tokens))
        else:
            yield of_tokens


def _lens_rows(found: logit_lens.LensOutput) -> np.ndarray:
    surprise = found.negative_log_likelihood / NATS_PER_BIT
    return np.hstack((found.answers, found.probabilities, found.rank[:, None], surprise[:, None]))


def lens_explanation(config: Config) -> str:
    """What the lens applies to each layer, and what its columns say, in the page's words."""
    task, placement = task_of(config), NORM_PLACEMENTS[config.norm_placement]
    norm = "the final norm and " if config.final_norm and not placement.output_is_normed else ""
    if task.predicts_tokens:
        return (
            f"What the model would predict if it stopped after each layer: {norm}the language-model head, applied "
            "early. #1 is the rank of the true token."
        )
    early = f"would give if it stopped after each layer: {norm}the label head, applied early."
    if not task.whole_text:
        return f"The label that the model {early}"
    transform = config.output_head_config.transform or "none"
    dense = f", through a dense layer ({config.output_head_config.activation})" if transform != "none" else ""
    whole = "image" if config.predicts_from_image else "text"
    return (
        f"The label that the model {early} The head reads the {POOLINGS[config.pooling].title.lower()}{dense}: that is "
        f"the column “whole {whole}”. Under a single token stands what the head would say if it read that token alone."
    )


def handle_residual_norms(body: dict[str, Any]) -> bytes:
    """The norm of the residual stream, [depth token]."""
    traced = extended_trace(resolve(parse_question(body)))
    norms = logit_lens.residual_norms(traced)
    return pack({"depths": norms.shape[0], "tokens": norms.shape[1]}, norms.astype("<f4").tobytes())


def handle_negative_log_likelihood(body: dict[str, Any]) -> bytes:
    """How surprising each true token was to the whole model (bits, NaN where none is known), from `first` on.

    The answer has the tokens that take a moment to compute; the next request asks from `first` + `count` on. `shifted`
    says that the true token of a position is the one after it.
    """
    resolved = resolve(parse_question(body))
    model, traced = resolved.model, extended_trace(resolved)
    require_token_task(model.config)
    length, first = len(traced.text.ids), max(integer_or_zero(body.get("first", 0)), 0)
    max_tokens = (
        length
        if traced.logits is not None
        else max(1, MAX_MULTIPLICATIONS // (model.config.vocabulary_size * model.config.d_model))
    )
    tokens = slice(min(first, length - 1), min(first + max_tokens, length))
    last = traced.config.num_layers(traced.config.stacks[-1])
    targets = logit_lens.target_tokens(traced, _target_ids(resolved))
    losses = logit_lens.lens_at(model, traced, last, targets, 1, tokens).negative_log_likelihood
    meta = {
        "first": tokens.start,
        "count": len(losses),
        "shifted": not task_of(traced.config).fills_masks,
    }
    return pack(meta, (losses / NATS_PER_BIT).astype("<f4").tobytes())


def handle_logit_attribution(body: dict[str, Any]) -> bytes:
    """What each part adds to the logit of a token at a position, and what each feed-forward promotes there."""
    resolved = resolve(parse_question(body))
    model, traced, tokenizer = resolved.model, extended_trace(resolved), resolved.tokenizer
    attribution = logit_attribution.attribute_logits(model, traced, _query_position(body, traced))
    position, token, logits_here = target_answer(body, resolved)
    logits = attribution.logits(np.array([token]))[:, 0]
    layers = [component.layer for component in attribution.components if component.kind == "feed_forward"]
    promoted = attribution.vocabulary_logits("feed_forward")
    meta = {
        "position": position,
        "token": token,
        "text": answer_text(traced, tokenizer, token),
        "logit": float(logits_here[token]),
        "components": [asdict(component) for component in attribution.components],
        "assumptions": attribution_assumptions(traced.config),
        "promoted": [
            {
                "layer": layer,
                "promoted": extreme_logits(row, 1, traced, tokenizer),
                "suppressed": extreme_logits(row, -1, traced, tokenizer),
            }
            for layer, row in zip(layers, promoted, strict=True)
        ],
    }
    return pack(meta, logits.astype("<f4").tobytes())


def handle_information_flow(body: dict[str, Any]) -> bytes:
    """The edges of the flow graph to one token: layer, kind, target, source, share, and its largest heads' shares."""
    resolved = resolve(parse_question(body))
    model, traced = resolved.model, extended_trace(resolved)
    threshold = body.get("threshold", information_flow.DEFAULT_THRESHOLD)
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)):
        raise TextError("The threshold must be a number above 0 and at most 1.")
    position = _query_position(body, traced)
    edges = information_flow.information_flow(model, traced, position, float(threshold))
    rows = np.full((len(edges), 5 + 2 * HEADS_PER_EDGE), -1, dtype="<f4")
    for row, edge in zip(rows, edges, strict=True):
        row[:5] = edge.layer, EDGE_KINDS.index(edge.kind), edge.target, edge.source, edge.importance
        heads = [number for head in edge.heads[:HEADS_PER_EDGE] for number in head]
        row[5 : 5 + len(heads)] = heads
    meta = {"position": position, "edges": len(edges), "columns": rows.shape[1], "edge_kinds": EDGE_KINDS,
            "layers": traced.config.num_layers(traced.config.stacks[-1]), "threshold": threshold}  # fmt: skip
    return pack(meta, rows.tobytes())


def handle_head_ablation(body: dict[str, Any]) -> bytes:
    """By how much the log-probability (bits) of an answer changes without head `first` of an attention, and the next.

    The answer has the heads that one batch holds; the next request asks from `first` + `count` on.
    """
    resolved = resolve(parse_question(body))
    model, traced, tokenizer = resolved.model, extended_trace(resolved), resolved.tokenizer
    head_ablation.require_prediction(model)
    attention, first = str(body.get("attention", "")), integer_or_zero(body.get("first", 0))
    heads = attention_at(model, attention)[0].heads
    position, token, logits = target_answer(body, resolved)
    count = min(head_ablation.heads_per_batch(traced), heads - first)
    found = head_ablation.ablate_heads(model, traced, attention, position, token, first, count)
    before = float(logits[token] - np.logaddexp.reduce(logits)) / NATS_PER_BIT
    meta = {"first": first, "count": count, "heads": heads, "position": position, "token": token, "before": before,
            "text": answer_text(traced, tokenizer, token)}  # fmt: skip
    return pack(meta, (found / NATS_PER_BIT - before).astype("<f4").tobytes())


@dataclass(frozen=True)
class SearchRequest:
    """How far the search has come, as the last answer has said."""

    search: HeadSearch = field(default_factory=HeadSearch)


def handle_head_search(body: dict[str, Any]) -> bytes:
    """Heads without which the likeliest answer at `query` is another one: a search goes on for SEARCH_SECONDS.

    The answer holds how far it has come, and the next request hands that back until it is done.
    """
    resolved = resolve(parse_question(body))
    model, search = resolved.model, parse_request(SearchRequest, body, "search").search
    head_ablation.require_prediction(model)
    position, token, _ = target_answer(body | {"token": -1}, resolved)
    until = monotonic() + SEARCH_SECONDS
    while not search.is_done(MAX_HEADS_OFF):
        check_cancelled()
        edited = resolved.with_input(edits=(*resolved.question.edits, *search.edits))
        search = head_ablation.advance_search(model, edited.trace_of(*head_ablation.KEEP), search, position, token)
        if monotonic() > until:
            break
    likeliest = search.leads[-1].likeliest if search.leads else token
    answers = {name: answer_text(resolved.trace, resolved.tokenizer, answer)
               for name, answer in (("text", token), ("likeliest", likeliest))}  # fmt: skip
    meta = {"position": position, "heads": len(head_ablation.all_heads(model)), "most": MAX_HEADS_OFF,
            "done": search.is_done(MAX_HEADS_OFF), "changed": search.is_changed}  # fmt: skip
    return pack(meta | answers | {"search": asdict(search)})


def attribution_assumptions(config: Config) -> list[str]:
    """What must be held still for parts to add up, in the page's words."""
    sentences = []
    if (
        config.final_norm
        or NORM_PLACEMENTS[config.norm_placement].output_is_normed
        or NORM_PLACEMENTS[config.norm_placement].norm_after
    ):
        sentences.append("Norms are held: each part is divided by the length that the whole stream has in this text.")
    if task_of(config).fills_masks or (config.output_head_config.transform or "none") != "none":
        sentences.append(
            "The answer's own layer bends what it reads; each of its channels keeps the slope it has here."
        )
    if config.output_head_config.logit_soft_cap:
        sentences.append("The logits are capped; each part shrinks as the whole does.")
    if config.has_cross_attention:
        sentences.append("What the encoder did is inside the cross-attention heads that fetched it.")
    return sentences


def extended_trace(resolved: ResolvedQuestion) -> Trace:
    """A trace that holds what every question keeps and what this tab needs."""
    return replace(resolved.trace, values={**resolved.trace_of(*KEEP_PATTERNS).values, **resolved.trace.values})


def _target_ids(resolved: ResolvedQuestion) -> tuple[int, ...]:
    """The tokens as they were typed, whatever a click masked; -1 where a mask was typed, and at special tokens."""
    if not task_of(resolved.config).fills_masks:
        return resolved.trace.text.ids
    unmasked = encode_input(resolved.model, resolved.tokenizer, resolved.question.text)
    known = zip(unmasked.ids, unmasked.special_mask, strict=True)
    return tuple(-1 if special or token == resolved.tokenizer.mask_id else token for token, special in known)


def _query_position(body: dict[str, Any], traced: Trace) -> int:
    position, length = integer_or_zero(body.get("query", -1)), len(traced.text.ids)
    return position if 0 <= position < length else length - 1


def target_answer(body: dict[str, Any], resolved: ResolvedQuestion) -> tuple[int, int, np.ndarray]:
    """The position, the token (or label) whose logit is meant, and all logits there; token -1 is the likeliest."""
    position, token = _query_position(body, resolved.trace), integer_or_zero(body.get("token", -1))
    logits = resolved.logits(position)
    if token >= len(logits):
        raise TextError(f"There is no answer {token}; this model chooses among {len(logits):,}.")
    return position, token if token >= 0 else int(logits.argmax()), logits.astype(np.float64)


def answer_text(traced: Trace, tokenizer: Tokenizer, token: int) -> str:
    """A token as text, or a label by its name."""
    return label_text(traced.config, token) if task_of(traced.config).predicts_labels else tokenizer.token_text(token)


def extreme_logits(row: np.ndarray, sign: int, traced: Trace, tokenizer: Tokenizer) -> list[dict[str, Any]]:
    """The largest numbers of a row (the smallest where `sign` is -1), with the tokens they belong to."""
    signed, count = -sign * row, min(TOP_TOKENS, len(row))
    extreme = np.argpartition(signed, count - 1)[:count]
    ranked = extreme[np.argsort(signed[extreme], kind="stable")]
    return [{"text": answer_text(traced, tokenizer, int(token)), "logit": float(row[token])} for token in ranked]
