"""Word vectors learned from a text: by the next word, by neighbours, by counts of pairs, or from character n-grams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.course.fitting import fit, parameter_count
from headlight.data.text_tasks import word_spans
from headlight.errors import InputError
from headlight.views.words import three_digits

MAX_STEPS, MAX_DIM, MAX_CONTEXT, MAX_VOCABULARY = 2_000, 64, 8, 1_000
UNKNOWN = 0  # the id of all words outside the vocabulary
FRAMES = 40
NGRAMS = (3, 5)  # characters, for fastText
NUMBERS_RATE = 2e-2
MANY = 10.0  # occurrences of a pair; GloVe gives full weight from here on
MAX_WORDS, MAX_WINDOW, MAX_WORD, MAX_TABLE = 5_000, 10, 60, 24


@dataclass(frozen=True)
class Cbow:
    """One training example of CBOW: the words around a position, and the word to predict there."""

    context: tuple[str, ...]
    target: str


@dataclass(frozen=True, eq=False)
class CoOccurrence:
    """How often two words stand within a window of each other, for the most frequent words."""

    words: tuple[str, ...]
    counts: Int[np.ndarray, "word other"]


def words_of(text: str) -> list[str]:
    """The words and punctuation marks of a text in lower case. Raises InputError if there are none or too many."""
    words = [text[start:end].lower() for start, end in word_spans(text)]
    if not words:
        raise InputError("There is no word in this text. Type a sentence.")
    if len(words) > MAX_WORDS:
        raise InputError(f"The text has {len(words):,} words; at most {MAX_WORDS:,} are read. Shorten it.")
    return words


def skip_gram_pairs(words: Sequence[str], window: int) -> list[tuple[str, str]]:
    """Every word with each word at most `window` away; the first predicts the second (Mikolov et al. 2013)."""
    return [(question.target, word) for question in cbow_questions(words, window) for word in question.context]


def cbow_questions(words: Sequence[str], window: int) -> list[Cbow]:
    """Every word with the up to 2 `window` words around it, which predict it (Mikolov et al. 2013)."""
    return [
        Cbow((*words[max(0, index - window) : index], *words[index + 1 : index + 1 + window]), word)
        for index, word in enumerate(words)
    ]


def co_occurrences(words: Sequence[str], window: int, most: int = MAX_TABLE) -> CoOccurrence:
    """The counts for GloVe (Pennington et al. 2014, section 3), of the `most` frequent words."""
    pairs = Counter(skip_gram_pairs(words, window))
    chosen = tuple(word for word, _ in Counter(words).most_common(most))
    return CoOccurrence(chosen, np.array([[pairs[word, other] for other in chosen] for word in chosen]))


def character_ngrams(word: str, shortest: int = 3, longest: int = 6) -> tuple[str, ...]:
    """The n-grams of <word>, and <word> itself: fastText's vector of a word is their sum (Bojanowski et al. 2017).

    Raises InputError for an empty word, one of more than MAX_WORD characters, and impossible lengths.
    """
    if not word.strip() or len(word) > MAX_WORD:
        raise InputError(f"The word has {len(word.strip())} characters; type one of 1 to {MAX_WORD}.")
    if not 1 <= shortest <= longest:
        raise InputError(
            f"There are no n-grams of {shortest} to {longest} characters. Give two numbers from 1 on, the smaller one "
            "first."
        )
    marked = f"<{word.strip()}>"
    lengths = range(shortest, min(longest, len(marked) - 1) + 1)
    grams = [marked[start : start + length] for length in lengths for start in range(len(marked) - length + 1)]
    return (*dict.fromkeys(grams), marked)


METHODS = {
    "next": "The next word, from those before it",
    "cbow": "CBOW: a word, from its neighbours",
    "skip-gram": "Skip-gram: each neighbour, from a word",
    "fasttext": "fastText: the same, from the word's n-grams",
    "glove": "GloVe: how often two words are neighbours",
}


class WordVectors(nn.Module):
    """The mean of the vectors of some words, and a linear layer that scores every word (CBOW; Mikolov et al. 2013).

    A word's vector is the sum of the vectors of its `features`: the word itself, or its n-grams, as in fastText.
    """

    def __init__(self, features: Float[Tensor, "token feature"], dim: int) -> None:
        super().__init__()
        self.features = features
        self.embedding = nn.Embedding(features.shape[1], dim)
        self.output = nn.Linear(dim, len(features))
        nn.init.normal_(self.embedding.weight, std=0.1)  # small, so that learning soon outweighs the random start

    def vectors(self) -> Float[Tensor, "token dim"]:
        """The vector of each word."""
        return self.features @ self.embedding.weight

    def forward(
        self, shares: Float[Tensor, "question token"], vectors: Float[Tensor, "token dim"]
    ) -> Float[Tensor, "question token"]:
        """The logits of the word to predict, for these shares of words in the context."""
        logits: Tensor = self.output(shares @ vectors)
        return logits


@dataclass(frozen=True, eq=False)
class Frame:
    """The words' vectors after some steps, the loss there, and the gradient of the loss by these vectors."""

    step: int
    loss: float
    embedding: Float[Tensor, "token dim"]
    gradient: Float[Tensor, "token dim"]


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """A training run: vocabulary, count of each word, frames from the first to the last step, and trained network."""

    words: tuple[str, ...]
    counts: tuple[int, ...]
    frames: tuple[Frame, ...]
    net: WordVectors
    context: int

    def ids(self, words: Sequence[str]) -> list[int]:
        """The ids of words; UNKNOWN for words outside the vocabulary."""
        known = {word: index for index, word in enumerate(self.words)}
        return [known.get(word, UNKNOWN) for word in words]

    @torch.inference_mode()
    def predict(self, words: Sequence[str], most: int = 5) -> list[tuple[str, float]]:
        """The most probable words after or beside the last `context` of these words."""
        ids = self.ids(words)[-self.context :]
        if not ids:
            raise InputError("Type at least one word to continue from.")
        shares = functional.one_hot(torch.tensor(ids), len(self.words)).float().mean(0, keepdim=True)
        best = self.net(shares, self.net.vectors())[0].softmax(-1).topk(min(most, len(self.words)))
        return [
            (self.words[index], value) for index, value in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]


