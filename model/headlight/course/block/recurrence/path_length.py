"""How far information travels: attention, recurrent networks and a convolution on the same task."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float
from headlight.course.block.recurrence.recall_models import (
    NETWORKS,
    SYMBOLS,
    VOCABULARY,
    ConvolutionalNetwork,
    GatedNetwork,
    RecurrentNetwork,
    parameters,
    recall_batch,
)
from headlight.course.controls import NumberControl, SeedControl
from headlight.course.fitting import fit
from headlight.course.pictures import LinesPicture, TablePicture, Verdict, row, verdict_row
from headlight.course.questions import ask_largest
from headlight.course.screen import Answer, Screen

ROWS, TEST_ROWS, LEARNING_RATE = 32, 256, 5e-3
NEAR, MOST_LAYERS = 2, 4  # a distance in tokens; a depth to compare with one layer


def path_length(layers: int, distance: int, steps: int, seed: int) -> Answer:
    """Each network's reach before training, and what it remembers after training, by distance."""
    distances = sorted({1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64} & set(range(1, distance + 1)) | {distance})
    influences, recall, sizes = {}, {}, {}
    for name, network in NETWORKS.items():
        torch.manual_seed(seed)
        made = network.make(layers)
        influences[name] = influence(made, distance, seed)
        train(made, distance, steps, seed)
        recall[name] = [accuracy(made, each, seed) for each in distances]
        sizes[name] = parameters(made)
    return (
        row(
            _recall_picture(distances, recall),
            title=f"After {steps} steps of training, each on the same batches",
            question=ask_largest(
                f"Which network forgets most between distance 1 and {distance}?",
                {name: shares[0] - shares[-1] for name, shares in recall.items()},
                {
                    "attention": "To attention every token is one step away.",
                    "recurrent with gates": "Its gates can let a state pass unchanged.",
                },
            ),
        ),
        row(_verdict(recall, distances)),
        row(
            _reach_picture(influences),
            title="Before training: how much does the last output change with an earlier token?",
        ),
        row(_table(sizes, influences, layers, distance)),
        *_steps_or_layers(layers, distance, seed),
    )


def train(network: nn.Module, distance: int, steps: int, seed: int) -> None:
    """Steps of Adam on rows whose symbol stands at any distance from 1 to `distance`."""
    generator = torch.Generator().manual_seed(seed)

    def loss() -> Tensor:
        exponents = torch.rand(ROWS, generator=generator)
        distances = ((distance + 1.0) ** exponents).long().clamp(max=distance)  # short ones as often as long ones
        distances[0] = distance  # all batches are equally long
        ids, symbols = recall_batch(distances, generator)
        return functional.cross_entropy(_last_logits(network, ids), symbols)

    fit(torch.optim.Adam(network.parameters(), lr=LEARNING_RATE), loss, steps, warm_up=True, clip=True)


@torch.no_grad()
def accuracy(network: nn.Module, distance: int, seed: int) -> float:
    """How often the symbol is named that stands so many tokens before, on new rows."""
    generator = torch.Generator().manual_seed(seed + 1_000_000)
    ids, symbols = recall_batch(torch.full((TEST_ROWS,), distance), generator)
    return float((_last_logits(network, ids).argmax(1) == symbols).float().mean())


def influence(network: nn.Module, distance: int, seed: int) -> Float[Tensor, " distance"]:
    """The gradient (2-norm) of the last output by each token's vector, from the last token back to the first."""
    ids = torch.randint(SYMBOLS, VOCABULARY, (1, distance + 1), generator=torch.Generator().manual_seed(seed))
    vectors = _embed(network, ids).detach().requires_grad_()
    network(vectors)[0, -1].square().sum().backward()
    assert vectors.grad is not None
    network.zero_grad()
    influences: Tensor = vectors.grad[0].norm(dim=1).flip(0)
    return influences


def reach(layers: int, distance: int, seed: int) -> Float[Tensor, " distance"]:
    """How much the last output of an untrained recurrent network changes with each token, the last one first."""
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        return influence(NETWORKS["recurrent"].make(layers), distance, seed)


