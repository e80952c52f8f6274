"""Writing: generate() goes on with a text token by token, fill() puts words in the place of masks.

Each step is a Trace. A Writer's step depends on nothing but what it is given, so that one may go back to any step and
on from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from secrets import randbelow

import torch
from torch import Tensor

from model.errors import TextError
from model.generation.sampling import Rule
from model.nn.hooks import Tap
from model.nn.kv_cache import Cache
from model.nn.masks import extended
from model.nn.sites import site_of
from model.nn.transformer import Transformer
from model.nn.variants import variant
from model.text.tokenizer import Encoded, Tokenizer
from model.tracing.interventions import Edits, Intervention
from model.tracing.run import Edit, Record, encode, parsed, read_source, tensor
from model.tracing.trace import Trace


class Rows(Record):
    """The tap that keeps of queries, weights and scores of the answering stack only the rows of some places."""

    def __init__(self, inner: Tap, keep: Sequence[str] | None, stack: str, places: Sequence[int]) -> None:
        super().__init__(inner, keep)
        self.stack, self.places = stack, list(places)

    def __call__(self, path: str, value: Tensor) -> Tensor:
        """The value after `inner` had its turn, unchanged."""
        value = super().__call__(path, value)
        if path in self.values and path.startswith(f"{self.stack}.") and "query" in site_of(path).axes:
            self.values[path] = value[:, :, self.places]
        return value


@dataclass(frozen=True)
class Kept:
    """What one attention keeps of the tokens read: keys and values of its key/value heads, `width` bytes a number."""

    path: str
    heads: int
    positions: int
    key_channels: int
    value_channels: int
    width: int

    @property
    def bytes(self) -> int:
        """All of it, in bytes."""
        return prod((self.heads, self.positions, self.key_channels + self.value_channels, self.width))


@dataclass(frozen=True, eq=False)
class Past:
    """What was read: token numbers, their keys and values by attention, and what the encoder made of the source.

    Nothing in it ever changes: reading on makes a new one, so that several continuations may begin with the same.
    """

    ids: tuple[int, ...]
    pairs: Mapping[str, tuple[Tensor, Tensor]]
    memory: Tensor | None = None

    def upto(self, length: int) -> Past:
        """The same as it was after the first `length` tokens, where no token sees a later one."""
        pairs = {path: (k[:, :, :length], v[:, :, :length]) for path, (k, v) in self.pairs.items()}
        return Past(self.ids[:length], pairs, self.memory)

    def kept(self) -> tuple[Kept, ...]:
        """How much each attention keeps."""
        return tuple(
            Kept(path, k.shape[1], k.shape[2], k.shape[3], v.shape[3], k.element_size())
            for path, (k, v) in self.pairs.items()
        )

    @property
    def bytes(self) -> int:
        """The memory that holds it, in bytes."""
        return sum(kept.bytes for kept in self.kept())


@dataclass(frozen=True, eq=False)
class Step(Trace):
    """One step of writing: the rows of the tokens read in it (`start` is the first), and the token then chosen.

    `place` is the position that `chosen` is for: the next one, or that of a mask.
    """

    start: int = 0
    place: int = 0
    chosen: int = 0


@dataclass(frozen=True)
class Writer:
    """A model at writing: what it begins with, its edits, how it draws, and which paths each step keeps.

    With `asking` a step keeps of pairs of tokens only the row of the token that asks for the next, the last one.
    """

    model: Transformer
    tokenizer: Tokenizer
    text: Encoded
    source: Encoded | None
    edits: tuple[Intervention, ...]
    rule: Rule
    keep: tuple[str, ...] | None = None
    asking: bool = False

    @classmethod
    def begin(
        cls,
        model: Transformer,
        tokenizer: Tokenizer,
        text: str,
        interventions: Sequence[Edit] = (),
        *,
        source: str | None = None,
        rule: Rule = Rule(),
        keep: Sequence[str] | None = None,
        asking: bool = False,
    ) -> Writer:
        """Raises TextError for a text that cannot be read, or a model that does not write."""
        if model.config.top != "language":
            raise TextError("This model does not continue a text: it has no next-token head.")
        encoded, read = encode(model, tokenizer, text), read_source(model, tokenizer, source)
        kept = None if keep is None else tuple(keep)
        return cls(model, tokenizer, encoded, read, parsed(interventions), rule, kept, asking)

    @property
    def remembers(self) -> bool:
        """Whether keys and values of earlier tokens stay as they are: no token sees a later one, no edit mixes them."""
        return "causal" in self.model.config.masks and all(edit.one_row for edit in self.edits)

    def read(self, written: Sequence[int] = ()) -> Encoded:
        """The text with the tokens written so far."""
        if not written:
            return self.text
        pieces = _pieces(self.model, self.tokenizer, written)
        whole = self.tokenizer.describe((*self.text.ids, *written), self.text.text + pieces)
        return replace(whole, pieces=self.text.pieces + whole.pieces[len(self.text.pieces) :])

    @torch.inference_mode()
    def step(self, written: Sequence[int] = (), past: Past | None = None) -> tuple[Step, Past]:
        """The step after `written`, and what is then remembered.

        With a past (of a beginning of the text) only the tokens after it are read; all of them where a token may see
        later ones, or an edit mixes tokens. A custom mask grows with the text: see `masks.extended`.
        """
        text = self.read(written)
        cache = Cache(len(past.ids), dict(past.pairs)) if past and self.remembers else Cache()
        start, edits = cache.length, Edits(self.edits, cache.length)
        record = Rows(edits, self.keep, self.model.config.stacks[-1], [-1]) if self.asking else Record(edits, self.keep)
        memory = past.memory if past else None
        model = _grown(self.model, len(self.text.ids), len(text.ids))
        if self.source is not None and memory is None:
            memory = model.encode(tensor(self.source, model), tap=record)
        ids = tensor(text, model)[:, start:]
        hidden = model.hidden(ids, memory=memory, tap=record, cache=cache if self.remembers else None)
        logits = record("logits", model.top(hidden))
        if past is None:
            edits.require_all()
        chosen = self.rule.throw(logits[0, -1].float().cpu().numpy(), len(written)).chosen
        place, names = len(text.ids), tuple(map(str, self.edits))
        arrays = record.arrays()
        made = Step(model.config, text, self.source, arrays, names, start=start, place=place, chosen=chosen)
        return made, Past(text.ids, cache.pairs, memory)

    def ended(self, step: Step) -> bool:
        """Whether nothing follows a step: it ends the text, or the model reads no longer one."""
        return step.chosen == self.tokenizer.end_id or step.place >= self.model.config.context


def generate(
    model: Transformer,
    tokenizer: Tokenizer,
    text: str,
    interventions: Sequence[Edit] = (),
    *,
    source: str | None = None,
    steps: int = 32,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    keep: Sequence[str] | None = None,
) -> Iterator[Step]:
    """Token after token, each drawn by a Rule; ends at the end token or the context's end.

    Keys and values of earlier tokens are kept where they stay what they are (`Writer.remembers`), so that a step
    reads one token.
    """
    rule = Rule(temperature, top_k, top_p, randbelow(2**63) if seed is None else seed)
    writer = Writer.begin(model, tokenizer, text, interventions, source=source, rule=rule, keep=keep)
    written: tuple[int, ...] = ()
    past: Past | None = None
    for _ in range(steps):
        step, past = writer.step(written, past)
        yield step
        if writer.ended(step):
            return
        written = (*written, step.chosen)


def _pieces(model: Transformer, tokenizer: Tokenizer, numbers: Sequence[int]) -> str:
    """What tokens stand for; a model may know more numbers than have a token. Raises TextError for any others."""
    for number in numbers:
        if not 0 <= number < model.config.vocabulary:
            last = model.config.vocabulary - 1
            raise TextError(f"There is no token {number}: the vocabulary has the numbers 0 to {last}.")
    return "".join(map(tokenizer.piece, numbers))


def _grown(model: Transformer, begun: int, length: int) -> Transformer:
    """The model with its custom masks as large as the text has become since it had `begun` tokens."""
    masks = tuple(extended(mask, begun, length) for mask in model.config.masks)
    return model if masks == model.config.masks else variant(model, masks=masks)
