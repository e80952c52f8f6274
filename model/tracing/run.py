"""The door to the model: run() -> Trace, one forward pass and all it did."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from model.config import Config
from model.errors import EditError, PictureError, TextError
from model.nn.hooks import Interest, Tap, interest, rows
from model.nn.sites import PAIRED
from model.nn.transformer import Transformer
from model.text.tokenizer import Encoded, Tokenizer
from model.tracing.interventions import Edits, Intervention
from model.tracing.trace import Trace
from model.vision.image import View
from model.vision.patches import Patched, numbers, patched, pixels

LONGEST = 200_000  # characters; past it nobody waits for the tokenizer
BUDGET = 512 << 20  # bytes that the paired values of a trace may take, unless they are asked for by name
# What is kept of a long text: enough to make everything else again (model/again.py).
SEEDS = ("*.self.input", "*.cross.input", "*.residual", "*.final")
Edit = Intervention | str


class Record:
    """The tap that keeps what it sees, for paths that match one of `keep` (all, where that is None)."""

    def __init__(self, inner: Tap, keep: Sequence[str] | None) -> None:
        self.inner, self.keep = inner, None if keep is None else _pattern(tuple(keep))
        self.values: dict[str, Tensor] = {}

    def __call__(self, path: str, value: Tensor) -> Tensor:
        """The value after `inner` had its turn, unchanged."""
        value = self.inner(path, value)
        if self._keeps(path):
            self.values[path] = value
        return value

    def interest(self, path: str) -> Interest:
        """All of what is kept; of everything else what `inner` wants."""
        return Interest.WHOLE if self._keeps(path) else interest(self.inner, path)

    def rows(self, start: int, total: int) -> Tap:
        """Nothing is kept of values that come a few rows at a time."""
        return rows(self.inner, start, total)

    def _keeps(self, path: str) -> bool:
        return self.keep is None or self.keep.match(path) is not None

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything kept, without the batch axis."""
        return {path: _array(value) for path, value in self.values.items()}


