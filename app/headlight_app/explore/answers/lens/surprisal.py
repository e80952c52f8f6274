"""The surprisal of each token, its negative log-likelihood in bits, and the mean."""

from __future__ import annotations

import numpy as np

from headlight.analysis.lenses.logit_lens import lens_at
from headlight.array_types import Float
from headlight.cancellation import check_cancelled
from headlight.tasks import task_of
from headlight.views.kinds import NumberTable, TokensView
from headlight.views.words import NATS_PER_BIT, numbered, percent, three_digits
from headlight_app.explore.answers.layer_analysis import extended_trace
from headlight_app.explore.answers.lens.cells import true_tokens
from headlight_app.inference.resolved_question import ResolvedQuestion

FULL_SHADE = float(np.log2(1000))  # bits
MAX_MULTIPLICATIONS = 10**10  # between two looks at whether the answer is still wanted


def surprisal(resolved: ResolvedQuestion) -> tuple[TokensView, ...]:
    """The tokens shaded by their surprisal; nothing for a model that gives labels."""
    if not task_of(resolved.config).predicts_tokens:
        return ()
    tokens, bits = resolved.trace.text.token_texts, token_surprisal(resolved)
    return (
        TokensView(
            "How surprising each token was",
            tuple(tokens),
            shades=np.nan_to_num(np.minimum(bits / FULL_SHADE, 1)).round(3),
            details=tuple(map(_detail, bits)),
            as_text=True,
            note=f"{mean_words(resolved, bits)} The deepest shade: 1 in 1,000 or rarer.".strip(),
            tables={"Surprisal": NumberTable({"token": numbered(tokens), "number": ("bits",)}, bits[:, None])},
        ),
    )


def token_surprisal(resolved: ResolvedQuestion) -> Float[np.ndarray, " pos"]:
    """The surprisal of each token in bits for the whole model, NaN where the token to predict is not known."""
    model, traced = resolved.model, extended_trace(resolved)
    length, config = len(traced.text.ids), model.config
    each = MAX_MULTIPLICATIONS // (config.vocabulary_size * config.d_model)
    size = length if traced.logits is not None else max(1, each)
    last, targets, parts = config.num_layers(config.stacks[-1]), true_tokens(resolved, traced), []
    for first in range(0, length, size):
        check_cancelled()
        tokens = slice(first, min(first + size, length))
        parts.append(lens_at(model, traced, last, targets, 1, tokens).negative_log_likelihood)
    bits = np.concatenate(parts).astype(float) / NATS_PER_BIT
    # If the true token of a position is the next token, its surprisal belongs to that token.
    return bits if task_of(config).fills_masks else np.concatenate(([np.nan], bits[:-1]))


def _detail(bits: float) -> str:
    if np.isnan(bits):
        return "its probability is unknown"
    return f"{percent(2**-bits)}, a surprisal of {three_digits(bits)} bits"


def mean_words(resolved: ResolvedQuestion, bits: Float[np.ndarray, " pos"]) -> str:
    """The average in words. For a model that fills masks only masked tokens count: it reads all others."""
    fills_masks = task_of(resolved.config).fills_masks
    known = ~np.isnan(bits)
    if fills_masks:
        ids = np.array(resolved.trace.text.ids)
        known &= ids == resolved.tokenizer.mask_id
    if not known.any():
        return "Mask a token to see how surprising it is: the model reads all unmasked tokens." if fills_masks else ""
    mean = float(bits[known].mean())
    which, hint = ("masked token", " Unmasked tokens do not count.") if fills_masks else ("token", "")
    return (
        f"On average a {which} had a surprisal of {three_digits(mean)} bits; the geometric mean of the probabilities "
        f"is {percent(2**-mean)}.{hint}"
    )