def questions_of(words: Sequence[str], method: str, context: int) -> list[Cbow]:
    """The training examples of a method: a word to predict from some others."""
    if method == "next":
        return [Cbow(tuple(words[at - context : at]), words[at]) for at in range(context, len(words))]
    if method == "cbow":
        return [each for each in cbow_questions(words, context) if each.context]
    return [Cbow((word,), other) for word, other in skip_gram_pairs(words, context)]


def train_word_vectors(
    words: Sequence[str],
    context: int = 2,
    dim: int = 8,
    steps: int = 200,
    learning_rate: float = 5.0,
    seed: int = 0,
    method: str = "next",
) -> TrainingRun:
    """Train on all examples of a method at once in each step (gradient descent).

    The same seed gives the same numbers. Raises InputError if the text is too short or the learning rate too large,
    Cancelled if the request is cancelled.
    """
    if len(words) <= context:
        raise InputError(
            f"The text has {len(words)} words; to predict one from {context}, it needs {context + 1} or more."
        )
    counted = Counter(words).most_common(MAX_VOCABULARY - 1)
    vocabulary, counts = ("[UNK]", *(word for word, _ in counted)), (0, *(count for _, count in counted))
    known = {word: index for index, word in enumerate(vocabulary)}
    asked = [
        ([known.get(word, UNKNOWN) for word in each.context], known.get(each.target, UNKNOWN))
        for each in questions_of(words, method, context)
    ]
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        net = WordVectors(features_of(vocabulary) if method == "fasttext" else torch.eye(len(vocabulary)), dim)
    shares = torch.stack([torch.bincount(torch.tensor(ids), minlength=len(vocabulary)) / len(ids) for ids, _ in asked])
    targets = torch.tensor([target for _, target in asked])
    frames = _train(net, shares, targets, steps, learning_rate, counts_pairs=method == "glove")
    return TrainingRun(vocabulary, counts, frames, net.requires_grad_(False), context)


