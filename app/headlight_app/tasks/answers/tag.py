"""Tag: each token with its label, in the colour of the label's kind."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from headlight.array_types import Float
from headlight.problem_types import problem_type_of
from headlight.tasks import label_text
from headlight.views.kinds import TokensView
from headlight.views.words import percent, quoted
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Views
from headlight_app.explore.answers.layer_analysis import answer_number
from headlight_app.inference.resolved_question import ResolvedQuestion
from headlight_app.tasks.answers.labels import LabelShares, label_shares, label_tables, likeliest
from headlight_app.tasks.answers.shown_weights import READS, attention_of_kind, shown_weights

OUTSIDE = "O"  # the label of tokens outside of entities, as in CoNLL 2003
NONE = "–"  # of a token without a label
NAMES = {"PER": "person", "LOC": "place", "ORG": "organization", "MISC": "other name"}  # those of CoNLL 2003
NAMED = 3  # labels and tokens in a note
LITTLE = 0.01  # a weight that is not named


def tag(resolved: ResolvedQuestion, state: State) -> Views:
    """The labels of all tokens; below one that a change has altered, the label as trained. Raises TextError."""
    found = label_shares(resolved)
    kinds = label_kinds(resolved.config.labels)
    shown = [place for place, special in enumerate(resolved.trace.text.special_mask) if not special]
    now = [likeliest(resolved, row) for row in found.after]
    tokens = resolved.trace.text.token_texts
    looked = _looked(resolved, state)
    is_probability = problem_type_of(resolved.config).is_probability
    title = "The likeliest label of each token, and its probability"
    return (
        TokensView(
            title if is_probability else "The label with the highest score for each token, and that score",
            tuple(tokens[place] for place in shown),
            labels=tuple(now[place] or NONE for place in shown),
            below=tuple(below(resolved, found, place) for place in shown),
            groups=tuple(kinds.index(kind) if (kind := _kind(now[place])) in kinds else -1 for place in shown),
            group_titles=tuple(f"{kind}: {NAMES[kind]}" if kind in NAMES else kind for kind in kinds),
            details=tuple(f"{_ranked(resolved, found.after[place])}{looked[place]}" for place in shown),
            places=tuple(("text", place) for place in shown),
            picks=tuple({"query": place} for place in shown),
            note="Point at a token to see its labels and where it looked.",
            tables=label_tables(resolved, found),
        ),
    )


def label_kinds(labels: Sequence[str]) -> list[str]:
    """The kinds of labels, each once: PER for B-PER and I-PER; O has none."""
    return [kind for kind in dict.fromkeys(map(_kind, labels)) if kind != OUTSIDE]


def _kind(label: str) -> str:
    return re.sub(r"^[BIESLU]-", "", label)


def below(resolved: ResolvedQuestion, found: LabelShares, place: int) -> str:
    """What a change has altered, or else the number; of a token without a label, that of the likeliest."""
    label, was = likeliest(resolved, found.after[place]), likeliest(resolved, found.before[place])
    if was != label:
        return f"was {was or NONE}"
    best = int(found.after[place].argmax())
    number = answer_number(resolved.config, float(found.after[place, best]))
    return number if label else f"{label_text(resolved.config, best)} {number}"


def _ranked(resolved: ResolvedQuestion, shares: Float[np.ndarray, " label"]) -> str:
    ranked = ((int(label), float(shares[label])) for label in np.argsort(-shares, kind="stable")[:NAMED])
    return ", ".join(
        f"{label_text(resolved.config, label)} {answer_number(resolved.config, share)}" for label, share in ranked
    )


def _looked(resolved: ResolvedQuestion, state: State) -> list[str]:
    """Where each token looked in the shown heads; empty texts if there are none, or if their weights are not kept."""
    tokens = resolved.trace.text.token_texts
    shown = shown_weights(resolved, attention_of_kind(resolved.config, "self"), state)
    if shown is None:
        return [""] * len(tokens)
    return [
        f". In {shown.heads} it looked at {looked}" if (looked := _largest(row, tokens)) else "" for row in shown.values
    ]


def _largest(weights: Float[np.ndarray, " key"], tokens: Sequence[str]) -> str:
    best = np.argsort(-weights, kind="stable")[:NAMED]
    return ", ".join(f"{quoted(tokens[key])} {percent(weights[key])}" for key in best if weights[key] >= LITTLE)


ANALYSIS = Analysis("Tag", reads=READS, compute=tag)
