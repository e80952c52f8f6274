"""Classify: the labels of a text, and what one of them loses without each token and without each head."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np

from headlight.analysis.ablation import ablate_tokens, heads_per_batch, logits_without_heads, require_text_classifier
from headlight.array_types import Float
from headlight.attention_groups import AttentionGroup, attention_groups
from headlight.cancellation import check_cancelled
from headlight.nn.output_heads import POOLINGS
from headlight.nn.transformer import attention_at
from headlight.problem_types import problem_type_of
from headlight.tasks import label_text
from headlight.views.kinds import BarsView, ChoiceView, MatrixView, NumberTable, TokensView, View
from headlight.views.rows import row
from headlight.views.words import digits, in_line, numbered, quoted, quoted_in_line, signed
from headlight_app.contract.parts import Prediction
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Views
from headlight_app.explore.answers.layer_analysis import answer_number, extended_trace, target_answer
from headlight_app.inference.attention_payload import predictions
from headlight_app.inference.resolved_question import ResolvedQuestion

LEAST_OF_TOKENS, LEAST_OF_HEADS = 1.0, 0.5  # log odds with the deepest colour, unless a change is larger
NOTE = "Orange: the label loses without it. Blue: the label gains."


@dataclass(frozen=True)
class Effects:
    """The log odds (or the score) of a label: of the whole text, without each token, and without each head."""

    label: int
    all: float
    positions: list[int]
    tokens: Float[np.ndarray, " token"]
    heads: Float[np.ndarray, "layer head"]


def label_effects(resolved: ResolvedQuestion, label: int) -> Effects:
    """What a label of the whole text rests on; -1 is the likeliest. Raises ConfigError for other models."""
    model, traced = resolved.model, extended_trace(resolved)
    require_text_classifier(model)
    _, label, logits = target_answer(resolved, -1, label)
    positions = [place for place, is_special in enumerate(traced.text.special_mask) if not is_special]
    group = _self_attention(resolved)
    paths = [group.path(layer) for layer in range(group.layers)] if group else []
    rows = [logits[None], ablate_tokens(model, traced, positions), *(_without_heads(resolved, path) for path in paths)]
    log_odds = problem_type_of(resolved.config).log_odds(np.concatenate(rows))[:, label]
    first = 1 + len(positions)
    heads = log_odds[first:].reshape(len(paths), group.heads if group else 0)
    return Effects(label, float(log_odds[0]), positions, log_odds[1:first], heads)


def _self_attention(resolved: ResolvedQuestion) -> AttentionGroup | None:
    return next(iter(attention_groups(resolved.config)), None)


def _without_heads(resolved: ResolvedQuestion, path: str) -> Float[np.ndarray, "head label"]:
    """The logits of the text's labels without each head of an attention."""
    model, traced = resolved.model, extended_trace(resolved)
    heads, batch = attention_at(model, path)[0].heads, heads_per_batch(traced)
    parts = []
    for first in range(0, heads, batch):
        check_cancelled()
        parts.append(logits_without_heads(model, traced, path, 0, first, min(batch, heads - first)).float().cpu())
    return np.concatenate(parts)


def labels(resolved: ResolvedQuestion, state: State) -> Views:
    """The labels of the text, the one that is explained marked, and the poolings to choose from."""
    require_text_classifier(resolved.model)
    bars = (label_bars(resolved, shown, state.target_token) for shown in predictions(resolved, state.query))
    return *bars, row(_poolings(resolved))


def label_bars(resolved: ResolvedQuestion, shown: Prediction, chosen: int) -> BarsView:
    """A bar for each candidate. The chosen label is marked if it is among them; if none is chosen, the likeliest."""
    is_probability = problem_type_of(resolved.config).is_probability
    names = tuple(in_line(label.text) for label in shown.candidates)
    before, after = (
        np.array(each) for each in zip(*((one.before, one.after) for one in shown.candidates), strict=True)
    )
    both = np.stack([before, after], axis=1)
    ids = [label.id for label in shown.candidates]
    marked = 0 if chosen < 0 else ids.index(chosen) if chosen in ids else None
    return BarsView(
        title="Label of the text",
        labels=names,
        series={"as trained": both[:, 0], "now": both[:, 1]} if resolved.is_changed else {"now": both[:, 1]},
        compared="as trained",
        high=1.0 if is_probability else None,
        digits=2 if is_probability else None,
        as_percent=is_probability,
        picks=tuple({"target_token": label.id} for label in shown.candidates),
        marked=marked,
        note=_meaning(shown),
        tables={
            "Label shares" if is_probability else "Label scores": NumberTable(
                {"label": names, "model": ("as trained", "now")}, both
            )
        },
    )


