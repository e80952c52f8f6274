"""Three encoder-decoders that rewrite rows of letters: attention, recurrence, and recurrence with attention."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.config import Config, DecoderConfig, EmbeddingConfig
from headlight.course.controls import ChoiceControl, CountControl, SeedControl, TextControl
from headlight.course.fitting import begin_anew, fit, parameter_count
from headlight.course.screen import Screen, ScreenRows
from headlight.errors import InputError, shortened
from headlight.nn.hooks import no_hook
from headlight.nn.transformer import Transformer
from headlight.questions.asking import ask_largest
from headlight.tracing.recording import RecordingHook
from headlight.views.kinds import HeatMapView, LinesView, TableView, Verdict
from headlight.views.rows import Row, row
from headlight.views.words import percent

LETTERS = "abcdefghij"
START = len(LETTERS)  # the token with which an answer begins
MOST_LENGTH = 24
D_MODEL, HEADS = 40, 2  # of attention alone
EMBEDDING, HIDDEN = 32, 60  # of the recurrent networks, for about as many parameters

Letters = Int[Tensor, "row source"]
Written = Int[Tensor, "row pos"]


class SequenceNetwork(nn.Module, ABC):
    """Reads letters, and returns logits of the next letter after each written one."""

    @abstractmethod
    def forward(self, source: Letters, written: Written) -> Float[Tensor, "row pos letter"]:
        """The logits."""

    @abstractmethod
    def look(self, source: Letters, written: Written) -> Float[Tensor, "row pos source"] | None:
        """How much each written letter looks at each letter read; None without attention."""


class AttentionAlone(SequenceNetwork):
    """The project's Transformer: one layer reads, one writes."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Transformer(
            Config(
                architecture="encoder-decoder", vocabulary_size=len(LETTERS) + 1, context_length=MOST_LENGTH,
                d_model=D_MODEL, layers=1, heads=HEADS, d_ff=2 * D_MODEL, positional_encoding="learned",
                norm="layernorm", feed_forward="relu", embedding=EmbeddingConfig(tied=False),
                decoder=DecoderConfig(start_token_id=START),
            )
        )  # fmt: skip
        begin_anew(self.model)

    def forward(self, source: Letters, written: Written) -> Float[Tensor, "row pos letter"]:
        """The logits."""
        logits: Tensor = self.model(written, source=source)
        return logits[..., : len(LETTERS)]

    def look(self, source: Letters, written: Written) -> Float[Tensor, "row pos source"]:
        """The mean of the heads of cross-attention."""
        recorder = RecordingHook(no_hook, ("decoder.0.cross.weights",))
        self.model(written, source=source, hook=recorder)
        weights: Tensor = recorder.values["decoder.0.cross.weights"].mean(1)
        return weights


class Recurrent(SequenceNetwork):
    """A GRU reads, and another one writes, starting from its last state alone (Cho et al. 2014)."""

    def __init__(self, states: int = 1) -> None:
        super().__init__()
        self.embed = nn.Embedding(len(LETTERS) + 1, EMBEDDING)
        self.encoder = nn.GRU(EMBEDDING, HIDDEN, batch_first=True)
        self.decoder = nn.GRU(EMBEDDING, HIDDEN, batch_first=True)
        self.output = nn.Linear(states * HIDDEN, len(LETTERS))

    def states(self, source: Letters, written: Written) -> tuple[Tensor, Tensor]:
        """The states of the encoder and of the decoder, one for each letter."""
        read, last = self.encoder(self.embed(source))
        return read, self.decoder(self.embed(written), last)[0]

    def forward(self, source: Letters, written: Written) -> Float[Tensor, "row pos letter"]:
        """The logits."""
        logits: Tensor = self.output(self.states(source, written)[1])
        return logits

    def look(self, source: Letters, written: Written) -> None:
        """None: it has no attention."""


class RecurrentWithAttention(Recurrent):
    """The same, with attention to all encoder states (Bahdanau et al. 2015, Luong et al. 2015)."""

    def __init__(self) -> None:
        super().__init__(states=2)

    def forward(self, source: Letters, written: Written) -> Float[Tensor, "row pos letter"]:
        """The logits."""
        read, state = self.states(source, written)
        logits: Tensor = self.output(torch.cat([state, _weights(state, read) @ read], -1))
        return logits

    def look(self, source: Letters, written: Written) -> Float[Tensor, "row pos source"]:  # type: ignore[override]
        """The softmax of the dot products of the states."""
        read, state = self.states(source, written)
        return _weights(state, read)


