"""How far information travels, and how many sequential steps that takes: four networks on the same task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.config import Config, EmbeddingConfig
from headlight.course.controls import ChoiceControl, CountControl, SeedControl
from headlight.course.fitting import begin_anew, fit, parameter_count
from headlight.course.screen import Screen, ScreenRows
from headlight.course.timing import median_times, multiply_adds
from headlight.errors import counted
from headlight.nn.transformer import Transformer
from headlight.questions.asking import ask_largest, ask_number
from headlight.views.kinds import LinesView, TableView, Verdict
from headlight.views.rows import row
from headlight.views.words import digits

SYMBOLS, FILLERS = 8, 8  # a row has one symbol; all its other tokens are fillers
VOCABULARY = SYMBOLS + FILLERS
D_MODEL, KERNEL = 32, 3
MOST_LENGTH = 1024


class AttentionNetwork(nn.Module):
    """The project's Transformer, causal, without positions."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.model = Transformer(
            Config(
                vocabulary_size=VOCABULARY, context_length=MOST_LENGTH, d_model=D_MODEL, layers=layers, heads=2,
                positional_encoding="none", feed_forward="gelu", d_ff=2 * D_MODEL,
                embedding=EmbeddingConfig(tied=False),
            )
        )  # fmt: skip
        begin_anew(self.model)

    def embed(self, ids: Int[Tensor, "row pos"]) -> Float[Tensor, "row pos d_model"]:
        """The tokens' vectors."""
        return self.model.embed(ids)

    def forward(self, embedded: Float[Tensor, "row pos d_model"]) -> Float[Tensor, "row pos token"]:
        """Logits at every token."""
        final = self.model.stack("decoder")(embedded, None, None, None, None, lambda name, value: value, None)
        logits: Tensor = self.model.output_head(final)
        return logits


class RecurrentNetwork(nn.Module):
    """h_t = tanh(W h_{t-1} + U x_t) in each layer (Elman 1990), one token after the other."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, D_MODEL)
        self.recurrent: nn.RNNBase = nn.RNN(D_MODEL, 2 * D_MODEL, layers, batch_first=True)
        self.output = nn.Linear(2 * D_MODEL, VOCABULARY)

    def forward(self, embedded: Float[Tensor, "row pos d_model"]) -> Float[Tensor, "row pos token"]:
        """Logits at every token."""
        logits: Tensor = self.output(self.recurrent(embedded)[0])
        return logits


class GatedNetwork(RecurrentNetwork):
    """The same with gates that can pass on a state unchanged (GRU; Cho et al. 2014)."""

    def __init__(self, layers: int) -> None:
        super().__init__(layers)
        self.recurrent = nn.GRU(D_MODEL, 2 * D_MODEL, layers, batch_first=True)


class ConvolutionalNetwork(nn.Module):
    """Causal convolutions: each layer sees a token and the KERNEL - 1 before it."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, D_MODEL)
        sizes = [D_MODEL] + [2 * D_MODEL] * layers
        self.convolutions = nn.ModuleList(nn.Conv1d(a, b, KERNEL) for a, b in pairwise(sizes))
        self.output = nn.Linear(2 * D_MODEL, VOCABULARY)

    def forward(self, embedded: Float[Tensor, "row pos d_model"]) -> Float[Tensor, "row pos token"]:
        """Logits at every token."""
        x = embedded.transpose(1, 2)
        for convolution in self.convolutions:
            x = functional.gelu(convolution(functional.pad(x, (KERNEL - 1, 0))))
        logits: Tensor = self.output(x.transpose(1, 2))
        return logits


@dataclass(frozen=True)
class Network:
    """One of the four networks: its constructor, from a number of layers, and its number of sequential steps."""

    make: Callable[[int], nn.Module]
    steps_in_a_row: Callable[[int, int], int]  # from length and layers


# A recurrent layer may begin a token as soon as the layer below has finished it: length + layers - 1 steps.
NETWORKS = {
    "attention": Network(AttentionNetwork, lambda length, layers: layers),
    "recurrent": Network(RecurrentNetwork, lambda length, layers: length + layers - 1),
    "recurrent with gates": Network(GatedNetwork, lambda length, layers: length + layers - 1),
    "convolution": Network(ConvolutionalNetwork, lambda length, layers: layers),
}


def recall_batch(
    distances: Int[Tensor, " row"], generator: torch.Generator
) -> tuple[Int[Tensor, "row pos"], Int[Tensor, " row"]]:
    """Rows of fillers with a symbol at a distance before the last token, and the symbols to predict there."""
    rows, length = len(distances), int(distances.max()) + 1
    ids = torch.randint(SYMBOLS, VOCABULARY, (rows, length), generator=generator)
    symbols = torch.randint(SYMBOLS, (rows,), generator=generator)
    ids[torch.arange(rows), length - 1 - distances] = symbols
    return ids, symbols


ROWS, TEST_ROWS, LEARNING_RATE = 32, 256, 5e-3
NEAR, MOST_LAYERS = 2, 4  # a distance in tokens; a depth to compare with one layer


