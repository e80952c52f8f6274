"""What the room "Layers" asks: the logit lens, contributions to an answer, the flow graph, and heads taken away."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from app.packing import pack
from app.services.traces import loaded, said, trace, wired
from app.state.request import question_of, whole
from app.state.state import Question
from model.analysis import head_ablation, information_flow, logit_attribution, logit_lens
from model.config import Config
from model.errors import TextError
from model.nn.block import PLACEMENTS
from model.nn.transformer import Transformer, attention_at
from model.text.tokenizer import Tokenizer
from model.tracing.run import encode
from model.tracing.trace import Trace

# All that the room needs besides what every question keeps: one forward for all of its pictures.
KEEP = tuple(sorted({*logit_lens.KEEP, *logit_attribution.KEEP, *information_flow.KEEP, *head_ablation.KEEP}))
SHOWN = 5  # tokens for one depth, and tokens that a feed-forward promotes
AT_ONCE = 32  # tokens of the logit lens in one answer
MOMENT = 10**10  # multiplications that an answer may take where logits are made for it
KINDS = ("stream", "self", "cross", "feedforward")  # of edges, by the number that stands for them
HEADS = 3  # of one edge


def depths_work(body: dict[str, Any]) -> bytes:
    """The logit lens for `count` tokens from `first` on.

    Numbers: for each depth and token the likeliest tokens, their shares, the true token's rank and its surprise.
    """
    question = question_of(body)
    model, traced, tokenizer = _seen(question)
    first = min(max(whole(body.get("first", 0)), 0), len(traced.text.ids) - 1)
    logit_lens.check(model)
    tokens = slice(first, min(first + AT_ONCE, len(traced.text.ids)))
    truth = logit_lens.truth(traced, _typed(question, traced, tokenizer))
    count = traced.config.depth(traced.config.stacks[-1]) + 1
    read = [logit_lens.reading(model, traced, depth, truth, SHOWN, tokens) for depth in range(count)]
    rows = [np.hstack((each.tokens, each.shares, each.rank[:, None], each.surprise[:, None])) for each in read]
    named = sorted({int(token) for each in read for token in each.tokens.ravel()} | {*truth[tokens]} - {-1})
    meta = {
        "first": first,
        "count": tokens.stop - first,
        "depths": count,
        "shown": read[0].tokens.shape[1],
        "truth": truth[tokens],
        "pieces": {token: tokenizer.piece(token) for token in named},
    }
    return pack(meta, np.stack(rows).astype("<f4").tobytes())


def stream_work(body: dict[str, Any]) -> bytes:
    """How long the residual stream is, [depth token]."""
    _, traced, _ = _seen(question_of(body))
    lengths = logit_lens.lengths(traced)
    return pack({"depths": lengths.shape[0], "tokens": lengths.shape[1]}, lengths.astype("<f4").tobytes())


def surprise_work(body: dict[str, Any]) -> bytes:
    """How surprising each true token was to the whole model (nats, NaN where none is known), from `first` on.

    As many tokens as are read in a moment; who wants more asks again from `first` + `count` on. `ahead` says that the
    true token of a place is the one that comes after it.
    """
    question = question_of(body)
    model, traced, tokenizer = _seen(question)
    logit_lens.check(model)
    length, first = len(traced.text.ids), max(whole(body.get("first", 0)), 0)
    many = length if traced.logits is not None else max(1, MOMENT // (model.config.vocabulary * model.config.width))
    tokens = slice(min(first, length - 1), min(first + many, length))
    last = traced.config.depth(traced.config.stacks[-1])
    truth = logit_lens.truth(traced, _typed(question, traced, tokenizer))
    found = logit_lens.reading(model, traced, last, truth, 1, tokens).surprise
    meta = {"first": tokens.start, "count": len(found), "ahead": traced.config.top != "masked-language"}
    return pack(meta, found.astype("<f4").tobytes())


def contributions_work(body: dict[str, Any]) -> bytes:
    """What each part adds to the logit of a token at a position, and what each feed-forward promotes there."""
    question = question_of(body)
    model, traced, tokenizer = _seen(question)
    found = logit_attribution.ledger(model, traced, _position(body, traced))
    position, token, answers = _asked(body, question)
    logits = found.logits(np.array([token]))[:, 0]
    layers = [part.layer for part in found.parts if part.kind == "feedforward"]
    promoted = found.vocabulary("feedforward")
    meta = {
        "position": position,
        "token": token,
        "piece": _piece(traced, tokenizer, token),
        "logit": float(answers[token]),
        "parts": [asdict(part) for part in found.parts],
        "conventions": conventions(traced.config),
        "promoted": [
            {"layer": layer, "up": _extremes(row, 1, traced, tokenizer), "down": _extremes(row, -1, traced, tokenizer)}
            for layer, row in zip(layers, promoted, strict=True)
        ],
    }
    return pack(meta, logits.astype("<f4").tobytes())


def flow_work(body: dict[str, Any]) -> bytes:
    """The edges of the flow graph to one token: layer, kind, target, source, share, and its largest heads' shares."""
    question = question_of(body)
    model, traced, _ = _seen(question)
    threshold = body.get("threshold", information_flow.THRESHOLD)
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)):
        raise TextError("The threshold must be a number above 0 and at most 1.")
    position = _position(body, traced)
    edges = information_flow.flow(model, traced, position, float(threshold))
    rows = np.full((len(edges), 5 + 2 * HEADS), -1, dtype="<f4")
    for row, edge in zip(rows, edges, strict=True):
        row[:5] = edge.layer, KINDS.index(edge.kind), edge.target, edge.source, edge.share
        heads = [number for head in edge.heads[:HEADS] for number in head]
        row[5 : 5 + len(heads)] = heads
    meta = {"position": position, "edges": len(edges), "columns": rows.shape[1], "kinds": KINDS,
            "layers": traced.config.depth(traced.config.stacks[-1]), "threshold": threshold}  # fmt: skip
    return pack(meta, rows.tobytes())


