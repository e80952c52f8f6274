"""Answers for Layers: logit lens, residual norms, logit attribution and information flow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from math import isfinite

import numpy as np

from headlight.analysis import ablation as head_ablation
from headlight.analysis import attribution as logit_attribution
from headlight.analysis import information_flow, residual_stream
from headlight.analysis.lenses import logit_lens
from headlight.analysis.lenses.tuned_lens import LensLosses, TunedLens, loss_unit
from headlight.array_types import Float
from headlight.config import Config
from headlight.errors import TextError
from headlight.nn.output_heads import pooling_title
from headlight.nn.stack import NORM_PLACEMENTS
from headlight.nn.transformer import Transformer
from headlight.problem_types import problem_type_name, problem_type_of
from headlight.tasks import label_text, require_token_task, task_of
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.inputs import encode_input
from headlight.tracing.trace import Trace
from headlight.views.words import digits, percent, quoted, signed
from headlight_app.contract.reply import Reply
from headlight_app.explore.contract import (
    ComponentAnswer,
    InformationFlowAnswer,
    InformationFlowRequest,
    LensLossesAnswer,
    LogitAttributionAnswer,
    LogitAttributionRequest,
    LogitLensAnswer,
    LogitLensRequest,
    NegativeLogLikelihoodAnswer,
    NegativeLogLikelihoodRequest,
    ResidualNormsAnswer,
    ResidualNormsRequest,
)
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve

# All values the tab needs beyond those every question keeps: one forward pass for all of its plots.
KEEP_PATTERNS = tuple(sorted({*logit_lens.KEEP, *residual_stream.KEEP, *information_flow.KEEP, *head_ablation.KEEP}))
TOP_TOKENS = 5  # answers per depth, and tokens that a feed-forward promotes
MAX_LABELS = 10  # labels per depth
MAX_LENS_TOKENS = 32  # tokens of the logit lens in one answer
MAX_MULTIPLICATIONS = 10**10  # multiplications for the logits of one answer
# An edge's kind is sent as its index here.
EDGE_KINDS = ("residual", "self", "cross", "feed_forward", "layer_embedding")
HEADS_PER_EDGE = 3  # sent for each edge
NATS_PER_BIT = float(np.log(2))
TUNED_LENS_EXPLANATION = (
    "Tuned: an affine map per layer, fitted so that the readout comes as close as possible to the model's own answer. "
)


def answer_logit_lens(request: LogitLensRequest) -> Reply[LogitLensAnswer]:
    """The logit lens for `count` tokens from `first` on; if the whole text is labelled, its column comes first.

    Numbers for each depth and column: the likeliest answers, their shares, the true token's rank and surprisal.
    """
    resolved = resolve(request.question)
    logit_lens.require_output_head(resolved.model)
    traced = extended_trace(resolved)
    length = len(traced.text.ids)
    first = min(request.first, length - 1)
    tokens = slice(first, min(first + MAX_LENS_TOKENS, length))
    targets = logit_lens.target_tokens(traced, _target_ids(resolved))
    lens = resolved.tuned_lens
    shown = lens if request.tuned else None
    numbers = np.stack(list(_lens_of_each_depth(resolved.model, traced, targets, tokens, shown)))
    top_k = (numbers.shape[-1] - 2) // 2
    answers = {*map(int, np.unique(numbers[..., :top_k])), *targets[tokens]} - {-1}
    answer = LogitLensAnswer(
        first=first,
        count=tokens.stop - first,
        columns=numbers.shape[1],
        depths=len(numbers),
        top_k=top_k,
        targets=tuple(targets[tokens]),
        answer_texts={answer: answer_text(traced, resolved.tokenizer, answer) for answer in sorted(answers)},
        predicts_labels=task_of(traced.config).predicts_labels,
        explanation=(TUNED_LENS_EXPLANATION if shown else "") + lens_explanation(traced.config),
        losses=_lens_losses(lens.losses, loss_unit(traced.config)) if lens and lens.losses else None,
        problem_type=problem_type_name(traced.config),
    )
    return Reply(answer, numbers.astype("<f4").tobytes())


def _lens_losses(losses: LensLosses, unit: str) -> LensLossesAnswer:
    return LensLossesAnswer(
        measured_on=losses.texts,
        unit=unit,
        bits_per_byte=losses.bits_per_byte,
        logit_lens=losses.logit_lens,
        tuned_lens=losses.tuned_lens,
    )


def _lens_of_each_depth(
    model: Transformer, traced: Trace, targets: Sequence[int], tokens: slice, lens: TunedLens | None
) -> Iterator[Float[np.ndarray, "column number"]]:
    task = task_of(traced.config)
    count = MAX_LABELS if task.predicts_labels else TOP_TOKENS
    for depth in range(traced.config.num_layers(traced.config.stacks[-1]) + 1):
        of_tokens = _lens_rows(logit_lens.lens_at(model, traced, depth, targets, count, tokens, lens))
        if task.whole_text:
            yield np.vstack((_lens_rows(logit_lens.lens_of_text(model, traced, depth, count)), of_tokens))
        else:
            yield of_tokens


def _lens_rows(found: logit_lens.LensOutput) -> np.ndarray:
    surprisal = found.negative_log_likelihood / NATS_PER_BIT
    return np.hstack((found.answers, found.probabilities, found.rank[:, None], surprisal[:, None]))


def lens_explanation(config: Config) -> str:
    """The explanation on the page: the map that the lens applies to each layer, and the titles of its columns."""
    task, placement = task_of(config), NORM_PLACEMENTS[config.norm_placement]
    norm = "the final norm and " if config.final_norm and not placement.output_is_normed else ""
    norm = f"the streams are merged into one; then {norm}" if config.has_several_streams else norm
    if task.predicts_tokens:
        return (
            f"What the model would predict if it stopped after each layer: {norm}the language-model head, applied "
            "early. #1: the model's first guess was right."
        )
    early = f"would give if it stopped after each layer: {norm}the label head, applied early."
    if not task.whole_text:
        return f"The label that the model {early}"
    transform = config.output_head_config.transform or "none"
    dense = f", through a dense layer ({config.output_head_config.activation})" if "dense" in transform else ""
    dense += ", through a norm" * (transform == "norm")
    whole = config.modalities[0]
    return (
        f"The label that the model {early} The head reads the {pooling_title(config).lower()}{dense}: that is "
        f"the column “whole {whole}”. A token's column shows what the head would answer if it read that token alone."
    )


def answer_residual_norms(request: ResidualNormsRequest) -> Reply[ResidualNormsAnswer]:
    """The norm of the residual stream, [depth token]."""
    norms = logit_lens.residual_norms(extended_trace(resolve(request.question)))
    return Reply(ResidualNormsAnswer(depths=norms.shape[0], tokens=norms.shape[1]), norms.astype("<f4").tobytes())


def answer_negative_log_likelihood(request: NegativeLogLikelihoodRequest) -> Reply[NegativeLogLikelihoodAnswer]:
    """The surprisal of each true token for the whole model (bits, NaN if unknown), from `first` on.

    The answer has as many tokens as can be computed quickly; the next request starts at `first` + `count`. `shifted`
    says that the true token of a position is the next one.
    """
    resolved = resolve(request.question)
    model, traced = resolved.model, extended_trace(resolved)
    require_token_task(model.config)
    length, first = len(traced.text.ids), request.first
    max_tokens = (
        length
        if traced.logits is not None
        else max(1, MAX_MULTIPLICATIONS // (model.config.vocabulary_size * model.config.d_model))
    )
    tokens = slice(min(first, length - 1), min(first + max_tokens, length))
    last = traced.config.num_layers(traced.config.stacks[-1])
    targets = logit_lens.target_tokens(traced, _target_ids(resolved))
    losses = logit_lens.lens_at(model, traced, last, targets, 1, tokens).negative_log_likelihood
    shifted = not task_of(traced.config).fills_masks
    answer = NegativeLogLikelihoodAnswer(first=tokens.start, count=len(losses), shifted=shifted)
    return Reply(answer, (losses / NATS_PER_BIT).astype("<f4").tobytes())


def answer_logit_attribution(request: LogitAttributionRequest) -> Reply[LogitAttributionAnswer]:
    """The contribution of each part to the logit of a token."""
    resolved = resolve(request.question)
    position, token, logits = target_answer(resolved, request.query, request.token)
    attribution = logit_attribution.attribute_logits(resolved.model, extended_trace(resolved), position)
    added = attribution.logits(np.array([token]))[:, 0]
    answer = LogitAttributionAnswer(
        position=position,
        token=token,
        text=answer_text(resolved.trace, resolved.tokenizer, token),
        logit=float(logits[token]),
        components=tuple(ComponentAnswer(**asdict(component)) for component in attribution.components),
    )
    return Reply(answer, added.astype("<f4").tobytes())


def answer_information_flow(request: InformationFlowRequest) -> Reply[InformationFlowAnswer]:
    """The edges of the flow graph to one token: layer, kind, target, source, share, and its largest heads' shares."""
    resolved = resolve(request.question)
    model, traced = resolved.model, extended_trace(resolved)
    position = _position(request.query, traced)
    edges = information_flow.information_flow(model, traced, position, request.threshold)
    rows = np.full((len(edges), 5 + 2 * HEADS_PER_EDGE), -1, dtype="<f4")
    for row, edge in zip(rows, edges, strict=True):
        row[:5] = edge.layer, EDGE_KINDS.index(edge.kind), edge.target, edge.source, edge.importance
        heads = [number for head in edge.heads[:HEADS_PER_EDGE] for number in head]
        row[5 : 5 + len(heads)] = heads
    answer = InformationFlowAnswer(
        position=position,
        edges=len(edges),
        columns=rows.shape[1],
        edge_kinds=EDGE_KINDS,
        layers=traced.config.num_layers(traced.config.stacks[-1]),
        threshold=request.threshold,
    )
    return Reply(answer, rows.tobytes())


