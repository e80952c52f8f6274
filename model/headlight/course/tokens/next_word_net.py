"""A tiny network that learns word vectors by predicting the next word, trained while one watches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.course.fitting import fit
from headlight.errors import InputError

MAX_STEPS, MAX_DIM, MAX_CONTEXT, MAX_VOCABULARY = 2_000, 64, 8, 1_000
UNKNOWN = 0  # the id of every word past the vocabulary
FRAMES = 40


class NextWordNet(nn.Module):
    """The mean of the vectors of the preceding words, and a linear layer that scores every word after them.

    The mean forgets their order (as CBOW does; Mikolov et al. 2013, section 3.1).
    """

    def __init__(self, vocabulary_size: int, dim: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, dim)
        self.output = nn.Linear(dim, vocabulary_size)
        nn.init.normal_(self.embedding.weight, std=0.1)  # small, so that what is learned soon outweighs what was drawn

    def forward(self, ids: Int[Tensor, "batch pos"]) -> Float[Tensor, "batch token"]:
        """The logits of the next word."""
        logits: Tensor = self.output(self.embedding(ids).mean(dim=1))
        return logits


@dataclass(frozen=True, eq=False)
class Frame:
    """The embedding after some steps, the loss there, and the gradient of the loss by the embedding."""

    step: int
    loss: float
    embedding: Float[Tensor, "token dim"]
    gradient: Float[Tensor, "token dim"]


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """A run: the vocabulary, how often each word occurs, the frames from the first to the last step, the trained "
    "net."""

    words: tuple[str, ...]
    counts: tuple[int, ...]
    frames: tuple[Frame, ...]
    net: NextWordNet
    context: int

    def ids(self, words: Sequence[str]) -> list[int]:
        """The ids of words; UNKNOWN for those that the vocabulary does not have."""
        known = {word: index for index, word in enumerate(self.words)}
        return [known.get(word, UNKNOWN) for word in words]

    @torch.inference_mode()
    def predict(self, words: Sequence[str], most: int = 5) -> list[tuple[str, float]]:
        """The most probable words after these, of which the last `context` count."""
        ids = self.ids(words)[-self.context :]
        if not ids:
            raise InputError("Type a word or more, so that there is something to continue.")
        probabilities = self.net(torch.tensor([ids]))[0].softmax(-1)
        best = probabilities.topk(min(most, len(self.words)))
        return [
            (self.words[index], value) for index, value in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]


def train_next_word(
    words: Sequence[str], context: int = 2, dim: int = 8, steps: int = 200, learning_rate: float = 5.0, seed: int = 0
) -> TrainingRun:
    """Train on every word of a text and the `context` words before it, all at once in each step (gradient descent).

    The same seed gives the same numbers. Raises InputError for a text that is too short and a learning rate
    that is too large, Cancelled when the question is taken back.
    """
    if len(words) <= context:
        raise InputError(
            f"The text has {len(words)} words; to predict one from {context}, it needs {context + 1} or more."
        )
    counted = Counter(words).most_common(MAX_VOCABULARY - 1)
    vocabulary, counts = ("[UNK]", *(word for word, _ in counted)), (0, *(count for _, count in counted))
    known = {word: index for index, word in enumerate(vocabulary)}
    ids = torch.tensor([known.get(word, UNKNOWN) for word in words])
    windows = ids.unfold(0, context + 1, 1)
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        net = NextWordNet(len(vocabulary), dim)
    frames = _train(net, windows[:, :-1], windows[:, -1], steps, learning_rate)
    return TrainingRun(vocabulary, counts, frames, net.requires_grad_(False), context)


def _train(net: NextWordNet, contexts: Tensor, targets: Tensor, steps: int, learning_rate: float) -> tuple[Frame, ...]:
    """Steps of plain gradient descent on all questions at once, and what was there at some of them and at the end."""
    shown = {round(index * steps / (FRAMES - 1)) for index in range(FRAMES)} if steps >= FRAMES else range(steps + 1)
    frames, weight = list[Frame](), net.embedding.weight
    last = torch.zeros(())

    def loss() -> Tensor:
        nonlocal last
        last = functional.cross_entropy(net(contexts), targets)
        if not last.isfinite():
            raise InputError(
                f"The loss is not a number any more: with a learning rate of {learning_rate:g} the steps are too long. "
                "Lower it."
            )
        return last

    def keep(step: int) -> None:
        if step in shown:
            assert weight.grad is not None
            frames.append(Frame(step, last.item(), weight.detach().clone(), weight.grad.clone()))

    optimizer = torch.optim.SGD(net.parameters(), lr=learning_rate)
    fit(optimizer, loss, steps, after_backward=keep)
    optimizer.zero_grad()
    torch.autograd.backward(loss())
    keep(steps)
    return tuple(frames)
