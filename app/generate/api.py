"""The Generate page's question: what comes next, how it is drawn, and what the model looked at for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np

from app.packing import pack
from app.services.attention_payload import rewiring
from app.services.prefix_cache import pasts
from app.services.traces import loaded, wired
from app.state.request import question_of
from app.state.state import Question
from app.state.url import Written
from model.attention_groups import grids
from model.errors import TextError
from model.generation.fill_mask import fill, gaps
from model.generation.generate import Past, Step, Writer
from model.generation.sampling import Draw, Rule
from model.nn.transformer import Transformer
from model.text.tokenizer import Encoded, Tokenizer

SHOWN = 12  # candidates
LARGEST = 1e300  # of a temperature


@dataclass(frozen=True)
class Answered:
    """One step with what it remembered, and how many tokens it read anew."""

    step: Step
    past: Past | None
    read: int


def generate_work(body: dict[str, Any]) -> bytes:
    """The step after those in `written`: candidates and the dice, and the attention of the asking token as float32.

    The numbers are [layer head key] for each kind of attention, one after the other. Nothing is kept for the visitor:
    who sends the same steps gets the same answer. Where all masks are filled there is only the text.
    """
    question, rule, written = question_of(body), rule_of(body.get("rule")), _written_of(body.get("written", []))
    model, tokenizer = wired(question), loaded(question.model, question.device).tokenizer
    begun, wants_tokens = perf_counter(), body.get("tokens") is True
    if model.config.top == "masked-language":
        text, left = gaps(model, tokenizer, question.text, question.masked, dict(written))
        if not left:
            return pack({"done": True, "tokens": _tokens(text, None)})
        answered = _filled(question, model, tokenizer, rule, written)
        row = answered.step["logits"][answered.step.place]
    else:
        answered = _continued(question, model, tokenizer, rule, written, body.get("remember") is not False)
        row = answered.step["logits"][-1]
    step = answered.step
    shapes, numbers = _attention(step)
    meta = {
        "place": step.place,
        "chosen": step.chosen,
        **_candidates(row, rule.throw(row, len(written)), tokenizer),
        "grids": shapes,
        "cache": _cache(answered, model),
        "read": answered.read,
        "length": len(step.text.ids),
        "context": step.config.context,
        "end": tokenizer.end_id if model.config.top == "language" else None,
        "notes": _notes(question, model, written),
        "tokens": _tokens(step.text, step.source) if wants_tokens else None,
        "milliseconds": (perf_counter() - begun) * 1_000,
    }
    return pack(meta, numbers)


def _continued(
    question: Question, model: Transformer, tokenizer: Tokenizer, rule: Rule, written: Written, remember: bool
) -> Answered:
    """The next token of a text; with `remember` only what was not read before is read."""
    keep = (f"{model.config.stacks[-1]}.*.weights", "logits")
    source = question.source if model.config.has_cross else None
    if question.masked:
        raise TextError("A model that continues texts has no mask token. Show the masked tokens again.")
    writer = Writer.begin(
        model, tokenizer, question.text, question.edits, source=source, rule=rule, keep=keep, asking=True
    )
    tokens = tuple(token for _, token in written)
    past = pasts().longest(writer, (*writer.text.ids, *tokens)) if remember else None
    step, after = writer.step(tokens, past)
    if remember:
        pasts().hold(writer, after)
    return Answered(step, after, len(step.text.ids) - step.start)


def _filled(question: Question, model: Transformer, tokenizer: Tokenizer, rule: Rule, written: Written) -> Answered:
    """The surest of the masks that are left."""
    masked, keep = question.masked, (f"{model.config.stacks[-1]}.*.weights", "logits")
    filled = dict(written)
    step = fill(
        model,
        tokenizer,
        question.text,
        question.edits,
        masked=masked,
        filled=filled,
        rule=rule,
        keep=keep,
        asking=True,
    )
    return Answered(step, None, len(step.text.ids))


def _candidates(row: np.ndarray, draw: Draw, tokenizer: Tokenizer) -> dict[str, Any]:
    """The likeliest tokens and the chosen one: their shares of the whole vocabulary, and their chances by the rule."""
    powers = np.exp(row.astype(np.float64) - row.max())
    shares = powers / powers.sum()
    order = np.argsort(-shares, kind="stable")
    listed = [int(token) for token in order[:SHOWN]]
    if draw.chosen not in listed:
        listed.append(draw.chosen)
    return {
        "candidates": [
            {
                "id": token,
                "piece": tokenizer.piece(token),
                "before": float(shares[token]),
                "after": float(draw.shares[token]),
            }
            for token in listed
        ],
        "kept": int(np.count_nonzero(draw.shares)),
        "vocabulary": len(shares),
        "rank": int(np.flatnonzero(order == draw.chosen)[0]) + 1,
        "number": draw.number,
        "spread": float(-(shares * np.log2(shares, out=np.zeros_like(shares), where=shares > 0)).sum()),
    }


def _attention(step: Step) -> tuple[list[dict[str, Any]], bytes]:
    """The weights of the row that the step was asked of, for every head that reads the text or the source."""
    shapes, parts, offset = [], [], 0
    for grid in grids(step.config):
        if grid.queries != "text":
            continue
        paths = [f"{grid.stack}.{layer}.{grid.kind}.weights" for layer in range(grid.layers)]
        rows = np.ascontiguousarray(np.stack([step[path][:, 0] for path in paths]), dtype="<f4")
        shapes.append({**asdict(grid), "columns": rows.shape[-1], "offset": offset})
        parts.append(rows.tobytes())
        offset += rows.size
    return shapes, b"".join(parts)


def _cache(answered: Answered, model: Transformer) -> dict[str, Any]:
    """What is kept of the tokens read, layer by layer; or why nothing is."""
    kept = answered.past.kept() if answered.past else ()
    if kept:
        layers = [{**asdict(one), "bytes": one.bytes} for one in kept]
        return {"layers": layers, "heads": model.config.heads, "why": ""}
    if model.config.top == "masked-language":
        why = "Every token sees every other, so a filled word changes the keys and values of all: each step reads all."
    elif "causal" not in model.config.masks:
        why = "Under this mask a token may see later ones, so each new one changes the keys and values of all others."
    else:
        why = "An edit mixes the values of several tokens, so keys and values of earlier ones do not stay as they are."
    return {"layers": [], "heads": model.config.heads, "why": why}


def _notes(question: Question, model: Transformer, written: Written) -> list[str]:
    """What somebody should know before believing the text."""
    told = [" ".join(rewiring(question))]
    if question.edits:
        told.append(f"Changes made on Explore are in force: {', '.join(question.edits)}.")
    if written and any(mask.startswith("custom:") for mask in model.config.masks) and model.config.top == "language":
        told.append("Your mask holds among the tokens of the prompt. A new token sees all before it, unseen by them.")
    return [note for note in told if note]


def _tokens(text: Encoded, source: Encoded | None) -> dict[str, Any]:
    """The pieces that the model read: which of them mark a text's ends, and which have a space before them unsaid."""

    def listed(encoded: Encoded) -> list[dict[str, Any]]:
        rows, last = [], 0
        for piece, mark, (start, end) in zip(encoded.pieces, encoded.special, encoded.spans, strict=True):
            between = encoded.text[last:start] + encoded.text[start:end][:1]
            gap = end > start and any(map(str.isspace, between)) and not piece[:1].isspace()
            rows.append({"piece": piece, "special": mark, "gap": gap})
            last = max(last, end)
        return rows

    return {"text": listed(text), "source": listed(source) if source else None}


def rule_of(given: Any) -> Rule:
    """How to draw, from a request. Raises TextError where a number is none."""
    rule = given if isinstance(given, dict) else {}
    top_k, seed = rule.get("topK", 0), rule.get("seed", 0)
    numbers = [rule.get("temperature", 1.0), rule.get("topP", 1.0)]
    real = all(type(number) in (int, float) and abs(number) < LARGEST for number in numbers)
    if not real or type(top_k) is not int or type(seed) is not int:
        raise TextError("Temperature and top-p are numbers, top-k and seed whole numbers.")
    return Rule(float(numbers[0]), top_k or None, float(numbers[1]), seed)


def _written_of(given: Any) -> Written:
    pairs: list[Any] = given if isinstance(given, list) else [None]
    if not all(isinstance(pair, list) and len(pair) == 2 and all(type(n) is int for n in pair) for pair in pairs):
        raise TextError("The steps taken are pairs of a position and a token's number.")
    return tuple((place, token) for place, token in pairs)
