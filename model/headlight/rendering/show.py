"""show(): the attention of any library, or of a file, as interactive HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from headlight.analysis.head_metrics import allowed_mask
from headlight.attention_groups import AttentionGroup
from headlight.errors import DataError, wrap_errors
from headlight.origin import headlight_version
from headlight.rendering.attention_arrays import below_one, read_attention, token_texts, with_nowhere
from headlight.rendering.html import AttentionData, HtmlView, show_attentions
from headlight.rendering.npz_file import read_npz
from headlight.rendering.provenance import Provenance, describe_provenance, provenance_arrays
from headlight.text.tokenizer import Encoded

NOWHERE = "nowhere"
NOWHERE_NOTE = "Rows below 1: the column “nowhere” has the weight that a query gives to no key; the measures omit it."
_GROUPS = {
    "decoder_attention": ("decoder", "self", "Decoder", "text", "text"),
    "cross_attention": ("decoder", "cross", "Cross", "text", "source"),
    "encoder_attention": ("encoder", "self", "Encoder", "source", "source"),
}
FILE_TOKENS = ("tokens", "key_tokens", "target_tokens")


def show(attention: Any, tokens: Sequence[str], keys: Sequence[str] | None = None) -> HtmlView:
    """Attention weights of any library as interactive HTML, which a notebook shows and `save` writes to a file.

    `attention` is an array (layer, head, query, key) of any array library, `outputs.attentions` of transformers, also
    of `generate()`, or an ActivationCache of TransformerLens. `tokens` label the queries, and also the keys unless
    `keys` are given, as for cross-attention. If rows sum to less than 1, a column "nowhere" has the difference. The
    HTML names no model, since none is known. Raises DataError if weights or tokens cannot be shown.
    """
    weights = read_attention(attention, has_keys=keys is not None)
    queries, columns = weights.shape[2:]
    is_generated = keys is None and queries == columns
    texts = token_texts(tokens, "tokens", queries, "query", spare=1 if is_generated else 0)
    if keys is None and queries != columns:
        raise DataError(
            f"The attention has {queries} queries and {columns} keys: give the tokens of the keys, too, as in "
            "show(attention, tokens, keys)."
        )
    key_texts = None if keys is None else token_texts(keys, "keys", columns, "key")
    arrays = {"attention": weights, "tokens": np.array(texts, np.str_)}
    if key_texts is not None:
        arrays["key_tokens"] = np.array(key_texts, np.str_)
    fields = _made_now()
    return _one_attention(weights, texts, key_texts, fields, arrays | provenance_arrays(fields))


def _made_now() -> Provenance:
    """The known provenance of numbers passed by the caller."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"version": f"Headlight {headlight_version()}", "date": now}


def _one_attention(
    weights: np.ndarray,
    tokens: tuple[str, ...],
    key_tokens: tuple[str, ...] | None,
    fields: Provenance,
    arrays: Mapping[str, np.ndarray],
) -> HtmlView:
    """The view of one attention, with a column for the difference of row sums to 1."""
    queries = _encoded(tokens)
    keys, notes, has_rest = queries if key_tokens is None else _encoded(key_tokens), [], below_one(weights)
    if has_rest:
        weights, keys, notes = with_nowhere(weights), _encoded((*keys.tokens, NOWHERE)), [NOWHERE_NOTE]
    edits = fields.get("edits", ())
    stack = edits[0].partition(".")[0] if edits else "attention"
    keys_of = "text" if keys is queries else "source"
    layers, heads = weights.shape[:2]
    group = AttentionGroup(f"{stack}.self", stack, "self", "Attention", layers, heads, "text", keys_of)
    data = AttentionData(group, weights, allowed_mask(weights, []), queries, keys, has_rest)
    texts = queries, None if keys is queries else keys
    return show_attentions([data], texts, fields, notes=notes, arrays=arrays, edits=edits)


def _encoded(tokens: Sequence[str]) -> Encoded:
    """Tokens with only their texts known; equal texts get the same id."""
    numbers = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    ends = list(accumulate(map(len, tokens)))
    offsets = tuple((end - len(token), end) for token, end in zip(tokens, ends, strict=True))
    ids = tuple(numbers[token] for token in tokens)
    return Encoded("".join(tokens), ids, tuple(tokens), tuple(tokens), offsets, (False,) * len(tokens))


def open_file(path: str | Path) -> HtmlView:
    """The attention in an .npz file, written by `headlight trace` or by `save` on the result of `show`.

    Raises DataError for a file without attention.
    """
    path = Path(path)
    arrays = read_npz(path)
    with wrap_errors(DataError, f"The attention in {path.name} cannot be shown"):
        return _view_of(arrays, path.name)


def _view_of(arrays: Mapping[str, np.ndarray], name: str) -> HtmlView:
    fields = _file_fields(arrays)
    tokens = {each: _texts(arrays[each], each) for each in (*FILE_TOKENS, "target_ids") if each in arrays}
    if "attention" in arrays and "tokens" in tokens:
        weights = read_attention(arrays["attention"], has_keys="key_tokens" in tokens)
        key_tokens = tokens.get("key_tokens")
        queries = token_texts(tokens["tokens"], "tokens", weights.shape[2], "query")
        keys = key_tokens and token_texts(key_tokens, "keys", weights.shape[3], "key")
        return _one_attention(weights, queries, keys, fields, arrays)
    if "tokens" in tokens and "target_ids" in tokens and all(group in arrays for group in _GROUPS):
        return _encoder_decoder(arrays, tokens, fields)
    raise DataError(
        f"{name} has no attention with its tokens; headlight trace --out FILE.npz writes some, and so "
        "does headlight.show(attention, tokens).save(FILE.npz)."
    )


def _texts(array: np.ndarray, name: str) -> tuple[str, ...]:
    """The texts of an array with one axis, with lone surrogates escaped. Raises DataError for other arrays."""
    if array.ndim != 1:
        raise DataError(f"The array {name} has {array.ndim} axes; it must be a list, one text for each token.")
    return tuple(str(text).encode("utf-8", "backslashreplace").decode("utf-8") for text in array.tolist())


def _file_fields(arrays: Mapping[str, np.ndarray]) -> Provenance:
    """The provenance in a file, if it has Headlight's format."""
    lists = ("masked_positions", "heads")
    fields = {
        name: array.tolist()
        for name, array in arrays.items()
        if name not in FILE_TOKENS and (array.dtype.kind == "U" or name in lists)
    }
    try:
        describe_provenance(fields)
    except (KeyError, TypeError, AttributeError, ValueError):
        return _made_now()
    return fields


def _encoder_decoder(
    arrays: Mapping[str, np.ndarray], tokens: Mapping[str, tuple[str, ...]], fields: Provenance
) -> HtmlView:
    """The view of the three attentions in an encoder-decoder's file."""
    texts = {"source": _encoded(tokens["tokens"])}
    texts["text"] = _encoded(tokens.get("target_tokens", tokens["target_ids"]))
    attentions = []
    for array, (stack, kind, title, *sides) in _GROUPS.items():
        weights, (queries, keys) = read_attention(arrays[array], has_keys=True), (texts[side] for side in sides)
        token_texts(queries.tokens, "tokens", weights.shape[2], "query")
        token_texts(keys.tokens, "tokens", weights.shape[3], "key")
        group = AttentionGroup(f"{stack}.{kind}", stack, kind, title, *weights.shape[:2], *sides)
        attentions.append(AttentionData(group, weights, allowed_mask(weights, []), queries, keys))
    both = texts["text"], texts["source"]
    return show_attentions(attentions, both, fields, edits=fields.get("edits", ()), arrays=arrays)
