"""What a file that leaves says of itself: the model, what it read, how it was wired and changed, what is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from model.nn.attention_functions import ATTENTION_FUNCTIONS
from model.nn.masks import mask_titles
from model.nn.positional_encodings import POSITIONAL_ENCODINGS
from model.text.tokenizer import MASK_TOKENS, Encoded
from model.tracing.trace import Trace

MAX_QUOTED = 120  # characters of a text in a line of words
HASH_DIGITS = 12  # of a SHA-256 in a line of words
Provenance = Mapping[str, Any]  # texts, and lists of texts and numbers


def headlight_version() -> str:
    """The version of Headlight that is installed."""
    try:
        return version("attention-headlight")
    except PackageNotFoundError:
        return "(not installed)"


def provenance(trace: Trace, **more: Any) -> Provenance:
    """The fields of a file with numbers of a trace; `more` says what the trace does not know.

    `edits` are in force; `heads` are pairs of layer and head, of all where there are none.
    """
    config, origin = trace.config, trace.origin
    return {
        "model": origin.name if origin else "",
        "model_sha256": origin.sha256 if origin else "",
        "text": trace.text.text,
        "source": trace.source.text if trace.source else "",
        "image": "",
        "masked_positions": masked_positions(trace.text),
        "mask": "+".join(config.masks) or "none",
        "layer_masks": list(config.per_layer.masks),
        "positional_encoding": config.positional_encoding,
        "attention_function": config.attention_function,
        "scale": "on" if config.scale else "off",
        "edits": list(trace.interventions),
        "attention_group": "",
        "heads": [],
        "shown": "",
        "version": f"Headlight {headlight_version()}",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    } | more


def masked_positions(text: Encoded) -> list[int]:
    """Where a mask token stands in place of something else that was typed."""
    typed = (text.text[start:end].strip() for start, end in text.offsets)
    rows = enumerate(zip(text.tokens, typed, strict=True))
    return [position for position, (token, word) in rows if token in MASK_TOKENS and word not in ("", token)]


def describe_provenance(fields: Provenance) -> list[str]:
    """What made the numbers, in words; the browser tells the edits. The last part says by what, and when."""
    masked = ", ".join(map(str, fields["masked_positions"]))
    parts = [
        f"{fields['model'] or 'a model without a name'}{_short_hash(fields['model_sha256'])}",
        *(f"{name} {_quoted(fields[key])}" for name, key in (("source", "source"), ("", "text")) if fields[key]),
        f"image {fields['image']}" if fields["image"] else "",
        f"masked: token {masked}" if masked else "",
        *_wiring(fields),
        f"{fields['version']}, {fields['date'][:10]}",
    ]
    return [part.strip() for part in parts if part]


def provenance_json(fields: Provenance) -> dict[str, Any]:
    """The fields, and what they say in words, for the browser."""
    return {"provenance": fields, "provenance_parts": describe_provenance(fields)}


def _short_hash(digest: str) -> str:
    return f" (SHA-256 {digest[:HASH_DIGITS]}…)" if digest else ""


def _quoted(text: str) -> str:
    flat = " ".join(text.split())
    return f"“{flat if len(flat) <= MAX_QUOTED else flat[:MAX_QUOTED].rstrip() + '…'}”"


def _wiring(fields: Provenance) -> Iterator[str]:
    """Mask, positional encoding and attention function by their titles."""
    titles = mask_titles()
    masks = [titles.get(name.partition(":")[0], name) + _argument(name) for name in fields["mask"].split("+")]
    yield f"mask: {' + '.join(masks)}{', and one for each layer' if fields['layer_masks'] else ''}"
    yield f"positions: {POSITIONAL_ENCODINGS[fields['positional_encoding']].title}"
    scaled = "" if fields["scale"] == "on" else ", not divided by √d"
    yield f"{ATTENTION_FUNCTIONS[fields['attention_function']].title}{scaled}"


def _argument(mask: str) -> str:
    argument = mask.partition(":")[2]
    return f" {argument}" if argument and len(argument) < 10 else ""


def provenance_arrays(fields: Provenance) -> dict[str, np.ndarray]:
    """The fields as plain arrays, for an .npz file: lists of texts, of positions, and of heads [head, 2]."""
    empty = {"masked_positions": np.zeros(0, np.int64), "heads": np.zeros((0, 2), np.int64)}
    return {
        name: np.array(value) if value or isinstance(value, str) else empty.get(name, np.zeros(0, np.str_))
        for name, value in fields.items()
    }


def provenance_lines(fields: Provenance) -> list[str]:
    """A line for each field, as many for every file; each begins with #, so that none is taken for a formula."""
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}
    return [f"# {name}: {' '.join(text.splitlines())}" for name, text in texts.items()]
