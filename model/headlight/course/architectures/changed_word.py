"""A word of a sentence is exchanged: which vectors of an encoder and of a decoder are others then."""

from __future__ import annotations

import re

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.checkpoints.load import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.pictures import MatrixPicture, row, verdict_row
from headlight.course.question_kinds import Question
from headlight.course.questions import choose
from headlight.course.screen import Answer, Screen, compare_link, link
from headlight.course.sentences import value
from headlight.errors import InputError
from headlight.nn.masks import causal
from headlight.text.tokenizer import Encoded
from headlight.tracing.run import run

SAME = 1e-4  # differences below this share of a vector's length are rounding of 32 bits


def changed_word(encoder: Checkpoint, decoder: Checkpoint, one: str, other: str) -> Answer:
    """How far each word's last vector is from the word in the same place of the other sentence, under both models."""
    words, changed = _words(one, other)
    distances = torch.stack([vector_distances(model, one, other) for model in (encoder, decoder)])
    before = distances[:, : changed[0]]
    moved = [int((line > SAME).sum()) for line in distances]
    return (
        row(
            MatrixPicture(
                title="How far each word's last vector has moved",
                values=distances,
                rows=("encoder", "decoder"),
                columns=words,
                marked=tuple((line, at) for line in range(2) for at in changed),
                note="As a share of the vector's length. The exchanged words are framed.",
            ),
            question=_question(len(words), len(changed), moved[1]),
        ),
        verdict_row(
            f"{moved[0]} of {len(words)} vectors of the encoder moved, {moved[1]} of the decoder's. Before "
            f"the first exchanged word the decoder's differ by {_largest(before[1]):.1g}: they were made before "
            "that word arrived, so their keys and values can be kept while the decoder writes. An "
            "encoder would have to read everything anew for each word."
        ),
    )


def _question(words: int, changed: int, moved: int) -> Question:
    options = sorted({0, changed, moved, words})
    text = f"Exchanged words: {changed} of {words}. How many of the decoder's vectors move?"
    return choose(text, tuple(map(str, options)), options.index(moved))


def _largest(numbers: Tensor) -> float:
    return float(numbers.max()) if len(numbers) else 0.0


@torch.inference_mode()
def vector_distances(model: Checkpoint, one: str, other: str) -> Float[Tensor, " word"]:
    """How far apart the vectors are that stand for each word (at its last token), relative to their length."""
    vectors = []
    for text in (one, other):
        trace = run(model.model, model.tokenizer, text, keep=("*.final_residual",))
        final = value(trace, f"{trace.config.stacks[-1]}.final_residual")
        vectors.append(final[last_tokens(trace.text)])
    longest = torch.maximum(*(each.norm(dim=-1) for each in vectors)).clamp(min=torch.finfo(torch.float32).tiny)
    distances: Tensor = (vectors[0] - vectors[1]).norm(dim=-1) / longest
    return distances


def last_tokens(text: Encoded) -> list[int]:
    """The position of each word's last token, where words are what stands between spaces. Raises InputError."""
    found = []
    for word in re.finditer(r"\S+", text.text):
        inside = [at for at, (first, end) in enumerate(text.offsets) if first < word.end() and end > word.start()]
        if not inside:
            raise InputError(f"The tokenizer makes nothing of {word.group()[:30]!r}. Type another word.")
        found.append(inside[-1])
    return found


def _words(one: str, other: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The words of the first sentence, and which of them the second one exchanges. Raises InputError."""
    words, others = one.split(), other.split()
    if len(words) != len(others):
        raise InputError(
            f"The sentences have {len(words)} and {len(others)} words. Only exchange words, so that both have as many."
        )
    changed = tuple(at for at, (a, b) in enumerate(zip(words, others, strict=True)) if a != b)
    if not changed:
        raise InputError("The sentences are the same. Exchange a word of the second one.")
    return tuple(words), changed


CHANGED_WORD = Screen(
    title="Exchange a word: whose vectors move?",
    lesson="An encoder makes each vector from the whole text, so a word at the end changes what the first words mean. "
    "A decoder's vectors depend only on their own token and those before it: good for writing on, but they know less "
    "of a text that is already complete. Both sentences are run under both models.",
    controls={
        "encoder": ModelControl(title="Encoder", default="stories-masked", needs="encoder"),
        "decoder": ModelControl(title="Decoder", default="stories-causal", needs="decoder"),
        "one": TextControl(title="One sentence", default="He sat by the bank of the river"),
        "other": TextControl(title="With other words", default="He sat by the bank of the city"),
    },
    compute=changed_word,
    formulas=(r"\text{decoder: } x_i = f(w_1 \ldots w_i)", r"\text{encoder: } x_i = f(w_1 \ldots w_n)"),
    code=(vector_distances, causal),
    explore=link(model="encoder", text="one"),
    elsewhere={"compare": compare_link(link(model="decoder", text="one"), link(text="other"))},
)