def _steps_or_layers(layers: int, distance: int, seed: int) -> Answer:
    """The influence of a token over its distance, for one layer and for several."""
    gradients = {count: reach(count, distance, seed) for count in sorted({1, 2, layers, MOST_LAYERS})}
    shown = range(1, distance + 1)
    one, many = gradients[1], gradients[MOST_LAYERS]
    steps, deeper = float(one[NEAR] / one[distance]), float(one[NEAR] / many[NEAR])
    network = NETWORKS["recurrent"]
    return (
        row(
            LinesPicture(
                title="Gradient of the last output by an earlier token's vector",
                x=list(shown),
                series={f"{count} layer{'s' if count > 1 else ''}": g[1:] for count, g in gradients.items()},
                x_title="distance in tokens",
                y_title="gradient",
                log_y=True,
            ),
            TablePicture(
                title=f"A token at distance {distance}",
                columns=("layers", "steps that follow one another", "gradient"),
                rows=tuple(
                    (str(count), str(network.steps_in_a_row(distance + 1, count)), float(g[distance]))
                    for count, g in gradients.items()
                ),
            ),
        ),
        verdict_row(
            f"From distance {NEAR} to {distance} one layer's gradient falls by a factor of {steps:,.0f}: each "
            f"token between is one more step. Going from 1 to {MOST_LAYERS} layers at distance {NEAR} changes it by a "
            f"factor of {deeper:.2g}. The way from word to word is counted in steps."
        ),
    )


def _embed(network: nn.Module, ids: Tensor) -> Tensor:
    embedded: Tensor = network.embed(ids)  # type: ignore[operator]
    return embedded


def _last_logits(network: nn.Module, ids: Tensor) -> Tensor:
    logits: Tensor = network(_embed(network, ids))[:, -1]
    return logits


def _recall_picture(distances: list[int], recall: dict[str, list[float]]) -> LinesPicture:
    return LinesPicture(
        title="Symbols remembered (fraction of new rows)",
        x=distances,
        series=recall | {"chance": [1 / SYMBOLS] * len(distances)},
        x_title="distance in tokens",
        y_title="accuracy",
        broken=("chance",),
    )


def _reach_picture(reach: dict[str, Tensor]) -> LinesPicture:
    return LinesPicture(
        title="Gradient of the last output by each token's vector",
        x=list(range(len(next(iter(reach.values()))))),
        series={name: (numbers / numbers.max()).tolist() for name, numbers in reach.items()},
        x_title="distance in tokens",
        y_title="share of the largest",
    )


def _verdict(recall: dict[str, list[float]], distances: list[int]) -> Verdict:
    def told(name: str) -> str:
        known = [distance for distance, share in zip(distances, recall[name], strict=True) if share > 0.9]
        return f"{name} to distance {max(known)}" if known else f"{name} at none"

    return Verdict(
        text=f"Of distances up to {distances[-1]}, nine of ten symbols are remembered by "
        f"{', '.join(map(told, NETWORKS))}. Give them more steps, and see which of them catch up."
    )


def _table(sizes: dict[str, int], reach: dict[str, Tensor], layers: int, distance: int) -> TablePicture:
    rows = tuple(
        (
            name,
            f"{sizes[name]:,}",
            f"{int((reach[name] > 0).nonzero().max())}",
            f"{network.steps_in_a_row(distance + 1, layers)}",
        )
        for name, network in NETWORKS.items()
    )
    columns = ("network", "parameters", "furthest token that changes the last output", "steps that follow one another")
    return TablePicture(columns=columns, rows=rows)


PATH_LENGTH = Screen(
    title="Path length: what was said long ago",
    lesson="A symbol, then many fillers, then the question which symbol it was: four networks learn this here and "
    "now, from the same batches. To attention every token is one step away. A recurrent network carries the symbol "
    "through every step between, which gates make easier; a convolution sees no further than its layers reach.",
    controls={
        "layers": NumberControl(title="Layers", default="1", low=1, high=4, whole=True),
        "distance": NumberControl(title="Longest distance", default="24", low=4, high=64, whole=True),
        "steps": NumberControl(title="Steps", default="120", low=20, high=600, step=10, whole=True),
        "seed": SeedControl(),
    },
    compute=path_length,
    formulas=(r"h_t = \tanh(W h_{t-1} + U x_t)",),
    code=(train, fit, RecurrentNetwork, GatedNetwork, ConvolutionalNetwork),
    is_long=True,
)
