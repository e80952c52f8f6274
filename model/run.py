"""The only door to the model: run() -> Trace, generate() -> Iterator[Trace]."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np
import torch
from torch import Tensor

from model.errors import EditError, TextError
from model.intervention import EDITS, Edits, Intervention
from model.stack import Cache
from model.tokenizer import Encoded, Tokenizer
from model.trace import Tap, Trace
from model.transformer import Transformer

LONGEST = 200_000  # characters; past it nobody waits for the tokenizer
Edit = Intervention | str


class Record:
    """The tap that keeps what it sees, for paths that match one of `keep` (all, where that is None)."""

    def __init__(self, inner: Tap, keep: Sequence[str] | None) -> None:
        self.inner, self.keep = inner, keep
        self.values: dict[str, Tensor] = {}

    def __call__(self, path: str, value: Tensor) -> Tensor:
        """The value after `inner` had its turn, unchanged."""
        value = self.inner(path, value)
        if self.keep is None or any(fnmatchcase(path, pattern) for pattern in self.keep):
            self.values[path] = value
        return value

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything kept, without the batch axis."""
        return {path: _array(value) for path, value in self.values.items()}


@dataclass(frozen=True)
class Candidate:
    """One possible token: as a reader would see it, its number, and its share of the whole vocabulary."""

    token: str
    id: int
    probability: float


@torch.inference_mode()
def run(
    model: Transformer,
    tokenizer: Tokenizer,
    text: str,
    interventions: Sequence[Edit] = (),
    *,
    source: str | None = None,
    masked: Sequence[int] = (),
    keep: Sequence[str] | None = None,
) -> Trace:
    """One forward pass over a text, with edits, and all it did on the way.

    An encoder-decoder reads `source` with its encoder and `text` (which may be empty) with its decoder. `masked`
    lists positions whose token is replaced by the mask token; `keep` patterns of paths to record (None: all).
    Raises TextError for a text, EditError for an edit that cannot be.
    """
    encoded = _hide(encode(model, tokenizer, text), masked, tokenizer)
    read = _source(model, tokenizer, source)
    edits = Edits(_parsed(interventions))
    record = Record(edits, keep)
    model(_tensor(encoded, model), source=_tensor(read, model) if read else None, tap=record)
    edits.require_all()
    return Trace(model.config, encoded, read, record.arrays(), tuple(map(str, edits.interventions)))


def encode(model: Transformer, tokenizer: Tokenizer, text: str) -> Encoded:
    """The text as the model's answering stack reads it. Raises TextError where it is empty or too long."""
    _check_text(text, may_be_empty=model.config.has_cross)
    if not model.config.has_cross:
        return tokenizer.encode(text)
    start = tokenizer.describe((model.config.start_token,), "")
    return _joined(start, tokenizer.encode(text, special=False))


def candidates(trace: Trace, tokenizer: Tokenizer, position: int = -1, top: int = 5) -> tuple[Candidate, ...]:
    """The likeliest tokens at a position, best first; probabilities are over the whole vocabulary."""
    probabilities = trace.probabilities(position)
    best = np.argsort(-probabilities, kind="stable")[:top]
    return tuple(Candidate(tokenizer.readable(int(token)), int(token), float(probabilities[token])) for token in best)


def asked(model: Transformer, tokenizer: Tokenizer, encoded: Encoded) -> tuple[int, ...]:
    """The positions whose prediction a person wants: each mask token, or the last token of a next-token model."""
    if model.config.top != "masked-language":
        return (len(encoded.ids) - 1,)
    return tuple(place for place, token in enumerate(encoded.ids) if token == tokenizer.mask_id)


@dataclass(frozen=True, eq=False)
class Step(Trace):
    """One step of generation: the rows of the tokens read in it (`start` is the first), and the token then chosen."""

    start: int = 0
    chosen: int = 0


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
    """Token after token, each drawn from the model's own probabilities; ends at the end token or the context's end.

    With temperature 0 the likeliest token is taken. `top_k` keeps the k likeliest tokens, `top_p` the fewest that hold
    that share (Holtzman et al. 2020, section 3.1). Keys and values of earlier tokens are kept, so a step reads
    one token; where a token may see later ones, or an edit mixes tokens, every step reads the whole text again.
    """
    if model.config.top != "language":
        raise TextError("This model does not continue a text: it has no next-token head.")
    draw = sampler(temperature, top_k, top_p, seed)
    encoded, read = encode(model, tokenizer, text), _source(model, tokenizer, source)
    edits = _parsed(interventions)
    cached = "causal" in model.config.masks and all(EDITS[edit.operation].one_row for edit in edits)
    cache, memory = Cache(), None
    for step in range(steps):
        start = cache.length if cached else 0
        with torch.inference_mode():
            tap = Edits(edits, start)
            record = Record(tap, keep)
            if read is not None and memory is None:
                memory = model.encode(_tensor(read, model), tap=record)
            ids = _tensor(encoded, model)[:, start:]
            hidden = model.hidden(ids, memory=memory, tap=record, cache=cache if cached else None)
            logits = record("logits", model.top(hidden))
            if step == 0:
                tap.require_all()
            chosen = draw(logits[0, -1].float().cpu())
        names = tuple(map(str, edits))
        yield Step(model.config, encoded, read, record.arrays(), names, start=start, chosen=chosen)
        if chosen == tokenizer.end_id or len(encoded.ids) >= model.config.context:
            return
        encoded = tokenizer.describe((*encoded.ids, chosen), encoded.text + tokenizer.piece(chosen))


