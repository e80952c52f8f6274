"""From the last layer to a probability: final norm, the matrix to the vocabulary, softmax."""

from __future__ import annotations

import torch
from torch import Tensor

from model.array_types import Float
from model.checkpoints.load import Checkpoint
from model.course.controls import ModelControl, TextControl
from model.course.pictures import BarsPicture, MatrixPicture, TablePicture, Verdict, row
from model.course.screen import Answer, Screen, StateFields
from model.course.sentences import token_labels, value
from model.errors import InputError
from model.nn.output_heads import LanguageModelHead, MaskedLanguageModelHead
from model.nn.transformer import Transformer
from model.tasks import task_of
from model.tracing.run import prediction_positions, run

SHOWN_CHANNELS, CANDIDATES = 8, 8


def last_steps(model: Checkpoint, text: str) -> Answer:
    """The steps at the token whose prediction a person wants: the last one, or the first mask."""
    network = model.model
    stack = network.config.stacks[-1]
    trace = run(network, model.tokenizer, text, keep=(f"{stack}.residual", f"{stack}.final_residual", "logits"))
    places = prediction_positions(network, model.tokenizer, trace.text)
    if not places:
        raise InputError("This model fills masks, and the sentence has none. Write [MASK] for a word.")
    at = places[0]
    before, after, logits = (
        value(trace, path)[at] for path in (f"{stack}.residual", f"{stack}.final_residual", "logits")
    )
    best = logits.topk(CANDIDATES).indices
    names = tuple(model.tokenizer.stripped_token_text(token) for token in best.tolist())
    label = token_labels(trace.text)[at]
    return (
        row(
            _channels("After the last layer", before),
            _channels("After the final norm", after, "→"),
            title=f"At “{label}”: {len(before)} channels, of which the first {SHOWN_CHANNELS}",
        ),
        row(
            _steps(names, logits, best),
            BarsPicture(title="Probability", labels=names, series={"": logits.softmax(-1)[best]}, high=1.0),
            title=f"Times the matrix to the vocabulary: {len(logits):,} logits, of which the {CANDIDATES} largest",
        ),
        row(_verdict(network, after, logits)),
    )


def _channels(title: str, numbers: Float[Tensor, " channel"], sign: str = "") -> MatrixPicture:
    length = f"length {float(numbers.norm()):.3g}, mean {float(numbers.mean()):.2g}"
    return MatrixPicture(
        title=title, values=numbers[None, :SHOWN_CHANNELS], column_axis="channel", before=sign, note=length
    )


def _steps(names: tuple[str, ...], logits: Float[Tensor, " token"], best: Tensor) -> TablePicture:
    shifted = (logits - logits.max()).exp()
    rows = tuple(
        (name, float(logits[token]), float(shifted[token]), float(shifted[token] / shifted.sum()))
        for name, token in zip(names, best.tolist(), strict=True)
    )
    note = (
        f"All {len(logits):,} numbers of the third column add up to {float(shifted.sum()):.4g}; each is divided by "
        "that."
    )
    return TablePicture(
        columns=("token", "logit", "e^(logit − largest)", "probability"), rows=rows, digits=3, note=note
    )


@torch.inference_mode()
def _verdict(model: Transformer, final: Tensor, logits: Tensor) -> Verdict:
    head = model.output_head
    hidden = final.to(model.device, model.embedding.weight.dtype)
    if isinstance(head, MaskedLanguageModelHead):
        hidden = head.norm(head.activation(head.transform(hidden)))
    assert isinstance(head, LanguageModelHead | MaskedLanguageModelHead)
    best = int(logits.argmax())
    weight, bias = head.projection.weight[best], head.projection.bias
    product = float(hidden @ weight) + (float(bias[best]) if bias is not None else 0.0)
    tied = weight.data_ptr() == model.embedding.weight[best].data_ptr()
    kind = "between them one more linear map and norm, then " if task_of(model.config).fills_masks else ""
    return Verdict(
        text=f"Checked for the best token: {kind}its column of W times the vector is {product:.4f}; the model's logit "
        "is "
        f"{float(logits[best]):.4f}." + (" W is the embedding matrix, transposed." if tied else ""),
        good=abs(product - float(logits[best])) < 1e-2 * max(1.0, abs(product)),
    )


def _explore(model: str, text: str) -> StateFields:
    return {"model": model, "text": text}


LAST_STEPS = Screen(
    title="The last steps: from a vector to a word",
    lesson=(
        "After the last layer a token's vector is normed once more and compared with the vector of every token of the "
        "vocabulary: a dot product each, the logits. Softmax makes probabilities of them."
    ),
    controls={
        "model": ModelControl(default="stories-causal", needs="predicts-tokens"),
        "text": TextControl(title="Sentence", default="The little dog ran to the"),
    },
    compute=last_steps,
    formulas=(r"p = \mathrm{softmax}(W\, \mathrm{norm}(x) + b)",),
    code=(LanguageModelHead, MaskedLanguageModelHead),
    explore=_explore,
)