def extended_trace(resolved: ResolvedQuestion) -> Trace:
    """A trace with the values that every question keeps and those that this tab needs."""
    return replace(resolved.trace, values={**resolved.trace_of(*KEEP_PATTERNS).values, **resolved.trace.values})


def _target_ids(resolved: ResolvedQuestion) -> tuple[int, ...]:
    """The tokens as typed, without masking by click; -1 at typed masks and special tokens."""
    if not task_of(resolved.config).fills_masks:
        return resolved.trace.text.ids
    unmasked = encode_input(resolved.model, resolved.tokenizer, resolved.model_input)
    known = zip(unmasked.ids, unmasked.special_mask, strict=True)
    return tuple(-1 if special or token == resolved.tokenizer.mask_id else token for token, special in known)


def _position(query: int, traced: Trace) -> int:
    length = len(traced.text.ids)
    return query if 0 <= query < length else length - 1


def target_answer(resolved: ResolvedQuestion, query: int, token: int = -1) -> tuple[int, int, np.ndarray]:
    """The position, the requested token (or label), and all logits there; token -1 is the likeliest."""
    position = _position(query, resolved.trace)
    logits = resolved.logits(position)
    if token >= len(logits):
        raise TextError(f"There is no answer {token}; this model chooses among {len(logits):,}.")
    return position, token if token >= 0 else int(logits.argmax()), logits.astype(np.float64)


def answer_text(traced: Trace, tokenizer: Tokenizer, token: int) -> str:
    """The text of a token, or the name of a label."""
    return label_text(traced.config, token) if task_of(traced.config).predicts_labels else tokenizer.token_text(token)


def answer_number(config: Config, number: float) -> str:
    """The probability of an answer as a percentage, or its score."""
    if problem_type_of(config).is_probability:
        return percent(number)
    return digits(number, max(4, len(str(int(abs(number))))) if isfinite(number) else 4)


def promoted_words(row: np.ndarray, sign: int, resolved: ResolvedQuestion) -> str:
    """The answers with the largest numbers of a row (the smallest if `sign` is -1), and these numbers."""
    signed_row, count = -sign * row, min(TOP_TOKENS, len(row))
    extreme = np.argpartition(signed_row, count - 1)[:count]
    ranked = extreme[np.argsort(signed_row[extreme], kind="stable")]
    texts = ((answer_text(resolved.trace, resolved.tokenizer, int(token)), float(row[token])) for token in ranked)
    return ", ".join(f"{quoted(text)} {signed(number)}" for text, number in texts)