def _weights(state: Float[Tensor, "row pos hidden"], read: Float[Tensor, "row source hidden"]) -> Tensor:
    return (state @ read.transpose(1, 2)).softmax(-1)


ROWS, TEST_ROWS, LEARNING_RATE = 64, 200, 5e-3
SHORTEST = 2
BEYOND = 2  # letters more than in training, in the last test
NETWORKS: dict[str, Callable[[], SequenceNetwork]] = {
    "attention alone": AttentionAlone,
    "recurrence": Recurrent,
    "recurrence with attention": RecurrentWithAttention,
}
TASKS: dict[str, tuple[str, Callable[[Tensor], Tensor]]] = {
    "reverse": ("write the letters backwards", lambda ids: ids.flip(-1)),
    "copy": ("write the letters again", lambda ids: ids),
    "sort": ("write the letters in alphabetical order", lambda ids: ids.sort(-1).values),
}
PAPER = (
    "The paper's own figures are for translation (Vaswani et al. 2017, table 2): attention alone reached 28.4 BLEU "
    "from English to German and 41.8 to French. The best earlier results, of ensembles of networks with recurrence or "
    "convolution, were 26.36 and 41.29."
)


@dataclass(frozen=True, eq=False)
class Trained:
    """A network after training: its share of fully right answers by length, and its training time in seconds."""

    network: SequenceNetwork
    right: list[float]
    seconds: float


def attention_alone(task: str, longest: int, steps: int, letters: str, seed: int) -> ScreenRows:
    """The share of right answers of each network by length, its answer to the learner's letters, and its size."""
    ids, lengths = parse_letters(letters), list(range(SHORTEST, longest + BEYOND + 1))
    trained = {}
    for name, make in NETWORKS.items():
        torch.manual_seed(seed)
        network, began = make(), perf_counter()
        train(network, task, longest, steps, seed)
        seconds = perf_counter() - began
        trained[name] = Trained(network, [accuracy(network, task, length, seed) for length in lengths], seconds)
    return (
        row(
            LinesView(
                "Answers right in every letter (share of new rows)",
                lengths,
                {name: each.right for name, each in trained.items()},
                f"letters (in training at most {longest})",
                "share",
            ),
            title=f"After {steps} steps each, on the same batches: {TASKS[task][0]}",
            question=ask_largest(
                "Which network gets the most rows right, at the lengths used in training?",
                {name: _mean(each, longest) for name, each in trained.items()},
            ),
        ),
        _table(trained, longest),
        row(_verdict(trained, longest), PAPER),
        *_letters_rows(trained, task, ids),
    )


def parse_letters(text: str) -> Int[Tensor, "1 source"]:
    """Letters as tokens. Raises InputError."""
    typed = "".join(text.lower().split())
    if odd := "".join(dict.fromkeys(letter for letter in typed if letter not in LETTERS)):
        raise InputError(
            f"These networks know the letters {LETTERS[0]} to {LETTERS[-1]}, but not {shortened(odd, 20)!r}."
        )
    most = MOST_LENGTH - 1
    if not SHORTEST <= len(typed) <= most:
        raise InputError(f"Type {SHORTEST} to {most} letters; your text has {len(typed)}.")
    return torch.tensor([[LETTERS.index(letter) for letter in typed]])


