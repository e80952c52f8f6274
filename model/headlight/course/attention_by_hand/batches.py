"""Several texts at once, the batch axis and its padding; and dropout on weights."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

import torch
from torch import Tensor

from headlight.course.attention import HeadValues, attend
from headlight.course.controls import ChoiceControl, CountControl, NumberControl, SeedControl, TextControl
from headlight.course.screen import Screen, ScreenRows, compare_link, link
from headlight.errors import InputError
from headlight.nn.attention import Attention
from headlight.nn.masks import MASKS, QueryKeyPositions, padding
from headlight.questions.asking import ask_whether, choose
from headlight.views.forms import weights_matrix
from headlight.views.kinds import BarsView, MatrixView, TableView, TokensView, Verdict
from headlight.views.rows import Row, row
from headlight.views.words import digits

PAD = "[PAD]"
WIDTH = 4
MOST_WORDS = 8
DRAWS = 60  # draws in the mean


@dataclass(frozen=True)
class Sentence:
    """A sentence of a batch: its words and padding, and a vector for each."""

    words: tuple[str, ...]
    vectors: Tensor


def two_sentences(first: str, second: str, mask: str) -> ScreenRows:
    """Both sentences in one tensor, with or without a padding mask, beside the shorter one alone."""
    split = [text.split() for text in (first, second)]
    longest = max(map(len, split))
    if longest > MOST_WORDS:
        raise InputError(f"The longer sentence has {longest} words; at most {MOST_WORDS} can be shown.")
    batch = [_padded(words, longest) for words in split]
    is_token = torch.tensor([[word != PAD for word in each.words] for each in batch])
    positions = QueryKeyPositions(torch.arange(longest), torch.arange(longest), is_token)
    allowed = padding(positions, None)[:, 0] if mask == "on" else torch.ones(2, longest, longest, dtype=torch.bool)
    heads = [attend(*[each.vectors] * 3, allowed=cells) for each, cells in zip(batch, allowed, strict=True)]
    return (
        _batch_row(batch, is_token, longest),
        *(
            row(
                weights_matrix("weights", head.weights, each.words, crossed=~head.allowed),
                MatrixView("output", head.output, before="→", rows=each.words),
                title=f"Sentence {index + 1}",
            )
            for index, (each, head) in enumerate(zip(batch, heads, strict=True))
        ),
        row(
            *(verdicts := _verdicts(split, heads)),
            question=ask_whether(
                "Is the shorter sentence's output the same in the batch as it would be alone?",
                bool(verdicts[0].good),
                "Without the mask, padding takes a part of the weight.",
            ),
        ),
    )


def _padded(words: list[str], length: int) -> Sentence:
    filled = (*words, *[PAD] * (length - len(words)))
    return Sentence(filled, torch.stack([_vector(word) for word in filled]))


def _vector(word: str) -> Tensor:
    """A word's vector, which does not depend on its context."""
    generator = torch.Generator().manual_seed(crc32(word.encode("utf-8", "surrogatepass")))
    return 1.3 * torch.randn(WIDTH, generator=generator)


def _batch_row(batch: list[Sentence], is_token: Tensor, longest: int) -> Row:
    shapes = (
        ("tokens", "batch × pos", f"2 × {longest}"),
        ("X, Q, K, V", "batch × pos × channel", f"2 × {longest} × {WIDTH}"),
        ("padding mask", "batch × key", f"2 × {longest}"),
        ("scores, weights", "batch × query × key", f"2 × {longest} × {longest}"),
    )
    return row(
        *(
            TokensView(f"Sentence {index + 1}", each.words, shades=is_token[index].float() * 0.4)
            for index, each in enumerate(batch)
        ),
        TableView(("tensor", "axes", "shape"), shapes),
        title="One tensor for both",
    )


def _verdicts(split: list[list[str]], heads: list[HeadValues]) -> tuple[Verdict, ...]:
    shorter = min((0, 1), key=lambda index: len(split[index]))
    alone = _padded(split[shorter], len(split[shorter])).vectors
    difference = float((attend(alone, alone, alone).output - heads[shorter].output[: len(alone)]).abs().max())
    same = difference < 1e-5
    ending = "The other sentence does not matter." if same else "Its words look at padding as well: mask it."
    text = f"Alone and in the batch, sentence {shorter + 1} differs by at most {digits(difference, 2)}. {ending}"
    return (Verdict(text, good=same),)


BATCH = Screen(
    title="Two sentences at once",
    lesson="Models read many sentences in one tensor, so the shorter ones are filled up with padding. No token may "
    "look at padding, or the answer for a sentence would depend on its neighbours. Here each word has a random vector "
    "of its own, which is its query, key and value.",
    controls={
        "first": TextControl("Sentence 1", "the cat sat on the mat"),
        "second": TextControl("Sentence 2", "the dog slept"),
        "mask": ChoiceControl("Padding", "on", {"on": "Masked", "off": "Looked at"}),
    },
    compute=two_sentences,
    formulas=(MASKS["padding"].formula,),
    code=(padding, two_sentences, Attention.weighted_sum),
    explore=link(text="first"),
    elsewhere={"compare": compare_link(link(text="first"), link(text="second"))},
)


def dropped_weights(rate: float, tokens: int, seed: int) -> ScreenRows:
    """The weights of a head in training; with the identity as values, its output is the weights after dropout."""
    generator = torch.Generator().manual_seed(seed)
    q, k = (torch.randn(tokens, 8, generator=generator) for _ in range(2))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        head = attend(q, k, torch.eye(tokens), dropout=rate)
        many = torch.stack([attend(q, k, torch.eye(tokens), dropout=rate).output for _ in range(DRAWS)])
    kept = head.output
    zeros = int((kept == 0).sum())
    return (
        row(
            weights_matrix("weights", head.weights),
            weights_matrix("after dropout", kept, before="→", crossed=kept == 0),
            question=choose(
                "Will the rows still add up to 1 after dropout?",
                ("Yes, each of them", "No, only on average"),
                1 if rate else 0,
            ),
        ),
        BarsView(
            title=f"Row sums: once, and the mean of {DRAWS} draws",
            labels=tuple(f"row {index + 1}" for index in range(tokens)),
            series={"once": kept.sum(-1), "mean": many.sum(-1).mean(0)},
        ),
        f"{zeros} of {tokens * tokens} weights became 0, and the others were multiplied by {1 / (1 - rate):.2f} = 1 / "
        f"(1 − {digits(rate, 6)}). A row adds up to 1 only on average. Nothing is dropped when a model is used after "
        "training.",
    )


DROPOUT = Screen(
    title="Dropout on the weights",
    lesson="In training, some weights are set to 0 at random, so that no token relies on a single other one. The "
    "others are multiplied by 1 / (1 − p), which keeps the mean of the output. This happens after the softmax, so rows "
    "no longer add up to 1.",
    controls={
        "rate": NumberControl("Dropout p", "0.3", 0, 0.9, step=0.05),
        "tokens": CountControl("Tokens", "5", 2, 6),
        "seed": SeedControl(),
    },
    compute=dropped_weights,
    formulas=(r"a'_{ij} = \frac{z_{ij}}{1 - p}\, a_{ij},\quad \mathrm{E}[a'_{ij}] = a_{ij}",),
    code=(Attention.weighted_sum, dropped_weights, attend),
)
