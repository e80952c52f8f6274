"""The neurons of a model's feed-forward network: which are active, and the same network on every token."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.checkpoints.load import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.pictures import BarsPicture, MatrixPicture, Verdict, row
from headlight.course.questions import ask_nearest
from headlight.course.screen import Answer, Screen, link
from headlight.course.sentences import LAYER, TOKEN, require_layer, require_token, token_labels, value
from headlight.nn.hooks import no_hook
from headlight.nn.layers import FEED_FORWARDS, MLP, GatedMLP
from headlight.nn.transformer import Transformer
from headlight.tracing.run import run

SHOWN = 10
MOST_OF_IT = 0.9  # of the squared length of the neurons


def neurons(model: Checkpoint, text: str, layer: int, token: int) -> Answer:
    """The strongest neurons of a token, the same neurons at all tokens, and a check that no token sees another."""
    network = model.model
    path = f"{require_layer(network, layer)}.feed_forward"
    trace = run(network, model.tokenizer, text, keep=(f"{path}.*",))
    at, labels = require_token(trace.text, token), token_labels(trace.text)
    activity, inputs, outputs = (value(trace, f"{path}.{name}") for name in ("neurons", "input", "output"))
    strongest = activity[at].abs().topk(min(SHOWN, activity.shape[1])).indices
    names = tuple(str(neuron) for neuron in strongest.tolist())
    return (
        row(
            BarsPicture(
                title=f"Strongest neurons at “{labels[at]}”", labels=names, series={"": activity[at, strongest]}
            ),
            BarsPicture(
                title=f"Neurons that hold {MOST_OF_IT:.0%} of the squared length",
                labels=labels,
                series={"": [float(count) for count in needed(activity)]},
                digits=0,
                note=f"of {activity.shape[1]}; {FEED_FORWARDS[network.config.feed_forward].title}",
            ),
            question=ask_nearest(
                f"What part of the {activity.shape[1]} neurons holds {MOST_OF_IT:.0%} of the squared length at this "
                "token?",
                {f"{share:.0%}": share for share in (0.05, 0.2, 0.5, 0.9)},
                needed(activity)[at] / activity.shape[1],
            ),
        ),
        row(
            MatrixPicture(
                title="The same neurons at every token",
                values=activity[:, strongest],
                rows=labels,
                columns=names,
                column_axis="neuron",
            )
        ),
        row(_same_network(network, path, inputs, outputs)),
    )


def needed(activity: Float[Tensor, "token neuron"]) -> list[int]:
    """How few neurons of each token hold MOST_OF_IT of their squared length."""
    squares = activity.square().sort(dim=1, descending=True).values
    shares = squares.cumsum(1) / squares.sum(1, keepdim=True)
    return [int((each < MOST_OF_IT).sum()) + 1 for each in shares]


@torch.inference_mode()
def apply_alone(
    model: Transformer, path: str, inputs: Float[Tensor, "token d_model"]
) -> Float[Tensor, "token d_model"]:
    """The feed-forward network at `path` on one token at a time, the last token first."""
    stack, layer, _ = path.split(".")
    network = model.get_submodule(f"{stack}.blocks.{layer}.feed_forward")
    alone = [network(each[None, None].to(model.device), no_hook)[0, 0].cpu() for each in inputs.flip(0)]
    return torch.stack(alone).flip(0)


def _same_network(model: Transformer, path: str, inputs: Tensor, outputs: Tensor) -> Verdict:
    error = float((apply_alone(model, path, inputs) - outputs).abs().max())
    return Verdict(
        text=f"Checked: given one token at a time, in reverse order, the network answers the same (largest difference "
        f"{error:.1g}). So words are mixed by attention alone.",
        good=error < 1e-3 * max(1.0, float(outputs.abs().max())),
    )


NEURONS = Screen(
    title="Active neurons: the same network on every token",
    lesson="In a model the feed-forward network has hundreds of neurons, and each token uses a few of them strongly. "
    "The network is the same at every place and sees one token at a time: what a token knows of the others, attention "
    "has brought.",
    controls={
        "model": ModelControl(default="stories-causal", needs="feed-forward"),
        "text": TextControl(title="Sentence", default="The cat saw a dog and the dog saw the cat"),
        "layer": LAYER,
        "token": TOKEN,
    },
    compute=neurons,
    formulas=(
        r"\mathrm{FFN}(x) = \varphi(x W_1) W_2",
        r"\mathrm{SwiGLU}(x) = (\mathrm{silu}(x W_g) \odot x W_1) W_2",
    ),
    code=(GatedMLP, MLP),
    explore=link("model", "text", "layer", query="token", fixed={"tab": "model"}),
)