def draw_examples(task: str, rows: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of letters, the answers, and the decoder's input: the answer shifted by one."""
    source = torch.randint(len(LETTERS), (rows, length), generator=generator)
    answer = TASKS[task][1](source)
    return source, answer, functional.pad(answer[:, :-1], (1, 0), value=START)


def train(network: nn.Module, task: str, longest: int, steps: int, seed: int) -> None:
    """Train with Adam on rows of a length from SHORTEST to `longest`; the rate rises, and falls to a tenth."""
    generator = torch.Generator().manual_seed(seed)

    def loss() -> Tensor:
        length = int(torch.randint(SHORTEST, longest + 1, (), generator=generator))
        source, answer, written = draw_examples(task, ROWS, length, generator)
        return functional.cross_entropy(network(source, written).flatten(0, 1), answer.flatten())

    fit(torch.optim.Adam(network.parameters(), LEARNING_RATE), loss, steps, warm_up=True, clip=True)


@torch.no_grad()
def accuracy(network: nn.Module, task: str, length: int, seed: int) -> float:
    """The share of answers to new rows that are right in every letter.

    Each letter is predicted from the right previous letters. If all are right, the network itself would write the same.
    """
    generator = torch.Generator().manual_seed(seed + 1_000_000)
    source, answer, written = draw_examples(task, TEST_ROWS, length, generator)
    return float((network(source, written).argmax(-1) == answer).all(-1).float().mean())


@torch.no_grad()
def write(network: nn.Module, source: Int[Tensor, "1 source"]) -> Int[Tensor, " pos"]:
    """The network's own answer, the likeliest letter each time, as long as the input."""
    written = torch.tensor([[START]])
    for _ in range(source.shape[1]):
        written = torch.cat([written, network(source, written)[:, -1:].argmax(-1)], 1)
    return written[0, 1:]


def _table(trained: dict[str, Trained], longest: int) -> TableView:
    rows = tuple(
        (
            name,
            f"{parameter_count(each.network):,}",
            percent(_mean(each, longest)),
            f"{each.seconds:.1f} s",
        )
        for name, each in trained.items()
    )
    columns = ("network", "parameters", f"right, of {SHORTEST} to {longest} letters", "training time here")
    return TableView(columns, rows)


def _mean(trained: Trained, longest: int) -> float:
    known = trained.right[: longest - SHORTEST + 1]
    return sum(known) / len(known)


def _verdict(trained: dict[str, Trained], longest: int) -> Verdict:
    order = sorted(trained, key=lambda name: -_mean(trained[name], longest))
    told = ", ".join(f"{percent(_mean(trained[name], longest), 0)} by {name}" for name in order)
    beyond = ", ".join(percent(trained[name].right[-1], 0) for name in order)
    return Verdict(
        f"Right, at the lengths of training: {told}. With {BEYOND} letters more, in the same order: {beyond}. "
        "Attention alone has a vector for each position, and the vectors of further positions were never trained; a "
        "recurrent network computes further steps like all others."
    )


def _letters_rows(trained: dict[str, Trained], task: str, ids: Tensor) -> tuple[Row, Row]:
    right = TASKS[task][1](ids)[0]
    answers = {name: write(each.network, ids) for name, each in trained.items()}
    rows = tuple(
        (name, f"{_text(answer)} {'✓' if torch.equal(answer, right) else '✗'}", f"{int((answer == right).sum())}")
        for name, answer in answers.items()
    )
    columns = ("network", f"answer to {_text(ids[0])}", f"letters right, of {len(right)}")
    maps = []
    for name, each in trained.items():
        with torch.no_grad():
            weights = each.network.look(ids, functional.pad(answers[name][None, :-1], (1, 0), value=START))
        if weights is not None:
            maps.append(
                HeatMapView(
                    name.capitalize(),
                    weights[0],
                    rows=tuple(_text(answers[name])),
                    columns=tuple(_text(ids[0])),
                    row_axis="written",
                    column_axis="read",
                    colours="weights",
                )
            )
    return (
        row(TableView(columns, rows), title="Your letters"),
        row(*maps, title="Where each looked while it wrote"),
    )


def _text(ids: Tensor) -> str:
    return "".join(LETTERS[each] for each in ids.tolist())


ATTENTION_ALONE = Screen(
    title="Is attention all you need?",
    lesson="Before 2017, most networks that read one sequence and wrote another were recurrent (some were "
    "convolutional, as ByteNet, 2016): a single state carried all of the input, or attention helped it to look back. "
    "The Transformer left the recurrence out. Here three networks of one size learn to rewrite rows of letters.",
    controls={
        "task": ChoiceControl("Task", "reverse", {name: told for name, (told, _) in TASKS.items()}),
        "longest": CountControl("Longest row in training", "8", 3, 12),
        "steps": CountControl("Steps", "240", 20, 900, step=20),
        "letters": TextControl(f"Your letters, {LETTERS[0]} to {LETTERS[-1]}", "cabbage", longest=40),
        "seed": SeedControl(),
    },
    compute=attention_alone,
    formulas=(
        r"\text{recurrence: } h_t = \mathrm{GRU}(h_{t-1}, x_t),\quad s_0 = h_n",
        r"\text{with attention: } c_i = \sum_t \mathrm{softmax}_t(s_i \cdot h_t)\, h_t",
    ),
    code=(train, fit, AttentionAlone, Recurrent, RecurrentWithAttention),
    is_long=True,
)
