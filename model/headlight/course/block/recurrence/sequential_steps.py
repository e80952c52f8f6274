"""Steps that must follow one another, and the time they take: a recurrent network, attention and a convolution."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from headlight.course.block.recurrence.recall_models import NETWORKS, AttentionNetwork, RecurrentNetwork, recall_batch
from headlight.course.controls import ChoiceControl, NumberControl
from headlight.course.pictures import LinesPicture, TablePicture, Verdict, row
from headlight.course.questions import ask_number
from headlight.course.screen import Answer, Screen
from headlight.course.timing import median_times

Times = dict[str, list[float]]


def sequential_steps(longest: str, layers: int) -> Answer:
    """Steps and measured times of one training step of each network over length."""
    lengths = [length for length in (16, 32, 64, 128, 256, 512, 1024) if length <= int(longest)]
    networks = {name: network.make(layers) for name, network in NETWORKS.items()}
    measured = median_times(
        {(name, length): training_step(network, length) for name, network in networks.items() for length in lengths}
    )
    times = {name: [measured[name, length] for length in lengths] for name in networks}
    steps = {
        name: [float(network.steps_in_a_row(length, layers)) for length in lengths]
        for name, network in NETWORKS.items()
    }
    return (
        row(
            LinesPicture(
                title="Steps that must follow one another",
                x=lengths,
                series=steps,
                x_title="tokens",
                y_title="steps",
                log_x=True,
                log_y=True,
            ),
            LinesPicture(
                title="Time of one training step, measured now (ms)",
                x=lengths,
                series=times,
                x_title="tokens",
                y_title="ms",
                log_x=True,
                log_y=True,
            ),
            question=ask_number(
                f"A recurrent network of {layers} layers reads {lengths[-1]} tokens. How many steps must follow one "
                "another?",
                steps["recurrent"][-1],
                (lengths[-1] * layers, "A layer begins a token as soon as the one below has finished it."),
                (layers, "That is attention: all tokens at once, layer by layer."),
                hints=("The first layer takes a step for each token.",),
            ),
        ),
        row(_table(networks, lengths[-1], steps, times)),
        row(_verdict(times, lengths)),
    )


def training_step(network: nn.Module, length: int) -> Callable[[], None]:
    """What is measured: a forward and a backward pass over one text of that length."""
    ids, _ = recall_batch(torch.tensor([length - 1]), torch.Generator().manual_seed(0))

    def step() -> None:
        network(network.embed(ids)).sum().backward()  # type: ignore[operator]

    return step


def multiplications(network: nn.Module, length: int) -> int:
    """The multiply-adds of a forward pass that torch counts; those of nn.RNN, which it does not know, by formula."""
    ids, _ = recall_batch(torch.tensor([length - 1]), torch.Generator().manual_seed(0))
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        network(network.embed(ids))  # type: ignore[operator]
    counted = int(counter.get_total_flops()) // 2
    if not isinstance(network, RecurrentNetwork):
        return counted
    maps = sum(parameter.numel() for parameter in network.recurrent.parameters() if parameter.dim() == 2)
    output = network.output.weight.numel()
    return length * (maps + output)


def _table(networks: dict[str, nn.Module], length: int, steps: dict[str, list[float]], times: Times) -> TablePicture:
    rows = tuple(
        (name, f"{steps[name][-1]:,.0f}", f"{multiplications(network, length):,}", f"{times[name][-1]:.1f} ms")
        for name, network in networks.items()
    )
    columns = (f"{length:,} tokens", "steps that follow one another", "multiply-adds", "forward and backward, measured")
    return TablePicture(columns=columns, rows=rows)


def _verdict(times: Times, lengths: list[int]) -> Verdict:
    ratio = times["recurrent"][-1] / times["attention"][-1]
    faster = f"{ratio:.1f} times faster" if ratio >= 1 else f"{1 / ratio:.1f} times slower"
    return Verdict(
        text=f"Here and now, at {lengths[-1]:,} tokens, attention is {faster} than the recurrent network, measured on "
        "a processor with few cores. The more units compute at once, as in a GPU, the more it counts how few steps "
        "must wait for one another. On the other side, attention computes a score for each pair of tokens: double "
        "the length, and there are four times as many."
    )


SEQUENTIAL_STEPS = Screen(
    title="One after the other, or all at once",
    lesson="A recurrent network cannot begin a token before it has finished the one before. Attention and "
    "convolutions compute all tokens of a known text at once, so their steps do not grow with its length. This is "
    "what made training on so much text possible; when it writes, a Transformer also goes token by token.",
    controls={
        "longest": ChoiceControl(
            title="Longest text",
            default="512",
            options={"128": "128 tokens", "512": "512 tokens", "1024": "1,024 tokens"},
        ),
        "layers": NumberControl(title="Layers", default="2", low=1, high=4, whole=True),
    },
    compute=sequential_steps,
    formulas=(r"\text{recurrent: } n + L - 1\ \text{steps}", r"\text{attention, convolution: } L\ \text{steps}"),
    code=(training_step, median_times, AttentionNetwork, RecurrentNetwork),
    is_long=True,
)