def path_length(layers: int, distance: int, steps: int, seed: int) -> ScreenRows:
    """Each network's gradients before training, and its accuracy after training, by distance."""
    distances = sorted({1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64} & set(range(1, distance + 1)) | {distance})
    influences, recall, sizes = {}, {}, {}
    for name, network in NETWORKS.items():
        torch.manual_seed(seed)
        made = network.make(layers)
        influences[name] = influence(made, distance, seed)
        train(made, distance, steps, seed)
        recall[name] = [accuracy(made, each, seed) for each in distances]
        sizes[name] = parameter_count(made)
    return (
        row(
            _recall_lines(distances, recall),
            title=f"After {steps} steps of training, each on the same batches",
            question=ask_largest(
                f"Which network forgets most between distance 1 and {distance}?",
                {name: shares[0] - shares[-1] for name, shares in recall.items()},
                {
                    "attention": "To attention every token is one step away.",
                    "recurrent with gates": "Its gates can pass on a state unchanged.",
                },
            ),
        ),
        _verdict(recall, distances),
        row(
            _reach_lines(influences),
            title="Before training: how much does the last output change with an earlier token?",
        ),
        _table(sizes, influences, layers, distance),
        *_steps_or_layers(layers, distance, seed),
    )


def train(network: nn.Module, distance: int, steps: int, seed: int) -> None:
    """Train with Adam on rows with the symbol at any distance from 1 to `distance`."""
    generator = torch.Generator().manual_seed(seed)

    def loss() -> Tensor:
        exponents = torch.rand(ROWS, generator=generator)
        distances = ((distance + 1.0) ** exponents).long().clamp(max=distance)  # log-uniform
        distances[0] = distance  # equal lengths in all batches
        ids, symbols = recall_batch(distances, generator)
        return functional.cross_entropy(_last_logits(network, ids), symbols)

    fit(torch.optim.Adam(network.parameters(), lr=LEARNING_RATE), loss, steps, warm_up=True, clip=True)


@torch.no_grad()
def accuracy(network: nn.Module, distance: int, seed: int) -> float:
    """The share of new rows whose symbol, at this distance, is predicted correctly."""
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
    """The influence of each token on the last output of an untrained recurrent network, the last token first."""
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        return influence(NETWORKS["recurrent"].make(layers), distance, seed)


def _steps_or_layers(layers: int, distance: int, seed: int) -> ScreenRows:
    """The influence of a token over its distance, for one layer and for several."""
    gradients = {count: reach(count, distance, seed) for count in sorted({1, 2, layers, MOST_LAYERS})}
    shown = range(1, distance + 1)
    one, many = gradients[1], gradients[MOST_LAYERS]
    steps, deeper = float(one[NEAR] / one[distance]), float(one[NEAR] / many[NEAR])
    network = NETWORKS["recurrent"]
    return (
        row(
            LinesView(
                "Gradient of the last output by an earlier token's vector",
                list(shown),
                {counted(count, "layer"): g[1:] for count, g in gradients.items()},
                "distance in tokens",
                "gradient",
                log_y=True,
            ),
            TableView(
                ("layers", "sequential steps", "gradient"),
                tuple(
                    (str(count), str(network.steps_in_a_row(distance + 1, count)), float(g[distance]))
                    for count, g in gradients.items()
                ),
                title=f"A token at distance {distance}",
            ),
        ),
        f"From distance {NEAR} to {distance} the gradient of one layer falls by a factor of {steps:,.0f}: each token "
        f"between is one more step. Going from 1 to {MOST_LAYERS} layers at distance {NEAR} changes it by a factor of "
        f"{digits(deeper, 2)}. The path from word to word is counted in steps.",
    )


def _embed(network: nn.Module, ids: Tensor) -> Tensor:
    embedded: Tensor = network.embed(ids)  # type: ignore[operator]
    return embedded


def _last_logits(network: nn.Module, ids: Tensor) -> Tensor:
    logits: Tensor = network(_embed(network, ids))[:, -1]
    return logits


def _recall_lines(distances: list[int], recall: dict[str, list[float]]) -> LinesView:
    return LinesView(
        "Symbols remembered (fraction of new rows)",
        distances,
        recall | {"chance": [1 / SYMBOLS] * len(distances)},
        "distance in tokens",
        "accuracy",
        broken=("chance",),
    )


def _reach_lines(reach: dict[str, Tensor]) -> LinesView:
    return LinesView(
        "Gradient of the last output by each token's vector",
        range(len(next(iter(reach.values())))),
        {name: (numbers / numbers.max()).tolist() for name, numbers in reach.items()},
        "distance in tokens",
        "share of the largest",
    )


def _verdict(recall: dict[str, list[float]], distances: list[int]) -> Verdict:
    def told(name: str) -> str:
        known = [distance for distance, share in zip(distances, recall[name], strict=True) if share > 0.9]
        return f"{name} {max(known)}" if known else f"{name} none"

    return Verdict(
        f"Furthest distance, up to {distances[-1]}, at which a network remembers more than nine of ten symbols: "
        f"{', '.join(map(told, NETWORKS))}. Give them more steps, and see which of them catch up."
    )