def _meaning(shown: Prediction) -> str:
    """What the numbers mean, if it is not obvious; the score of a lone label comes first."""
    score = shown.candidates[0].score if len(shown.candidates) == 1 else None
    return shown.lesson if score is None else f"Score {digits(score, 4)}. {shown.lesson}"


def _poolings(resolved: ResolvedQuestion) -> ChoiceView:
    """Any pooling other than the trained one breaks what the output head has learned."""
    trained = resolved.as_trained.config.pooling
    return ChoiceView(
        "Pooling",
        tuple(f"{one.title} · as trained" if name == trained else one.title for name, one in POOLINGS.items()),
        tuple({"variant.pooling": "" if name == trained else name} for name in POOLINGS),
        form="select",
    )


def effects(resolved: ResolvedQuestion, state: State) -> Views:
    """What the chosen label loses without each token and without each head."""
    found = label_effects(resolved, state.target_token)
    label = label_text(resolved.config, found.label)
    falls = "log odds fall" if problem_type_of(resolved.config).is_probability else "score falls"
    words = f"By how much its {falls} without each. {NOTE}"
    views = (
        *([_of_tokens(resolved, found)] if found.positions else []),
        *([_of_heads(resolved, found)] if found.heads.size else []),
    )
    return (row(*views, title=f"What {quoted_in_line(label)} rests on", text=words),)


def _of_tokens(resolved: ResolvedQuestion, found: Effects) -> View:
    lost = found.all - found.tokens
    tokens = resolved.trace.text.token_texts
    names = numbered(tokens)
    values = np.stack([lost, [_number(resolved, each) for each in found.tokens]], axis=1)
    unit, kind = ("log odds", "share") if problem_type_of(resolved.config).is_probability else ("score", "score")
    axes = {
        "token": tuple(names[place] for place in found.positions),
        "number": (f"{unit} lost without it", f"{kind} without it"),
    }
    return TokensView(
        "Each token",
        tuple(tokens[place] for place in found.positions),
        shades=lost / max(_least(resolved, LEAST_OF_TOKENS), np.abs(lost).max(initial=0.0)),
        below=tuple(_lost_text(resolved, each) for each in lost),
        details=tuple(f"without it {_instead(resolved, found, each)}" for each in found.tokens),
        places=tuple(("text", place) for place in found.positions),
        note="Point at a token or a head.",
        tables={"What each token adds": NumberTable(axes, values)},
    )


def _of_heads(resolved: ResolvedQuestion, found: Effects) -> View:
    group = _self_attention(resolved)
    assert group is not None
    lost = found.all - found.heads
    layers, heads = (range(count) for count in lost.shape)
    axes = {"layer": tuple(map(str, layers)), "head": tuple(map(str, heads))}
    return MatrixView(
        "Each head",
        lost,
        rows=tuple(f"L{layer}" for layer in layers),
        columns=tuple(f"H{head}" for head in heads),
        digits=None,
        least_scale=_least(resolved, LEAST_OF_HEADS),
        titles=tuple(tuple(f"Without layer {layer}, head {head}" for head in heads) for layer in layers),
        details=tuple(tuple(_instead(resolved, found, each) for each in line) for line in found.heads),
        picks=tuple(
            tuple({"attention": group.name, "layer": layer, "head": head} for head in heads) for layer in layers
        ),
        note="A click chooses the head.",
        tables={"What each head adds": NumberTable(axes, lost)},
    )


def _least(resolved: ResolvedQuestion, log_odds: float) -> float:
    return log_odds if problem_type_of(resolved.config).is_probability else 1e-9


def _number(resolved: ResolvedQuestion, log_odds: float) -> float:
    """The probability of some log odds, or the score itself."""
    if not problem_type_of(resolved.config).is_probability:
        return log_odds
    return 1 / (1 + exp(-log_odds)) if log_odds > 0 else exp(log_odds) / (1 + exp(log_odds))


def _lost_text(resolved: ResolvedQuestion, lost: float) -> str:
    return signed(round(float(lost), 2) if problem_type_of(resolved.config).is_probability else float(lost))


def _instead(resolved: ResolvedQuestion, found: Effects, without: float) -> str:
    now, before = (answer_number(resolved.config, _number(resolved, float(each))) for each in (without, found.all))
    return f"{quoted(label_text(resolved.config, found.label))} has {now} instead of {before}"


ANALYSIS = Analysis("Classify", reads=("target_token",), compute=labels, compute_long=effects, pause=120)