def features_of(words: Sequence[str]) -> Float[Tensor, "token gram"]:
    """The n-grams of each word, with the word itself, as shares of 1, so that vectors do not grow with word length."""
    grams = [character_ngrams(word, *NGRAMS) for word in words]
    known = {gram: at for at, gram in enumerate(dict.fromkeys(gram for each in grams for gram in each))}
    return torch.stack([torch.bincount(torch.tensor([known[gram] for gram in each]), minlength=len(known)) / len(each)
                        for each in grams])  # fmt: skip


def count_loss(scores: Float[Tensor, "token other"], counts: Float[Tensor, "token other"]) -> Tensor:
    """The squared error of scores to log counts, with less weight for rare pairs (Pennington et al. 2014, eq. 8)."""
    weights = (counts / MANY).clamp(max=1) ** 0.75
    return (weights * (scores - counts.clamp(min=1).log()).square()).sum() / weights.sum()


def _train(
    net: WordVectors, shares: Tensor, targets: Tensor, steps: int, learning_rate: float, *, counts_pairs: bool
) -> tuple[Frame, ...]:
    """Train by plain gradient descent on all examples at once; return the frames of some steps and of the end."""
    shown = {round(index * steps / (FRAMES - 1)) for index in range(FRAMES)} if steps >= FRAMES else range(steps + 1)
    frames, last, vectors = list[Frame](), torch.zeros(()), torch.zeros(())
    pairs = shares.T @ functional.one_hot(targets, len(net.features)).float()

    def loss() -> Tensor:
        nonlocal last, vectors
        vectors = net.vectors()
        vectors.retain_grad()
        if counts_pairs:
            last = count_loss(net(torch.eye(len(vectors)), vectors), pairs)
        else:
            last = functional.cross_entropy(net(shares, vectors), targets)
        if not last.isfinite():
            raise InputError(
                f"The loss is no longer a number: with a learning rate of {three_digits(learning_rate)} the steps are "
                "too long. Lower it."
            )
        return last

    def keep(step: int) -> None:
        if step in shown:
            assert vectors.grad is not None
            frames.append(Frame(step, last.item(), vectors.detach().clone(), vectors.grad.clone()))

    optimizer = torch.optim.SGD(net.parameters(), lr=learning_rate)
    fit(optimizer, loss, steps, after_backward=keep)
    torch.autograd.backward(loss())
    keep(steps)
    return tuple(frames)


@dataclass(frozen=True)
class NumberNet:
    """A network with one random number for each word: its size, and its loss after training."""

    hidden: int
    parameters: int
    loss: float


def train_on_numbers(words: Sequence[str], context: int, hidden: int, steps: int, seed: int) -> NumberNet:
    """Trains a network to predict the next word from random numbers, so that it must learn all differences of words."""
    known = {word: at for at, word in enumerate(dict.fromkeys(words))}
    windows = torch.tensor([known[word] for word in words]).unfold(0, context + 1, 1)
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        numbers = torch.randn(len(known))
        net = nn.Sequential(nn.Linear(context, hidden), nn.ReLU(), nn.Linear(hidden, len(known)))
    given, targets = numbers[windows[:, :-1]], windows[:, -1]
    optimizer = torch.optim.Adam(net.parameters(), NUMBERS_RATE)
    losses = fit(optimizer, lambda: functional.cross_entropy(net(given), targets), steps)
    return NumberNet(hidden, parameter_count(net), losses[-1])
