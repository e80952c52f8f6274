"""Forbidden scores: minus infinity and not 0, in a copy and not in place, and never a token's own."""

from __future__ import annotations

from functools import partial

import torch

from headlight.array_types import Float
from headlight.checkpoints import Checkpoint
from headlight.course.attention import HeadValues, attend
from headlight.course.attention_by_hand.words import TOKENS
from headlight.course.controls import MatrixControl, ModelControl, TextControl
from headlight.course.masks.look_ahead import MOST_TOKENS, NOTABLE, next_token_losses
from headlight.course.pictures import BarsPicture, MatrixPicture, Question, row, verdict_row
from headlight.course.questions import ask_direction
from headlight.course.screen import Answer, Screen, compare_link, link
from headlight.errors import InputError
from headlight.nn.attention_functions import AttentionFunction, SoftmaxAttention
from headlight.nn.masks import MASKS, causal
from headlight.nn.transformer import variant

ITSELF_FORBIDDEN = "causal+painted:" + ".".join(f"{place}-{place}" for place in range(48))


def weights_of_scores(scores: Float[torch.Tensor, "query key"], allowed: torch.Tensor | None) -> HeadValues:
    """A head whose scores are these: one-hot keys, so that q · k is a number of q."""
    one_hot = torch.eye(scores.shape[1])
    return attend(scores, one_hot, one_hot, allowed=allowed, scale=False)


def zero_scores(scores: Float[torch.Tensor, "query key"]) -> Answer:
    """Forbidden scores of minus infinity, and of 0."""
    if len(scores) != scores.shape[1]:
        raise InputError(f"The scores have {len(scores)} rows and {scores.shape[1]} columns. It takes as many of both.")
    names, allowed = TOKENS.label_all(len(scores)), torch.ones_like(scores, dtype=torch.bool).tril()
    zeroed = scores.masked_fill(~allowed, 0)
    right, wrong = weights_of_scores(scores, allowed), weights_of_scores(zeroed, None)
    leaked = (wrong.weights * ~allowed).sum(-1)
    matrix = partial(MatrixPicture, rows=names, columns=names, crossed=~allowed)
    weights = partial(matrix, colours="weights", row_sums=True, before="→")
    return (
        row(
            matrix(title="Forbidden scores: −∞", values=right.masked_scores),
            weights(title="Weights", values=right.weights),
        ),
        row(
            matrix(title="Forbidden scores: 0", values=zeroed),
            weights(title="Weights", values=wrong.weights),
            question=Question(
                "A score of 0 for each forbidden key. Will its weight be 0?",
                ("Yes", "No"),
                1 if float(leaked.sum()) else 0,
            ),
        ),
        row(
            BarsPicture(
                title="Share of each row that goes to forbidden keys, with scores of 0",
                labels=names,
                series={"": leaked},
                high=1.0,
            )
        ),
        verdict_row(
            f"With scores of 0 “{names[0]}” gives {float(leaked[0]):.0%} of its weight to tokens that it must "
            "not see: the softmax makes e⁰ = 1 of a score of 0. Only −∞ becomes a weight of 0.",
            good=False,
        ),
        *_in_place(scores, allowed, names),
    )


def _in_place(scores: torch.Tensor, allowed: torch.Tensor, names: tuple[str, ...]) -> Answer:
    kept = {"masked_fill": scores.clone(), "masked_fill_": scores.clone()}
    for name, given in kept.items():
        getattr(given, name)(~allowed, -torch.inf)
    changed = int((kept["masked_fill_"] != scores).sum())
    return (
        row(
            *(
                MatrixPicture(title=f"The scores after {name}", values=given, rows=names, columns=names)
                for name, given in kept.items()
            ),
            title="A copy, or the scores themselves?",
            text="In PyTorch a function whose name ends with an underscore changes the tensor that it was given.",
        ),
        verdict_row(
            f"masked_fill_ has overwritten {changed} of {scores.numel()} scores. They cannot be drawn or masked in "
            "another way any more; masked_fill gives a copy."
        ),
    )


def without_itself(model: Checkpoint, text: str) -> Answer:
    """The loss of each next token under j ≤ i, and under j < i."""
    own, tokens = next_token_losses(model, model.model, text)
    strict, _ = next_token_losses(model, variant(model.model, masks=ITSELF_FORBIDDEN), text)
    shown = slice(0, MOST_TOKENS)
    return (
        row(
            BarsPicture(
                title="Negative log-likelihood of each token, in nats",
                labels=tokens[shown],
                series={"j ≤ i": own[shown].tolist(), "j < i": strict[shown].tolist()},
                note="j ≤ i: each token sees itself, too; j < i: only those before it. 0 is certain. The first token "
                "has nothing before it and is not predicted.",
            ),
            question=ask_direction(
                "A token that may not see itself still sees all before it. The loss of this model will be ...",
                float(strict.mean() - own.mean()),
                NOTABLE,
            ),
        ),
        verdict_row(
            f"Mean {own.mean():.2f} nats where each token sees itself too, {strict.mean():.2f} where it sees "
            "only those before it. The first token then has nothing to look at: a plain softmax gives NaN, "
            "Headlight weights of 0."
        ),
    )


ZERO_SCORE = Screen(
    title="A score of 0 does not make a weight of 0",
    lesson="“Set the products of forbidden pairs to zero”, says many a comment, beside code that sets them to minus "
    "infinity. The code is right. Type scores, and see what zeros would let through under a causal mask.",
    controls={
        "scores": MatrixControl(
            title="Scores: a row for each query",
            default="1,2,0,1;0,1,1,-1;2,0,1,0;1,1,0,2",
            rows=TOKENS,
            columns=TOKENS,
        )
    },
    compute=zero_scores,
    formulas=(r"e^{-\infty} = 0", r"e^{0} = 1"),
    code=(AttentionFunction.mask, SoftmaxAttention.normalize, weights_of_scores, zero_scores),
)
ITSELF = Screen(
    title="Only those before it, or itself as well?",
    lesson="A decoder's token is often said to see only those before it. It sees itself, too: the mask allows j ≤ i. "
    "Forbid a trained model the diagonal, and read how much worse it predicts.",
    controls={
        "model": ModelControl(default="stories-causal", needs="causal"),
        "text": TextControl(title="Text", default="Once upon a time there was a little girl who loved to play."),
    },
    compute=without_itself,
    formulas=(MASKS["causal"].formula,),
    code=(causal, next_token_losses, variant),
    explore=link("model", "text", fixed={"masks": ITSELF_FORBIDDEN}),
    elsewhere={"compare": compare_link(link("model", "text"), link(fixed={"masks": ITSELF_FORBIDDEN}))},
)