def sampler(temperature: float, top_k: int | None, top_p: float | None, seed: int | None) -> Callable[[Tensor], int]:
    """Draws a token from logits, with a chance of its own: the same seed gives the same tokens."""
    if not temperature >= 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise TextError("temperature must be 0 or more, top_k at least 1, and top_p above 0 and at most 1.")
    generator = torch.Generator()
    generator.seed() if seed is None else generator.manual_seed(seed % 2**63)

    def draw(logits: Tensor) -> int:
        if temperature == 0:
            return int(logits.argmax())
        # The best logit becomes 0, so that even the smallest temperature makes nothing infinite but what has no chance.
        ranked, tokens = ((logits - logits.max()) / temperature).softmax(-1).sort(descending=True, stable=True)
        keep = torch.ones_like(ranked, dtype=torch.bool)
        if top_k is not None:
            keep[top_k:] = False
        if top_p is not None:
            keep &= ranked.cumsum(0) - ranked < top_p
        shares = ranked * keep
        return int(tokens[int(torch.multinomial(shares / shares.sum(), 1, generator=generator))])

    return draw


def _parsed(edits: Sequence[Edit]) -> tuple[Intervention, ...]:
    return tuple(edit if isinstance(edit, Intervention) else Intervention.parse(edit) for edit in edits)


def _check_text(text: str, may_be_empty: bool = False) -> None:
    if not may_be_empty and not text.strip():
        raise TextError("The text is empty; type a sentence.")
    if len(text) > LONGEST:
        raise TextError(f"The text has {len(text):,} characters; at most {LONGEST:,} are read. Shorten it.")


def _source(model: Transformer, tokenizer: Tokenizer, source: str | None) -> Encoded | None:
    if not model.config.has_cross:
        if source is not None:
            raise TextError("This model has one stack and reads one text; it takes no source.")
        return None
    _check_text(source or "")
    read = tokenizer.encode(source or "")
    if len(read.ids) > model.config.context:
        raise TextError(
            f"The source has {len(read.ids)} tokens; this model reads at most {model.config.context}. Shorten it."
        )
    return read


def _hide(encoded: Encoded, masked: Sequence[int], tokenizer: Tokenizer) -> Encoded:
    """The same text with mask tokens at some positions."""
    if not masked:
        return encoded
    if tokenizer.mask_id is None:
        raise TextError("This model has no mask token, so no word of the text can be masked.")
    ids = list(encoded.ids)
    for place in masked:
        if not 0 <= place < len(ids):
            raise EditError(f"There is no token {place} to mask: the text has {len(ids)}, counted from 0.")
        ids[place] = tokenizer.mask_id
    hidden = tokenizer.describe(ids, encoded.text)
    return replace(hidden, spans=encoded.spans)


def _joined(first: Encoded, second: Encoded) -> Encoded:
    """Two encoded texts one after the other; the text is the second's."""
    return Encoded(
        second.text,
        first.ids + second.ids,
        first.tokens + second.tokens,
        first.pieces + second.pieces,
        first.spans + second.spans,
        first.special + second.special,
    )


def _tensor(encoded: Encoded, model: Transformer) -> Tensor:
    size = model.config.vocabulary
    if not encoded.ids:
        raise TextError("No token is left of this text; type a sentence.")
    if max(encoded.ids) >= size:
        raise TextError(f"The tokenizer gave the number {max(encoded.ids)}, but the model knows {size} tokens.")
    return torch.tensor([encoded.ids], device=model.device)


def _array(value: Tensor) -> np.ndarray:
    single = value.detach()[0]
    return (single.float() if single.is_floating_point() else single).cpu().numpy()
