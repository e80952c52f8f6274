"""The provenance of an exported file: the model, its input, its variant and edits, and the numbers shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from string import ascii_lowercase
from typing import Any

import numpy as np

from headlight.config import Config
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.nn.masks import mask_titles
from headlight.nn.output_heads import POOLINGS, pooling_names
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.origin import Origin, headlight_version
from headlight.tasks import task_of
from headlight.text.tokenizer import MASK_TOKENS, Encoded
from headlight.tracing.trace import Trace

MAX_QUOTED = 120  # characters of a text in the description
HASH_DIGITS = 12  # characters of a SHA-256 in the description
Provenance = Mapping[str, Any]  # texts, and lists of texts and numbers
_TEXTS = {"source": "source", "text": "", "text_pair": "second text"}
_SHARED = ("shown", "version", "date")  # shared by all sides of a file
_EMPTY: Mapping[str, np.ndarray] = {"masked_positions": np.zeros(0, np.int64), "heads": np.zeros((0, 2), np.int64)}


def provenance(trace: Trace, **more: Any) -> Provenance:
    """The fields of a file with numbers of a trace; `more` are fields that the trace lacks.

    `edits` are the applied ones, live edits last by name; `heads` are pairs of layer and head, empty for all heads.
    """
    source = trace.source.first_text if trace.source else ""
    masked = masked_positions(trace.text)
    edits = [*trace.interventions, *(edit.name for edit in trace.live_edits)]
    text, pair = trace.text, (trace.source or trace.text).text_pair
    known: dict[str, Any] = {"text": text.chat or text.first_text, "chat": "1" if text.chat else "", "text_pair": pair}
    known |= {"source": source, "masked_positions": masked, "edits": edits}
    return model_provenance(trace.config, trace.origin, **known | more)


def model_provenance(config: Config, origin: Origin | None, **more: Any) -> Provenance:
    """The fields of a file with numbers of a model; `more` describes its input, its changes and what is shown."""
    return {
        "model": origin.name if origin else "",
        "model_sha256": origin.sha256 if origin else "",
        "text": "",
        "chat": "",
        "text_pair": "",
        "source": "",
        "image": "",
        "audio": "",
        "masked_positions": [],
        "mask": "+".join(config.masks) or "none",
        "layer_masks": list(config.per_layer.masks),
        "positional_encoding": config.positional_encoding,
        "attention_function": config.attention_function,
        "scale": "on" if config.attention.scale else "off",
        "pooling": "+".join(pooling_names(config)) if task_of(config).whole_text else "",
        "edits": [],
        "patch_from": "",
        "attention_group": "",
        "heads": [],
        "shown": "",
        "version": f"Headlight {headlight_version()}",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    } | more


def join_provenance(sides: Sequence[Provenance]) -> Provenance:
    """The fields of a file with numbers of several runs: for one run its own, else `side_a_text`, `side_b_text` ...

    The fields in _SHARED occur once.
    """
    if len(sides) == 1:
        return sides[0]
    own = {
        f"side_{letter}_{name}": value
        for letter, fields in zip(ascii_lowercase, sides, strict=False)
        for name, value in fields.items()
        if name not in _SHARED
    }
    return own | {name: sides[0][name] for name in _SHARED}


def masked_positions(text: Encoded) -> list[int]:
    """The positions at which a mask token replaces a typed token."""
    typed = (text.text[start:end].strip() for start, end in text.offsets)
    rows = enumerate(zip(text.tokens, typed, strict=True))
    return [position for position, (token, word) in rows if token in MASK_TOKENS and word not in ("", token)]


def describe_provenance(fields: Provenance) -> list[str]:
    """The provenance in words, without edits, which the browser adds; the last part is version and date.

    Without a known model, version and date are the only part.
    """
    made = f"{fields['version']}, {fields['date'][:10]}"
    if "model" not in fields:
        return [made]
    masked = ", ".join(map(str, fields["masked_positions"]))
    names = {**_TEXTS, "text": "chat"} if fields["chat"] else _TEXTS
    parts = [
        f"{fields['model'] or 'a model without a name'}{_short_hash(fields['model_sha256'])}",
        *(f"{name} {_quoted(fields[key])}" for key, name in names.items() if fields[key]),
        f"image {fields['image']}" if fields["image"] else "",
        f"B is {_quoted(fields['patch_from'])}" if fields["patch_from"] else "",
        f"masked: token {masked}" if masked else "",
        *_wiring(fields),
        made,
    ]
    return [part.strip() for part in parts if part]


def provenance_json(fields: Provenance) -> dict[str, Any]:
    """The fields, and their description in words, for the browser."""
    return {"provenance": fields, "provenance_parts": describe_provenance(fields)}


def _short_hash(digest: str) -> str:
    return f" (SHA-256 {digest[:HASH_DIGITS]}…)" if digest else ""


def _quoted(text: str) -> str:
    flat = " ".join(text.split())
    return f"“{flat if len(flat) <= MAX_QUOTED else flat[:MAX_QUOTED].rstrip() + '…'}”"


def _wiring(fields: Provenance) -> Iterator[str]:
    """The titles of mask, positional encoding, attention function and pooling."""
    titles = mask_titles()
    masks = [titles.get(name.partition(":")[0], name) + _argument(name) for name in fields["mask"].split("+")]
    yield f"mask: {' + '.join(masks)}{', and one for each layer' if fields['layer_masks'] else ''}"
    yield f"positions: {POSITIONAL_ENCODINGS[fields['positional_encoding']].title}"
    scaled = "" if fields["scale"] == "on" else ", not divided by √d"
    yield f"{ATTENTION_FUNCTIONS[fields['attention_function']].title}{scaled}"
    if fields["pooling"]:
        yield f"pooling: {' · '.join(POOLINGS[name].title for name in fields['pooling'].split('+'))}"


def _argument(mask: str) -> str:
    argument = mask.partition(":")[2]
    return f" {argument}" if argument and len(argument) < 10 else ""


def provenance_arrays(fields: Provenance) -> dict[str, np.ndarray]:
    """The fields as plain arrays, for an .npz file: lists of texts, of positions, and of heads [head, 2]."""
    return {
        name: np.array(value) if value or isinstance(value, str) else _empty_array(name)
        for name, value in fields.items()
    }


def _empty_array(name: str) -> np.ndarray:
    """An empty array with the shape and type of the entries."""
    return next((array for field, array in _EMPTY.items() if name.endswith(field)), np.zeros(0, np.str_))


def provenance_lines(fields: Provenance) -> list[str]:
    """One line per field; each starts with #, so that spreadsheets do not read it as a formula."""
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}
    return [f"# {name}: {' '.join(text.splitlines())}" for name, text in texts.items()]
