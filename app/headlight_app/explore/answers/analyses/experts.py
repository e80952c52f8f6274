"""The experts to which each layer sends each token."""

from __future__ import annotations

import numpy as np

from headlight.array_types import Float, Int
from headlight.errors import ConfigError
from headlight.views.kinds import MatrixView, NumberTable
from headlight.views.words import names, numbered, percent, three_digits
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Views
from headlight_app.inference.resolved_question import ResolvedQuestion


def experts(resolved: ResolvedQuestion, state: State) -> Views:
    """A table of the experts of each token in each layer that has some. Raises ConfigError if none has."""
    layers = resolved.config.expert_layers
    if not layers:
        raise ConfigError("This model has no experts: each layer has one feed-forward network for all tokens.")
    paths = [f"{resolved.config.stacks[-1]}.{layer}.feed_forward.router_weights" for layer in layers]
    traced = resolved.trace_of(*paths)
    shares = np.stack([traced[path] for path in paths])
    chosen = np.argsort(-shares, axis=-1, kind="stable")[..., : resolved.config.experts.per_token]
    shares = np.take_along_axis(shares, chosen, axis=-1)
    tokens, rows = traced.text.token_texts, tuple(f"layer {layer}" for layer in layers)
    axes = {
        "layer": tuple(map(str, layers)),
        "token": numbered(tokens),
        "place": tuple(map(str, range(chosen.shape[-1]))),
    }
    table = MatrixView(
        "Experts of each token",
        chosen[..., 0],
        rows=rows,
        columns=names(tokens),
        colours="groups",
        texts=_cells(chosen, shares),
        details=_details(chosen, shares),
        column_picks=tuple({"query": position} for position in range(len(tokens))),
        tables={
            "Expert of each token": NumberTable(axes, chosen),
            "Share of each expert": NumberTable(axes, shares),
        },
        note="Each cell names the experts, the one with the largest share first, and below them its share; a click "
        "selects its token.",
    )
    return (table,)


Chosen = Int[np.ndarray, "layer token chosen"]
Shares = Float[np.ndarray, "layer token chosen"]


def _cells(chosen: Chosen, shares: Shares) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(f"{' · '.join(map(str, numbers))}\n{percent(share[0], 0)}" for numbers, share in zip(*layer, strict=True))
        for layer in zip(chosen.tolist(), shares.tolist(), strict=True)
    )


def _details(chosen: Chosen, shares: Shares) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(
            ", ".join(f"expert {number} × {three_digits(share)}" for number, share in zip(*token, strict=True))
            for token in zip(*layer, strict=True)
        )
        for layer in zip(chosen.tolist(), shares.tolist(), strict=True)
    )


ANALYSIS = Analysis(
    "Experts",
    "Instead of one feed-forward network, a layer has many: its experts. A router sends each token to a few of "
    "them, listed here with the largest share first. In a row, tokens with the same first expert have the "
    "same colour. Each layer has its own experts, numbered from 0.",
    compute=experts,
    exists=lambda config: config.experts.count > 0,
)
