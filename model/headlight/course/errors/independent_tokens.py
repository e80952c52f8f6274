"""A masked model's classifier sees one vector; the vector has seen the sentence."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.checkpoints import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.pictures import LinesPicture, TablePicture, row, verdict_row
from headlight.course.questions import ask_whether
from headlight.course.screen import Answer, Screen, compare_link, link
from headlight.course.sentences import value
from headlight.errors import InputError
from headlight.nn.transformer import Transformer
from headlight.tracing.run import prediction_positions, run
from headlight.tracing.trace import Trace

SHOWN = 5
SAME = 1e-3  # up to which logits count as equal


def first_mask(model: Checkpoint, text: str) -> tuple[Trace, int]:
    """The sentence as the model reads it, and where its first mask stands. Raises InputError where there is none."""
    trace = run(model.model, model.tokenizer, text, keep=("*.residual", "*.final_residual", "logits"))
    places = prediction_positions(model.model, model.tokenizer, trace.text)
    if not places:
        raise InputError("Both sentences need a [MASK] for the word that is asked for.")
    return trace, places[0]


@torch.inference_mode()
def classify_alone(model: Transformer, vector: Float[Tensor, " d_model"]) -> Float[Tensor, " token"]:
    """The classifier on one token's last vector, with no other token there."""
    logits: Tensor = model.output_head(vector[None, None].to(model.device))
    return logits[0, 0].float().cpu()


def independent_tokens(model: Checkpoint, text: str, other: str) -> Answer:
    """How far the mask's vector is from the same mask's in another sentence, layer by layer; and the classifier."""
    network = model.model
    (one, here), (two, there) = first_mask(model, text), first_mask(model, other)
    stack = network.config.stacks[-1]
    paths = (
        *(f"{stack}.{layer}.residual" for layer in range(network.config.num_layers(stack))),
        f"{stack}.final_residual",
    )
    vectors = [(value(one, path)[here], value(two, path)[there]) for path in paths]
    apart = [float((a - b).norm() / max(float(a.norm()), float(b.norm()), 1e-9)) for a, b in vectors]
    logits = [value(one, "logits")[here], value(two, "logits")[there]]
    alone = float((classify_alone(network, vectors[-1][0]) - logits[0]).abs().max())
    return (
        row(
            LinesPicture(
                title="How far [MASK] is from the [MASK] of the other sentence",
                x=list(range(len(apart))),
                series={"difference, as a share of the vector's length": apart},
                x_title="layers passed",
                y_title="difference",
            ),
            _predictions(model, logits),
            question=ask_whether(
                "Given the mask's last vector alone, without the sentence, does the classifier give the same logits?",
                alone < SAME,
                "The vector has seen the sentence; the classifier reads nothing but the vector.",
            ),
        ),
        verdict_row(
            f"Before the first layer both masks are the same up to {apart[0]:.2f}; after the last they are "
            f"{apart[-1]:.2f} of their length apart. The classifier, on this one vector alone, gives the same "
            f"logits up to {alone:.1g}: it is the classifier that works token by token, not the model."
        ),
    )


def _predictions(model: Checkpoint, logits: list[Tensor]) -> TablePicture:
    best = [each.softmax(-1).topk(SHOWN) for each in logits]
    rows = tuple(
        (
            f"{rank + 1}",
            *(
                f"{model.tokenizer.stripped_token_text(int(each.indices[rank]))}  {float(each.values[rank]):.1%}"
                for each in best
            ),
        )
        for rank in range(SHOWN)
    )
    return TablePicture(title="What stands for [MASK]?", columns=("rank", "sentence", "other sentence"), rows=rows)


INDEPENDENT_TOKENS = Screen(
    title="Is each token processed by itself?",
    lesson="Of masked training it is said that each token is processed independently. That holds for the classifier at "
    "the top, which reads one vector at a time. Below it every layer mixes the tokens: change another word, and [MASK] "
    "changes.",
    controls={
        "model": ModelControl(default="stories-masked", needs="fills-masks"),
        "text": TextControl(title="Sentence", default="The bird wanted to [MASK] over the trees."),
        "other": TextControl(title="Other sentence", default="The fish wanted to [MASK] over the trees."),
    },
    compute=independent_tokens,
    formulas=(r"p = \mathrm{softmax}(W z_i)", r"z_i = f_i(x_1, \ldots, x_n)"),
    code=(independent_tokens, classify_alone),
    explore=link("model", "text"),
    elsewhere={"compare": compare_link(link("model", "text"), link(text="other"))},
)
