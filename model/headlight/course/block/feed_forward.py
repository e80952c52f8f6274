"""The feed-forward network: XOR on typed numbers, which no linear map can compute, and the neurons of a model."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.checkpoints.load import Checkpoint
from headlight.config import Config
from headlight.course.controls import ON, Axis, ChoiceControl, MatrixControl, ModelControl, TextControl
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import LAYER, TOKEN, require_layer, require_token, require_width, token_labels, value
from headlight.nn.hooks import no_hook
from headlight.nn.layers import FEED_FORWARDS, MLP, GatedMLP
from headlight.nn.transformer import Transformer
from headlight.questions.asking import ask_design, ask_measured, ask_number
from headlight.questions.kinds import Question
from headlight.tracing.recording import RecordingHook
from headlight.tracing.run import run
from headlight.views.forms import agreement, bars
from headlight.views.kinds import MatrixView, Verdict
from headlight.views.rows import row
from headlight.views.words import digits, percent

TOKENS, CHANNELS, NEURONS, ONE = Axis("tokens", 1, 5), Axis("channels", 1, 4), Axis("neurons", 1, 6), Axis("row", 1, 1)
SHOWN = 10
TRUTH, CLOSE = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), 0.05
MOST_OF_IT = 0.9  # share of the squared length of the neurons
ACTIVATIONS = ("relu", "gelu", "silu", "tanh", "linear")


def feed_forward_by_hand(
    x: Tensor, activation: str, up: Tensor, up_bias: Tensor, down: Tensor, down_bias: Tensor
) -> ScreenRows:
    """All numbers of x W1 + b1, the activation, W2 and b2."""
    require_width(x.shape[1], {"rows of W₁": len(up), "columns of W₂": down.shape[1], "b₂": down_bias.shape[1]})
    require_width(up.shape[1], {"b₁": up_bias.shape[1], "rows of W₂": len(down)}, "neurons")
    neurons, output = apply_feed_forward(x, up, up_bias, activation, down, down_bias)
    names = tuple(f"token {label}" for label in TOKENS.label_all(len(x)))
    before = x @ up + up_bias
    return (
        row(
            MatrixView("x", x, rows=names, column_axis="channel"),
            MatrixView("x W₁ + b₁", before, rows=names, column_axis="neuron", before="→"),
            MatrixView(
                f"Neurons: {FEED_FORWARDS[activation].title} of it",
                neurons,
                rows=names,
                column_axis="neuron",
                before="→",
            ),
            MatrixView("Output", output, rows=names, column_axis="channel", before="→"),
            question=ask_number(
                f"What is neuron 0 of {names[-1]}, after the activation?",
                float(neurons[-1, 0]),
                (float(before[-1, 0]), "That is the input of the activation; what is its output?"),
                (float((x @ up)[-1, 0]), "The bias b₁ is missing."),
                (float(neurons[0, -1]), f"Token and neuron are swapped: take the last row of x ({names[-1]})."),
                hints=(
                    "Multiply the last row of x by the first column of W₁, and add the first number of b₁.",
                    f"That gives {digits(float(before[-1, 0]), 4)}. Then apply {FEED_FORWARDS[activation].title}.",
                ),
            ),
        ),
        row(
            _verdict(neurons, up, down, activation),
            question=_ask_for_and(up, up_bias, activation, down, down_bias) if len(up) == TRUTH.shape[1] else None,
        ),
        *((MatrixView("W₁ W₂: one matrix does the same", up @ down),) if activation == "linear" else ()),
    )


def _ask_for_and(up: Tensor, up_bias: Tensor, activation: str, down: Tensor, down_bias: Tensor) -> Question:
    """The default network computes XOR; the learner changes it to AND."""
    found = apply_feed_forward(TRUTH, up, up_bias, activation, down, down_bias)[1][:, 0]

    def is_near(*wanted: float) -> bool:
        return bool((found - torch.tensor(wanted)).abs().max() < CLOSE)

    given = ", ".join(digits(number, 2) for number in found.tolist())
    return ask_design(
        "It computes XOR. Make it AND: change W₁, b₁ or W₂ until channel 0 of the output is 1 for (1, 1), and 0 for "
        "(0, 0), (0, 1) and (1, 0).",
        is_near(0, 0, 0, 1),
        f"For (0, 0), (0, 1), (1, 0) and (1, 1) it gives {given}.",
        (is_near(0, 1, 1, 0), "That is still XOR: 1 if exactly one of the two channels is 1."),
        (is_near(0, 1, 1, 1), "That is OR: 1 if at least one channel is 1."),
        (activation == "linear", f"It gives {given}. Without an activation 1 + 1 is twice 1: AND is not a linear map."),
        solution={"activation": "relu", "up": "1,1;1,1", "up_bias": "-1,-1", "down": "1,0;0,0", "down_bias": "0,0"},
        hints=(
            "Which neuron is above 0 only for (1, 1)?",
            "Neuron 1 is: its bias of −1 subtracts one of the two 1s. Let the output be that neuron alone.",
        ),
        because="One way: biases of −1, so that a neuron is 1 only for (1, 1); 1 and 0 in the first column of W₂.",
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
    recorder = RecordingHook(no_hook, None)
    weights = {"up.weight": up.T, "up.bias": up_bias[0], "down.weight": down.T, "down.bias": down_bias[0]}
    network.load_state_dict(weights)
    with torch.no_grad():
        output = network(x[None], recorder)
    return recorder.values["neurons"][0], output[0]


def _verdict(neurons: Tensor, up: Tensor, down: Tensor, activation: str) -> Verdict:
    if activation == "linear":
        return Verdict(
            "Without an activation the two maps are one linear map, and no linear map can compute XOR.", good=False
        )
    active = [int(count) for count in (neurons.abs() > 1e-6).sum(1)]
    return Verdict(
        f"Active (nonzero) neurons, of {neurons.shape[1]}: "
        + ", ".join(f"token {at}: {count}" for at, count in enumerate(active))
        + ". The same two maps are applied to every token, and no token sees another."
    )


def neurons(model: Checkpoint, text: str, layer: int, token: int) -> ScreenRows:
    """The strongest neurons of a token, the same neurons at all tokens, and a check that tokens are independent."""
    network = model.model
    path = f"{require_layer(network, layer)}.feed_forward"
    trace = run(network, model.tokenizer, text, keep=(f"{path}.*",))
    at, labels = require_token(trace.text, token), token_labels(trace.text)
    activity, inputs, outputs = (value(trace, f"{path}.{name}") for name in ("neurons", "input", "output"))
    strongest = activity[at].abs().topk(min(SHOWN, activity.shape[1])).indices
    names = tuple(str(neuron) for neuron in strongest.tolist())
    return (
        row(
            bars(f"Strongest neurons at “{labels[at]}”", names, activity[at, strongest]),
            bars(
                f"Neurons that make up {percent(MOST_OF_IT, 0)} of the squared length",
                labels,
                [float(count) for count in needed(activity)],
                digits=0,
                note=f"of {activity.shape[1]}; {FEED_FORWARDS[network.config.feed_forward].title}",
            ),
            question=ask_measured(
                f"What share of the {activity.shape[1]} neurons makes up {percent(MOST_OF_IT, 0)} of the squared "
                "length at this token?",
                (0.04, 0.22, 0.53, 0.87),
                needed(activity)[at] / activity.shape[1],
                partial(percent, places=0),
            ),
        ),
        MatrixView(
            "The same neurons at every token", activity[:, strongest], rows=labels, columns=names, column_axis="neuron"
        ),
        _same_network(network, path, inputs, outputs),
    )


def needed(activity: Float[Tensor, "token neuron"]) -> list[int]:
    """The smallest number of neurons of each token with MOST_OF_IT of their squared length."""
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
    return agreement(
        "Checked: given one token at a time, in reverse order, the network gives the same outputs, up to rounding. So "
        "only attention mixes words.",
        error,
        outputs.abs().max(),
        bound=1e-3,
    )


FEED_FORWARD = Screen(
    title="The feed-forward network: the same on every token",
    lesson="A linear map, an activation function on each number, and a second linear map, for each token by itself. "
    "The example computes XOR: channel 0 of the output is 1 if exactly one of the two channels is 1; try it with the "
    "linear activation. In a model it has hundreds of neurons, of which each token uses a few strongly.",
    controls={
        "on": ON,
        "x": MatrixControl("x", "0,0;0,1;1,0;1,1", rows=TOKENS, columns=CHANNELS),
        "activation": ChoiceControl("Activation", "relu", {name: FEED_FORWARDS[name].title for name in ACTIVATIONS}),
        "up": MatrixControl("W₁", "1,1;1,1", rows=CHANNELS, columns=NEURONS),
        "up_bias": MatrixControl("b₁", "0,-1", rows=ONE, columns=NEURONS),
        "down": MatrixControl("W₂", "1,0;-2,0", rows=NEURONS, columns=CHANNELS),
        "down_bias": MatrixControl("b₂", "0,0", rows=ONE, columns=CHANNELS),
        "model": ModelControl(default="stories-causal", needs="feed-forward"),
        "text": TextControl("Sentence", "The cat saw a dog and the dog saw the cat"),
        "layer": LAYER,
        "token": TOKEN,
    },
    compute={"numbers": feed_forward_by_hand, "model": neurons},
    formulas=(
        r"\mathrm{FFN}(x) = \max(0, x W_1 + b_1) W_2 + b_2",
        r"\mathrm{SwiGLU}(x) = (\mathrm{silu}(x W_g) \odot x W_1) W_2",
    ),
    code=(apply_feed_forward, MLP, GatedMLP),
    explore=link("model", "text", "layer", query="token", fixed={"tab": "model"}),
)
