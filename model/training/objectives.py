"""Objectives: what a batch of text looks like, and what the model is asked about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from model.array_types import Bool, Float, Int, Shaped
from model.data.corpus import Tokens
from model.errors import DataError
from model.registry import Registry
from model.text.tokenizer import Tokenizer
from model.text.tokenizer_training import DOCUMENT_SPECIAL, MASKED_SPECIAL

UNASKED = -100  # a target that nobody is asked for


@dataclass(frozen=True)
class Batch:
    """Rows of tokens and what is asked about them: `targets` is UNASKED where nothing is."""

    ids: Int[Tensor, "row pos"]
    targets: Int[Tensor, "row pos"]
    mask: Bool[Tensor, "row 1 pos pos"] | None = None

    @property
    def asked(self) -> int:
        """How many tokens are asked for."""
        return int((self.targets != UNASKED).sum())

    def split(self, rows: int) -> Iterator[Batch]:
        """The same rows in batches of at most `rows`."""
        for at in range(0, len(self.ids), rows):
            part = slice(at, at + rows)
            yield Batch(self.ids[part], self.targets[part], None if self.mask is None else self.mask[part])

    def to(self, device: torch.device) -> Batch:
        """The same on another device."""
        mask = None if self.mask is None else self.mask.to(device)
        return Batch(self.ids.to(device), self.targets.to(device), mask)


@runtime_checkable
class Objective(Protocol):
    """What the loop asks of an objective; `config` are the Config fields that it decides."""

    config: ClassVar[dict[str, Any]]
    kind: ClassVar[str]
    special: ClassVar[tuple[str, ...]]
    separated: ClassVar[bool]

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[Tokens], choices: dict[str, float]) -> None: ...

    def batch(self, generator: np.random.Generator, rows: int, context: int, height: float = 1.0) -> Batch:
        """A batch to learn from, of texts drawn by weight and length.

        `height` is where the schedule of the learning rate stands: 1 at its top, 0 once it has come down.
        """
        ...

    def held_out(self, text: Tokens, rows: int, context: int) -> Batch:
        """A batch to measure on: always the same."""
        ...


def shares(texts: Sequence[Tokens]) -> Float[np.ndarray, " text"]:
    """How likely a row comes from each text: its length times its weight."""
    tokens = np.array([len(text.ids) * text.weight for text in texts], dtype=np.float64)
    share: np.ndarray = tokens / tokens.sum()
    return share


class Causal:
    """Which token comes next, at every position."""

    config: ClassVar[dict[str, Any]] = {"architecture": "decoder", "top": "language", "masks": ("causal",)}
    kind: ClassVar[str] = "bpe"
    special: ClassVar[tuple[str, ...]] = DOCUMENT_SPECIAL
    separated: ClassVar[bool] = True

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[Tokens], choices: dict[str, float]) -> None:
        if tokenizer.start_id is None:
            raise DataError("The causal objective needs a token that begins a text, such as <|endoftext|>.")
        self.start, self.texts, self.shares = tokenizer.start_id, texts, shares(texts)
        self.line_starts = choices.get("line_starts", 0.0)

    def batch(self, generator: np.random.Generator, rows: int, context: int, height: float = 1.0) -> Batch:
        """Windows from anywhere in the texts.

        A share `line_starts` of them begins as a text that somebody types does: with the start token, then a line.
        """
        which = generator.choice(len(self.texts), size=rows, p=self.shares)
        where, fresh = generator.random(rows), generator.random(rows) < self.line_starts
        windows = np.empty((rows, context + 1), dtype=np.int64)
        for row, (text, share, begins) in enumerate(zip(which, where, fresh, strict=True)):
            windows[row] = self._window(self.texts[text], float(share), bool(begins), context + 1)
        return _next(windows)

    def _window(self, text: Tokens, share: float, begins: bool, size: int) -> Shaped[np.ndarray, " size"]:
        last = len(text.ids) - size  # the last place where a window fits
        if last < 0:
            raise DataError(
                f"The text {text.name} has {len(text.ids)} tokens; a window takes {size}. "
                "Use a longer text or a shorter context."
            )
        if not begins:
            at = int(share * (last + 1))
            return text.ids[at : at + size]
        fitting = max(1, int(np.searchsorted(text.lines, last, side="right")))
        at = int(text.lines[int(share * fitting)])
        window = np.concatenate(([self.start], text.ids[at : at + size - 1]))
        return window if len(window) == size else text.ids[last:]

    def held_out(self, text: Tokens, rows: int, context: int) -> Batch:
        """Windows side by side, or spread evenly over a text that has more of them; a short text is one row."""
        size = min(context, len(text.ids) - 1) + 1
        fitting = max(1, (len(text.ids) - 1) // context)
        at = np.unique(np.linspace(0, fitting - 1, min(rows, fitting)).round().astype(np.int64)) * context
        return _next(text.ids[at[:, None] + np.arange(size)].astype(np.int64))


def _next(windows: Int[np.ndarray, "row size"]) -> Batch:
    tensor = torch.from_numpy(windows)
    return Batch(tensor[:, :-1].contiguous(), tensor[:, 1:].contiguous())


class Masked:
    """Which tokens were masked: a share `mask_rate` is asked for, and `last_mask_rate` at the run's end.

    Many gaps teach much at a time, few are what people ask about: the share falls with the learning rate
    (Ankner et al. 2024 let it fall all the time).

    Of these 90 % show [MASK], 5 % a random token, 5 % themselves. BERT's 80, 10 and 10 % (Devlin et al. 2019) are
    made for models that are fine-tuned; one that is to fill gaps learns more from gaps (Wettig et al. 2023).
    A row holds several segments `[CLS] ... [SEP]`, each from a sentence's or line's start, and none sees another.
    """

    config: ClassVar[dict[str, Any]] = {"architecture": "encoder", "top": "masked-language", "masks": ()}
    kind: ClassVar[str] = "wordpiece"
    special: ClassVar[tuple[str, ...]] = MASKED_SPECIAL
    separated: ClassVar[bool] = False
    shortest: ClassVar[int] = 8  # tokens: a gap at a row's end that is smaller stays padding

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[Tokens], choices: dict[str, float]) -> None:
        ids = (tokenizer.start_id, tokenizer.end_id, tokenizer.mask_id)
        if None in ids:
            raise DataError("The masked objective needs the tokens [CLS], [SEP] and [MASK] in the vocabulary.")
        self.start, self.end, self.mask = (int(number) for number in ids if number is not None)
        self.pad = self.end if tokenizer.pad_id is None else tokenizer.pad_id
        self.ordinary = np.array(sorted(set(range(tokenizer.size)) - tokenizer.specials))
        self.special_ids = np.isin(np.arange(tokenizer.size), self.ordinary, invert=True)
        self.rate = choices.get("mask_rate", 0.15)
        self.last_rate = choices.get("last_mask_rate", 0.0) or self.rate
        self.marks = _marks(tokenizer)
        self.bare = _bare(tokenizer)
        self.texts, self.shares = texts, shares(texts)
        self.starts = [_starts(text, *self.marks) for text in texts]

    def batch(self, generator: np.random.Generator, rows: int, context: int, height: float = 1.0) -> Batch:
        """Segments drawn by weight, packed into rows; tokens masked anew each time."""
        ids, parts = self._packed(self.texts, self.starts, self.shares, generator, rows, context)
        rate = self.last_rate + (self.rate - self.last_rate) * height
        return self._asked(ids, parts, generator, rate, (0.9, 0.05))

    def held_out(self, text: Tokens, rows: int, context: int) -> Batch:
        """A fixed draw of segments and masks; every token that is asked for shows [MASK]."""
        generator = np.random.default_rng(1)
        rows = max(1, min(rows, len(text.ids) // context))
        starts = [_starts(text, *self.marks)]
        ids, parts = self._packed([text], starts, np.ones(1), generator, rows, context)
        return self._asked(ids, parts, generator, self.rate, (1.0, 0.0))

    def _packed(
        self,
        texts: Sequence[Tokens],
        starts: Sequence[np.ndarray],
        share: Float[np.ndarray, " text"],
        generator: np.random.Generator,
        rows: int,
        context: int,
    ) -> tuple[Int[np.ndarray, "row pos"], Int[np.ndarray, "row pos"]]:
        """Rows full of segments, and the number of the segment that each place belongs to (-1 for padding)."""
        ids = np.full((rows, context), self.pad, dtype=np.int64)
        parts = np.full((rows, context), -1, dtype=np.int64)
        row = column = 0
        for number, (text, where, length) in enumerate(_draws(generator, share, self.shortest, context)):
            tokens = _segment(texts[text], starts[text], where, length, context - column - 2)
            end = column + len(tokens) + 2
            ids[row, column], ids[row, end - 1] = self.start, self.end
            ids[row, column + 1 : end - 1] = tokens
            ids[row, column + 1] = self.bare[tokens[0]]
            parts[row, column:end] = number
            column = end
            if context - column < self.shortest:
                row, column = row + 1, 0
                if row == rows:
                    break
        return ids, parts

    def _asked(
        self,
        ids: Int[np.ndarray, "row pos"],
        parts: Int[np.ndarray, "row pos"],
        generator: np.random.Generator,
        rate: float,
        how: tuple[float, float],
    ) -> Batch:
        """Asks for a share `rate` of the tokens; of these a share how[0] shows [MASK], how[1] a random ordinary one."""
        able = np.flatnonzero((parts >= 0) & ~self.special_ids[ids])
        count = max(1, round(rate * len(able)))
        if not len(able):
            raise DataError("The texts hold no word that could be masked.")
        chosen = generator.choice(able, size=min(count, len(able)), replace=False, shuffle=True)
        targets = np.full(ids.shape, UNASKED, dtype=np.int64)
        targets.flat[chosen] = ids.flat[chosen]
        masked = round(how[0] * len(chosen))
        swapped = round(how[1] * len(chosen))
        ids.flat[chosen[:masked]] = self.mask
        ids.flat[chosen[masked : masked + swapped]] = generator.choice(self.ordinary, size=swapped)
        numbers = torch.from_numpy(parts)
        together = numbers[:, None, :, None] == numbers[:, None, None, :]
        return Batch(torch.from_numpy(ids), torch.from_numpy(targets), together)


def _draws(
    generator: np.random.Generator, share: np.ndarray, shortest: int, context: int
) -> Iterator[tuple[int, float, int]]:
    """Without end: from which text, from where in it (0 to 1), and how many tokens.

    Short ones are drawn as often as long ones (log-uniform), because people type single sentences.
    """
    while True:
        which = generator.choice(len(share), size=256, p=share)
        where = generator.random(256)
        longest = np.log(max(shortest, context - 1))
        lengths = np.exp(generator.uniform(np.log(shortest), longest, 256)).astype(np.int64)
        yield from zip(which.tolist(), where.tolist(), lengths.tolist(), strict=True)


def _marks(tokenizer: Tokenizer) -> tuple[Bool[np.ndarray, " token"], Bool[np.ndarray, " token"]]:
    """Which tokens end a sentence, and which may begin one: a capital letter."""
    pieces = [tokenizer.readable(number) for number in range(tokenizer.size)]
    ends = np.array([piece in (".", "!", "?") for piece in pieces])
    return ends, np.array([piece[:1].isupper() for piece in pieces])


def _bare(tokenizer: Tokenizer) -> Int[np.ndarray, " token"]:
    """Each token without the space it carries in front, where there is such a token: nobody types one first."""
    pieces = [tokenizer.piece(number) for number in range(tokenizer.size)]
    numbers = {piece: number for number, piece in enumerate(pieces)}
    return np.array([numbers.get(piece[1:], at) if piece[:1] == " " else at for at, piece in enumerate(pieces)])


def _starts(text: Tokens, ends: np.ndarray, capital: np.ndarray) -> Int[np.ndarray, " start"]:
    """Where a segment may begin: at each line and each sentence."""
    ids = np.asarray(text.ids)
    sentences = 1 + np.flatnonzero(ends[ids[:-1]] & capital[ids[1:]])
    return np.union1d(text.lines, sentences)


def _segment(text: Tokens, starts: np.ndarray, share: float, length: int, room: int) -> np.ndarray:
    """Whole sentences, as many as `length` tokens hold but at least one, cut where `room` ends."""
    first = int(share * len(starts))
    begin = int(starts[first])
    after = min(int(np.searchsorted(starts, begin + length, side="right")) - 1, len(starts) - 1)
    end = int(starts[after]) if after > first else int(starts[first + 1]) if first + 1 < len(starts) else len(text.ids)
    following = int(np.searchsorted(text.documents, begin, side="right"))
    if following < len(text.documents):
        end = min(end, int(text.documents[following]))
    return text.ids[begin : min(end, begin + max(1, room))]


OBJECTIVES: Registry[type[Objective]] = Registry("objective", {"causal": Causal, "masked": Masked})
