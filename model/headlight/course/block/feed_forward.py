"""The feed-forward network on typed numbers: XOR, which no linear map can do."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.config import Config
from headlight.course.controls import Axis, ChoiceControl, MatrixControl
from headlight.course.pictures import MatrixPicture, Verdict, row
from headlight.course.questions import ask_number
from headlight.course.screen import Answer, Screen
from headlight.course.sentences import require_width
from headlight.nn.layers import FEED_FORWARDS, MLP

TOKENS, CHANNELS, NEURONS, ONE = Axis("tokens", 1, 5), Axis("channels", 1, 4), Axis("neurons", 1, 6), Axis("row", 1, 1)
ACTIVATIONS = ("relu", "gelu", "silu", "tanh", "linear")


def feed_forward_by_hand(
    x: Tensor, activation: str, up: Tensor, up_bias: Tensor, down: Tensor, down_bias: Tensor
) -> Answer:
    """x W1 + b1, the activation, W2 and b2: every number."""
    require_width(x.shape[1], {"rows of W₁": len(up), "columns of W₂": down.shape[1], "b₂": down_bias.shape[1]})
    require_width(up.shape[1], {"b₁": up_bias.shape[1], "rows of W₂": len(down)}, "neurons")
    neurons, output = apply_feed_forward(x, up, up_bias, activation, down, down_bias)
    names = tuple(f"token {label}" for label in TOKENS.label_all(len(x)))
    before = x @ up + up_bias
    return (
        row(
            MatrixPicture(title="x", values=x, rows=names, column_axis="channel"),
            MatrixPicture(title="x W₁ + b₁", values=before, rows=names, column_axis="neuron", before="→"),
            MatrixPicture(
                title=f"Neurons: {FEED_FORWARDS[activation].title} of it",
                values=neurons,
                rows=names,
                column_axis="neuron",
                before="→",
            ),
            MatrixPicture(title="Output", values=output, rows=names, column_axis="channel", before="→"),
            question=ask_number(
                f"What is neuron 0 of {names[-1]}, after the activation?",
                float(neurons[-1, 0]),
                (float(before[-1, 0]), "That goes into the activation; what comes out of it?"),
                (float((x @ up)[-1, 0]), "The bias b₁ is missing."),
                (float(neurons[0, -1]), f"Token and neuron are exchanged: take the last row of x ({names[-1]})."),
                hints=(
                    "Multiply the last row of x by the first column of W₁, and add the first number of b₁.",
                    f"That gives {float(before[-1, 0]):.4g}. Then comes {FEED_FORWARDS[activation].title}.",
                ),
            ),
        ),
        row(_verdict(neurons, up, down, activation)),
        *(
            (row(MatrixPicture(title="W₁ W₂: one matrix does the same", values=up @ down)),)
            if activation == "linear"
            else ()
        ),
    )


def apply_feed_forward(
    x: Float[Tensor, "token channel"],
    up: Float[Tensor, "channel neuron"],
    up_bias: Float[Tensor, "1 neuron"],
    activation: str,
    down: Float[Tensor, "neuron channel"],
    down_bias: Float[Tensor, "1 channel"],
) -> tuple[Float[Tensor, "token neuron"], Float[Tensor, "token channel"]]:
    """The neurons and the output of the project's feed-forward network with these weights."""
    config = Config(
        vocabulary_size=1, context_length=1, d_model=x.shape[1], layers=1, heads=1,
        d_ff=up.shape[1], feed_forward=activation, bias=True,
    )  # fmt: skip
    network = FEED_FORWARDS[activation].make(config)
    assert network is not None
    recorded: dict[str, Tensor] = {}

    def record(name: str, number: Tensor) -> Tensor:
        recorded[name] = number
        return number

    weights = {"up.weight": up.T, "up.bias": up_bias[0], "down.weight": down.T, "down.bias": down_bias[0]}
    network.load_state_dict(weights)
    with torch.no_grad():
        output = network(x[None], record)
    return recorded["neurons"][0], output[0]


def _verdict(neurons: Tensor, up: Tensor, down: Tensor, activation: str) -> Verdict:
    if activation == "linear":
        return Verdict(
            text="Without an activation the two maps are one linear map, and no linear map can compute XOR.", good=False
        )
    active = [int(count) for count in (neurons.abs() > 1e-6).sum(1)]
    return Verdict(
        text=f"Active neurons, which are not 0, of {neurons.shape[1]}: "
        + ", ".join(f"token {at}: {count}" for at, count in enumerate(active))
        + ". The same two maps are applied to every token, and no token sees another one."
    )


FEED_FORWARD = Screen(
    title="The feed-forward network, by hand",
    lesson="A linear map, an activation function on each number, and a second linear map, for each token by itself. "
    "The example computes XOR: channel 0 of the output is 1 where just one of the two channels is 1. Try it with the "
    "linear activation.",
    controls={
        "x": MatrixControl(title="x", default="0,0;0,1;1,0;1,1", rows=TOKENS, columns=CHANNELS),
        "activation": ChoiceControl(
            title="Activation", default="relu", options={name: FEED_FORWARDS[name].title for name in ACTIVATIONS}
        ),
        "up": MatrixControl(title="W₁", default="1,1;1,1", rows=CHANNELS, columns=NEURONS),
        "up_bias": MatrixControl(title="b₁", default="0,-1", rows=ONE, columns=NEURONS),
        "down": MatrixControl(title="W₂", default="1,0;-2,0", rows=NEURONS, columns=CHANNELS),
        "down_bias": MatrixControl(title="b₂", default="0,0", rows=ONE, columns=CHANNELS),
    },
    compute=feed_forward_by_hand,
    formulas=(r"\mathrm{FFN}(x) = \max(0, x W_1 + b_1) W_2 + b_2",),
    code=(apply_feed_forward, MLP),
)
