"""Filling masks: one mask token after the other is replaced by a sampled token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from model.errors import TextError
from model.generation.generate import Rows, Step, _pieces
from model.generation.sampling import Rule
from model.nn.sites import site_of
from model.nn.transformer import Transformer
from model.text.tokenizer import Encoded, Tokenizer
from model.tracing.interventions import Edits
from model.tracing.run import Edit, Record, encode, hide, parsed, tensor


def gaps(
    model: Transformer,
    tokenizer: Tokenizer,
    text: str,
    masked: Sequence[int] = (),
    filled: Mapping[int, int] | None = None,
) -> tuple[Encoded, tuple[int, ...]]:
    """A text with tokens put in the place of some of its masks, and where there still are masks."""
    if model.config.top != "masked-language":
        raise TextError("This model fills no masks: it has no head for them.")
    encoded, filled = hide(encode(model, tokenizer, text), masked, tokenizer), filled or {}
    hidden = [place for place, token in enumerate(encoded.ids) if token == tokenizer.mask_id]
    if set(filled) - set(hidden):
        raise TextError(f"Token {min(set(filled) - set(hidden))} is not masked, so nothing can be filled in there.")
    _pieces(model, tokenizer, tuple(filled.values()))
    ids = [filled.get(place, token) for place, token in enumerate(encoded.ids)]
    return tokenizer.describe(ids, encoded.text, encoded.spans), tuple(place for place in hidden if place not in filled)


def fill(
    model: Transformer,
    tokenizer: Tokenizer,
    text: str,
    interventions: Sequence[Edit] = (),
    *,
    masked: Sequence[int] = (),
    filled: Mapping[int, int] | None = None,
    rule: Rule = Rule(),
    keep: Sequence[str] | None = None,
    asking: bool = False,
) -> Step:
    """One step of filling masks, for the one whose likeliest token is most certain (Chang et al. 2022, section 3.2).

    `filled` are the tokens put in earlier steps, by position. With `asking` the step keeps of pairs of tokens only the
    row of that mask. Raises TextError where nothing is left to fill.
    """
    read, left = gaps(model, tokenizer, text, masked, filled)
    if not left:
        raise TextError("No token is masked any more, so there is nothing to fill in.")
    edits = Edits(parsed(interventions))
    record = Rows(edits, keep, model.config.stacks[-1], left) if asking else Record(edits, keep)
    with torch.inference_mode():
        rows = model(tensor(read, model), tap=record)[0, list(left)].float().cpu()
    edits.require_all()
    best = int(rows.softmax(-1).amax(-1).argmax())
    chosen = rule.throw(rows[best].numpy(), len(filled or {})).chosen
    names, arrays = tuple(map(str, edits.interventions)), record.arrays()
    if asking:
        arrays = {path: value[:, [best]] if "query" in site_of(path).axes else value for path, value in arrays.items()}
    return Step(model.config, read, None, arrays, names, place=left[best], chosen=chosen)