@lru_cache(maxsize=256)
def _pattern(keep: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for all patterns: every value of every forward is asked about, letter after letter typed."""
    return re.compile("|".join(map(translate, keep)) or r"(?!)")


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
    text: str | View,
    interventions: Sequence[Edit] = (),
    *,
    source: str | None = None,
    masked: Sequence[int] = (),
    keep: Sequence[str] | None = None,
) -> Trace:
    """One forward pass over a text, or over a picture as the model sees it, with edits, and all it did on the way.

    An encoder-decoder reads `source` with its encoder and `text` (which may be empty) with its decoder; one that
    classifies reads the source with both where there is no text. `masked`
    lists positions whose token is replaced by the mask token; `keep` patterns of paths to record. Without any, all is
    kept, or for a text whose pairs of tokens would take more than BUDGET what they can be made from again (SEEDS).
    Raises TextError for a text, PictureError for a picture, EditError for an edit that cannot be.
    """
    if model.config.top == "sequence-classifier":
        text = text or source or ""
    encoded = hide(encode(model, tokenizer, text), masked, tokenizer)
    read = read_source(model, tokenizer, source)
    edits = Edits(parsed(interventions))
    if keep is None and pairs(model.config, encoded, read) > BUDGET:
        keep = SEEDS
    record = Record(edits, keep)
    seen, ids = look(encoded, model), tensor(encoded, model)
    # Logits of a long text take more than all else: they are made only where somebody wants them.
    wanted = interest(record, "logits") is not Interest.NONE
    forward = model if wanted else model.hidden
    forward(ids, pixels=seen, source=tensor(read, model) if read else None, tap=record)
    edits.require_all()
    return Trace(model.config, encoded, read, record.arrays(), tuple(map(str, edits.interventions)))


def pairs(config: Config, text: Encoded, source: Encoded | None, sites: int = len(PAIRED)) -> int:
    """How many bytes all values of pairs of tokens would take, in every layer and head."""
    there, here = len(source.ids) if source else 0, len(text.ids)
    cells = config.heads * config.layers * here * (here + there)
    return 4 * sites * (cells + (config.of("encoder").heads * config.depth("encoder") * there**2 if there else 0))


def encode(model: Transformer, tokenizer: Tokenizer, text: str | View) -> Encoded:
    """The text, or the patches of a picture, as the model's answering stack reads it.

    Raises TextError where a text is empty or too long, or the model reads pictures, PictureError the other way round.
    """
    if isinstance(text, View):
        if not model.config.picture.channels:
            raise PictureError("This model reads texts; it has no use for a picture.")
        return patched(text, model.config.picture, tokenizer.describe((model.config.start_token,), ""))
    if model.config.picture.channels:
        raise TextError("This model reads pictures, not texts; give it one (on the command line: --image FILE).")
    _check_text(text, may_be_empty=model.config.has_cross)
    if not model.config.has_cross:
        return tokenizer.encode(text)
    start = tokenizer.describe((model.config.start_token,), "")
    if model.config.top == "sequence-classifier":  # its decoder reads a text as the encoder does, one place later
        return _joined(start, _but_last(tokenizer.encode(text)))
    return _joined(start, tokenizer.written.encode(text, special=False))


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


def parsed(edits: Sequence[Edit]) -> tuple[Intervention, ...]:
    """Edits that may still be in their text form."""
    return tuple(edit if isinstance(edit, Intervention) else Intervention.parse(edit) for edit in edits)


def _check_text(text: str, may_be_empty: bool = False) -> None:
    if not may_be_empty and not text.strip():
        raise TextError("The text is empty; type a sentence.")
    if len(text) > LONGEST:
        raise TextError(f"The text has {len(text):,} characters; at most {LONGEST:,} are read. Shorten it.")


def read_source(model: Transformer, tokenizer: Tokenizer, source: str | None) -> Encoded | None:
    """The source as the encoder reads it; None for a model of one stack. Raises TextError where the two do not fit."""
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


def hide(encoded: Encoded, masked: Sequence[int], tokenizer: Tokenizer) -> Encoded:
    """The same text with mask tokens at some positions. Raises TextError or EditError where there can be none."""
    if not masked:
        return encoded
    if isinstance(encoded, Patched):
        raise PictureError("Patches of a picture cannot be masked: no token stands for a hidden one.")
    if tokenizer.mask_id is None:
        raise TextError("This model has no mask token, so no word of the text can be masked.")
    ids = list(encoded.ids)
    for place in masked:
        if not 0 <= place < len(ids):
            raise EditError(f"There is no token {place} to mask: the text has {len(ids)}, counted from 0.")
        ids[place] = tokenizer.mask_id
    return tokenizer.describe(ids, encoded.text, encoded.spans)


def _but_last(encoded: Encoded) -> Encoded:
    """Without the last token; the text is the same."""
    ids, tokens, pieces = encoded.ids[:-1], encoded.tokens[:-1], encoded.pieces[:-1]
    return Encoded(encoded.text, ids, tokens, pieces, encoded.spans[:-1], encoded.special[:-1])


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


def tensor(encoded: Encoded, model: Transformer) -> Tensor:
    """The token numbers as a batch of one, where the model is. Raises TextError for numbers that it does not know."""
    ids, size = numbers(encoded), model.config.vocabulary
    if not ids:
        raise TextError("No token is left of this text; type a sentence.")
    if max(ids) >= size:
        raise TextError(f"The tokenizer gave the number {max(ids)}, but the model knows {size} tokens.")
    return torch.tensor([ids], device=model.device)


def look(encoded: Encoded, model: Transformer) -> Tensor | None:
    """The pixels of a picture as a batch of one, where the model is; None with a text."""
    seen = pixels(encoded)
    return None if seen is None else torch.tensor(seen, device=model.device)[None]


def _array(value: Tensor) -> np.ndarray:
    single = value.detach()[0]
    return (single.float() if single.is_floating_point() else single).cpu().numpy()