def _table(sizes: dict[str, int], reach: dict[str, Tensor], layers: int, distance: int) -> TableView:
    rows = tuple(
        (
            name,
            f"{sizes[name]:,}",
            f"{int((reach[name] > 0).nonzero().max())}",
            f"{network.steps_in_a_row(distance + 1, layers)}",
        )
        for name, network in NETWORKS.items()
    )
    columns = ("network", "parameters", "furthest token that changes the last output", "sequential steps")
    return TableView(columns, rows)


PATH_LENGTH = Screen(
    title="Path length: what was said long ago",
    lesson="The text has a symbol, then many fillers, and then a network has to name the symbol: four networks learn "
    "this here and now, from the same batches. To attention every token is one step away. A recurrent network carries "
    "the symbol through every step between, which gates make easier; a convolution sees only as far as its layers "
    "reach.",
    controls={
        "layers": CountControl("Layers", "1", 1, 4),
        "distance": CountControl("Longest distance", "24", 4, 64),
        "steps": CountControl("Steps", "120", 20, 600, step=10),
        "seed": SeedControl(),
    },
    compute=path_length,
    formulas=(r"h_t = \tanh(W h_{t-1} + U x_t)",),
    code=(train, fit, RecurrentNetwork, GatedNetwork, ConvolutionalNetwork),
    is_long=True,
)


Times = dict[str, list[float]]


def sequential_steps(longest: str, layers: int) -> ScreenRows:
    """Sequential steps and measured times of one training step of each network, by length."""
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
            LinesView("Sequential steps", lengths, steps, "tokens", "steps", log_x=True, log_y=True),
            LinesView(
                "Time of one training step, measured now (ms)", lengths, times, "tokens", "ms", log_x=True, log_y=True
            ),
            question=ask_number(
                f"A recurrent network with {counted(layers, 'layer')} reads {lengths[-1]} tokens. How many sequential "
                "steps does it take?",
                steps["recurrent"][-1],
                (lengths[-1] * layers, "A layer can process a token as soon as the layer below has finished it."),
                (layers, "That is attention: all tokens at once, layer by layer."),
                hints=("The first layer takes a step for each token.",),
            ),
        ),
        _steps_table(networks, lengths[-1], steps, times),
        _said_of_times(times, lengths),
    )


def training_step(network: nn.Module, length: int) -> Callable[[], None]:
    """The measured action: a forward and a backward pass over one text of that length."""
    ids, _ = recall_batch(torch.tensor([length - 1]), torch.Generator().manual_seed(0))

    def step() -> None:
        network(network.embed(ids)).sum().backward()  # type: ignore[operator]

    return step


def multiplications(network: nn.Module, length: int) -> int:
    """The multiply-adds of a forward pass, counted by torch, or by formula for nn.RNN, which torch does not count."""
    ids, _ = recall_batch(torch.tensor([length - 1]), torch.Generator().manual_seed(0))
    with torch.no_grad():
        operations = multiply_adds(lambda: network(network.embed(ids)))  # type: ignore[operator]
    if not isinstance(network, RecurrentNetwork):
        return operations
    maps = sum(parameter.numel() for parameter in network.recurrent.parameters() if parameter.dim() == 2)
    output = network.output.weight.numel()
    return length * (maps + output)


def _steps_table(networks: dict[str, nn.Module], length: int, steps: dict[str, list[float]], times: Times) -> TableView:
    rows = tuple(
        (name, f"{steps[name][-1]:,.0f}", f"{multiplications(network, length):,}", f"{times[name][-1]:.1f} ms")
        for name, network in networks.items()
    )
    columns = (f"{length:,} tokens", "sequential steps", "multiply-adds", "forward and backward, measured")
    return TableView(columns, rows)


def _said_of_times(times: Times, lengths: list[int]) -> Verdict:
    ratio = times["recurrent"][-1] / times["attention"][-1]
    faster = f"{ratio:.1f} times faster" if ratio >= 1 else f"{1 / ratio:.1f} times slower"
    return Verdict(
        f"Here and now, at {lengths[-1]:,} tokens, attention is {faster} than the recurrent network, measured on a "
        "processor with few cores. The more units compute at once, as in a GPU, the more the number of sequential "
        "steps matters. On the other hand, attention computes a score for each pair of tokens: double the length, and "
        "there are four times as many."
    )


SEQUENTIAL_STEPS = Screen(
    title="One after the other, or all at once",
    lesson="A recurrent network cannot begin a token before it has finished the one before. Attention and convolutions "
    "compute all tokens of a known text at once, so their steps do not grow with its length. This made training on so "
    "much text possible; when it writes, a Transformer also works token by token.",
    controls={
        "longest": ChoiceControl(
            "Longest text", "512", {"128": "128 tokens", "512": "512 tokens", "1024": "1,024 tokens"}
        ),
        "layers": CountControl("Layers", "2", 1, 4),
    },
    compute=sequential_steps,
    formulas=(r"\text{recurrent: } n + L - 1\ \text{steps}", r"\text{attention, convolution: } L\ \text{steps}"),
    code=(training_step, median_times, AttentionNetwork, RecurrentNetwork),
    is_long=True,
)