def ablation_work(body: dict[str, Any]) -> bytes:
    """By how much the log-probability (nats) of an answer changes without head `first` of an attention, and the next.

    As many heads as one batch holds; who wants more asks again from `first` + `count` on.
    """
    question = question_of(body)
    model, traced, tokenizer = _seen(question)
    head_ablation.check(model)
    attention, first = str(body.get("attention", "")), whole(body.get("first", 0))
    heads = attention_at(model, attention)[0].heads
    position, token, answers = _asked(body, question)
    count = min(head_ablation.at_once(traced), heads - first)
    found = head_ablation.without_heads(model, traced, attention, position, token, first, count)
    before = float(answers[token] - np.logaddexp.reduce(answers))
    meta = {"first": first, "count": count, "heads": heads, "position": position, "token": token, "before": before,
            "piece": _piece(traced, tokenizer, token)}  # fmt: skip
    return pack(meta, (found - before).astype("<f4").tobytes())


def conventions(config: Config) -> list[str]:
    """What must be held still for parts to add up, in the page's words."""
    told = []
    if config.final_norm or PLACEMENTS[config.placement].ends_normed or PLACEMENTS[config.placement].after:
        told.append("Norms are held: each part is divided by the length that the whole stream has in this text.")
    if config.top == "masked-language" or (config.answer.transform or "none") != "none":
        told.append("The answer's own layer bends what it reads; each of its channels keeps the slope it has here.")
    if config.answer.cap:
        told.append("The logits are capped; each part shrinks as the whole does.")
    if config.has_cross:
        told.append("What the encoder did is inside the cross-attention heads that fetched it.")
    return told


def _seen(question: Question) -> tuple[Transformer, Trace, Tokenizer]:
    """The model, its tokenizer, and a trace that holds what every question keeps and what this room needs."""
    kept, more = trace(question), trace(question, KEEP)
    whole_trace = replace(kept, values={**more.values, **kept.values})
    return wired(question), whole_trace, loaded(question.model, question.device).tokenizer


def _typed(question: Question, traced: Trace, tokenizer: Tokenizer) -> tuple[int, ...]:
    """The tokens as they were typed, whatever a click masked; -1 where a mask was typed, and at special tokens."""
    if traced.config.top != "masked-language":
        return traced.text.ids
    typed = encode(wired(question), tokenizer, question.text)
    known = zip(typed.ids, typed.special, strict=True)
    return tuple(-1 if special or token == tokenizer.mask_id else token for token, special in known)


def _position(body: dict[str, Any], traced: Trace) -> int:
    position, length = whole(body.get("query", -1)), len(traced.text.ids)
    return position if 0 <= position < length else length - 1


def _asked(body: dict[str, Any], question: Question) -> tuple[int, int, np.ndarray]:
    """The position, the token (or label) whose logit is meant, and all logits there; token -1 is the likeliest."""
    traced = trace(question)
    position, token = _position(body, traced), whole(body.get("token", -1))
    answers = said(question, position)
    if token >= len(answers):
        raise TextError(f"There is no answer {token}; this model chooses among {len(answers):,}.")
    return position, token if token >= 0 else int(answers.argmax()), answers.astype(np.float64)


def _piece(traced: Trace, tokenizer: Tokenizer, token: int) -> str:
    """A token as text, or a label by its name."""
    if traced.config.top in ("sequence-classifier", "token-classifier"):
        labels = traced.config.labels
        return labels[token] if token < len(labels) else f"label {token}"
    return tokenizer.piece(token)


def _extremes(row: np.ndarray, sign: int, traced: Trace, tokenizer: Tokenizer) -> list[dict[str, Any]]:
    """The largest numbers of a row (the smallest where `sign` is -1), with the tokens they belong to."""
    signed, count = -sign * row, min(SHOWN, len(row))
    best = np.argpartition(signed, count - 1)[:count]
    ranked = best[np.argsort(signed[best], kind="stable")]
    return [{"piece": _piece(traced, tokenizer, int(token)), "logit": float(row[token])} for token in ranked]
