"""A trace as self-contained interactive HTML: all heads as thumbnails, one of them large, its lines and text.

The page's TypeScript modules draw it, bundled into one script; the numbers are embedded, so that a notebook or a saved
file needs no network.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from html import escape
from pathlib import Path
from secrets import token_hex
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np

from headlight.analysis.head_metrics import (
    compute_head_metrics,
    head_metrics_for,
    strongest_local_head,
    traced_attention,
)
from headlight.array_types import Float
from headlight.attention_groups import AttentionGroup, attention_groups
from headlight.errors import EditError, OutputError
from headlight.file_writing import replacing
from headlight.nn.hooks import HOOK_POINTS
from headlight.rendering.plots import head_orders_json, plots_json
from headlight.rendering.provenance import Provenance, provenance, provenance_json
from headlight.sound.frames import EncodedSound
from headlight.text.tokenizer import Encoded
from headlight.tracing.interventions import EDIT_OPERATIONS, Intervention
from headlight.tracing.live_edits import is_patch
from headlight.tracing.recompute import max_pool
from headlight.tracing.trace import Trace
from headlight.vision.patches import EncodedImage

MAX_SPECTROGRAM_SIDE = 640  # bins and steps; more than the pixels along a side of a drawn spectrogram
MAX_THUMBNAIL_SIDE = 80  # cells; more than the pixels along a side of a drawn thumbnail


def quantize_weights(weights: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Weights as one byte each: 0 in masked cells, else 1 to 255 for the square root of 0 to 1."""
    shares = np.clip(weights, 0.0, 1.0)
    shares[np.isnan(shares)] = 0.0
    codes: np.ndarray = (1 + np.rint(254 * np.sqrt(shares))).astype(np.uint8) * allowed
    return codes


SCRIPT = Path(__file__).parent / "standalone.bundle.js"  # built from the page's modules; see tests/javascript
MAX_POOLED_CELLS = 1 << 22  # cells of all heads; beyond this, weights are max-pooled
MAX_EXACT_CELLS = 1 << 19  # cells of all heads, up to which all weights are included as float32 too
WEIGHTS_QUANTITY = {
    "name": "weights",
    "title": "Weights",
    "description": "attention weight",
    "scale": "probability",
    "additive": True,
}


@dataclass(frozen=True, eq=False)
class AttentionData:
    """One attention: its weights and allowed cells, [layer head query key], and the texts of both axes.

    `nowhere`: the last key is not a token, but the difference of each row's sum to 1.
    """

    group: AttentionGroup
    weights: np.ndarray
    allowed: np.ndarray
    queries: Encoded
    keys: Encoded
    nowhere: bool = False

    @property
    def metrics(self) -> dict[str, Float[np.ndarray, "layer head"]]:
        """The head metrics (`compute_head_metrics`)."""
        keys = slice(0, -1 if self.nowhere else None)
        is_self = self.queries is self.keys or (self.nowhere and self.keys.tokens[keys] == self.queries.tokens)
        weights, allowed = self.weights[..., keys], self.allowed[..., keys]
        text = self.queries if is_self else None
        if weights.size <= MAX_POOLED_CELLS:
            return compute_head_metrics(weights, allowed, text)
        one_by_one = [  # each number takes about 60 bytes meanwhile
            compute_head_metrics(weights[at], allowed[at], text)
            for at in (np.s_[layer : layer + 1, head : head + 1] for layer, head in np.ndindex(weights.shape[:2]))
        ]
        return {
            name: np.ravel([each[name] for each in one_by_one]).reshape(weights.shape[:2]) for name in one_by_one[0]
        }


@runtime_checkable
class SavedView(Protocol):
    """What a saved notebook shows of a cell."""

    def _repr_html_(self) -> str:
        """The HTML of a notebook cell."""


@dataclass(frozen=True)
class HtmlView:
    """Self-contained HTML: a notebook shows it as the value of a cell, or it is saved as a file."""

    title: str
    meta: Mapping[str, Any] = field(repr=False)
    numbers: bytes = field(repr=False)
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)

    def _repr_html_(self) -> str:
        """The HTML of a notebook cell, in its own shadow root, so that several views on a page do not interfere."""
        name = f"headlight-{token_hex(8)}"
        encoded_numbers = base64.b64encode(zlib.compress(self.numbers, 6)).decode("ascii")
        start_call = f"headlight.openStandalone(document.getElementById({json.dumps(name)}), META, NUMBERS);"
        lines = (
            f"const META = {javascript_literal(self.meta)};",
            f'const NUMBERS = "{encoded_numbers}";',
            _script(),
            start_call,
        )
        script = "\n".join(lines)
        title = f"{escape(self.title)}. This view needs JavaScript: trust this notebook, or run its cell again."
        fallback = f"<p>{title}</p>"
        return f'<div id="{name}" class="headlight">{fallback}</div>\n<script>(() => {{\n{script}\n}})();</script>'

    def document(self) -> str:
        """A complete HTML page that needs no other file."""
        head = (
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{escape(self.title)}</title>",
            "<style>body { margin: 0; background: light-dark(#fdfcfa, #10151f); color-scheme: light dark; }</style>",
        )
        parts = ("<!doctype html>", "<html data-headlight>", *head, "<body>", self._repr_html_(), "</body>", "</html>")
        return "\n".join(parts)

    def save(self, path: str | Path) -> None:
        """Write `document()` to a file, or the input of `headlight.show` to an .npz file. Raises OutputError."""
        path = Path(path)
        if path.suffix == ".npz" and not self.arrays:
            raise OutputError("A trace is saved as .html; headlight trace --out FILE.npz writes its numbers.")
        with replacing(path) as file:
            if path.suffix == ".npz":
                np.savez(file, allow_pickle=False, **self.arrays)
            else:
                file.write(self.document().encode("utf-8"))


def show_trace(trace: Trace, layer: int | None = None, head: int | None = None) -> HtmlView:
    """A trace's heads as HTML, initially with the named head, or else with `strongest_local_head`.

    Raises EditError if the trace has no weights.
    """
    known = attention_groups(trace.config)
    if not known:
        raise EditError("This model has no layers, so there is no attention to show.")
    attentions = [_attention_data(trace, group) for group in known]
    first = strongest_local_head(attentions[0].metrics) if layer is None and head is None else (layer or 0, head or 0)
    is_image = isinstance(trace.text, EncodedImage)
    state = {"layer": first[0], "head": first[1]} | ({"plot": "overlay", "query": 0} if is_image else {})
    return show_attentions(
        attentions,
        (trace.text, trace.source),
        provenance(trace, shown=WEIGHTS_QUANTITY["description"]),
        edits=trace.interventions,
        modalities=trace.config.modalities,
        patches=patches_json(trace, with_image=True),
        sound=sound_json(trace),
        state=state,
    )


def show_attentions(
    attentions: Sequence[AttentionData],
    texts: tuple[Encoded, Encoded | None],
    fields: Provenance,
    *,
    notes: Sequence[str] = (),
    edits: Sequence[str] = (),
    modalities: Sequence[str] = ("text",),
    patches: Mapping[str, Any] | None = None,
    sound: Mapping[str, Any] | None = None,
    state: Mapping[str, Any] = MappingProxyType({}),
    arrays: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> HtmlView:
    """Attentions as HTML; `texts` are the text of the queries and, if it differs, the text of the keys.

    `fields` are the known provenance fields, `arrays` the arrays that `save` writes to an .npz file.
    """
    groups, numbers = pack_attentions(attentions)
    text, source = texts
    meta: dict[str, Any] = {
        "tokens": tokens_json(text),
        "source_tokens": tokens_json(source) if source else None,
        "question": {"text": text.text, "source": source.text if source else ""},
        "attention_groups": [
            json_group | {"ablations": ablations_json(edits, each.group)}
            for json_group, each in zip(groups, attentions, strict=True)
        ],
        "quantities": [WEIGHTS_QUANTITY],
        **choices_json(modalities),
        "patches": patches,
        "sound": sound,
        "predictions": [],
        "changed": False,
        "no_prediction_reason": "",
        "notes": [*notes, *_notes(groups)],
        "state": {**state, "edits": edits},
        "saved_views": {},
        **provenance_json(fields),
    }
    return HtmlView(f"Attention over {len(text.ids)} tokens", meta, numbers, arrays)


def _attention_data(trace: Trace, group: AttentionGroup) -> AttentionData:
    weights, allowed = traced_attention(trace, group.stack, group.kind)
    texts = {"text": trace.text, "source": trace.source or trace.text}
    return AttentionData(group, weights, allowed, texts[group.queries], texts[group.keys])


def pack_attentions(attentions: Sequence[AttentionData]) -> tuple[list[dict[str, Any]], bytes]:
    """The metadata of each attention, and their numbers: one byte per cell, one attention after the other.

    Up to MAX_EXACT_CELLS, all weights follow as float32 from the next multiple of four, NaN in masked cells.
    """
    heads = sum(each.weights.shape[0] * each.weights.shape[1] for each in attentions)
    exact = sum(each.weights.size for each in attentions) <= MAX_EXACT_CELLS
    max_side = max(1, math.isqrt(MAX_POOLED_CELLS // max(heads, 1)))
    blocks = [
        quantize_weights(max_pool(each.weights, max_side), max_pool(each.allowed, max_side)) for each in attentions
    ]
    offsets = np.cumsum([0, *(block.size for block in blocks)]).tolist()
    groups = [
        asdict(each.group) | _group_json(each, block) | {"offset": offset, "exact": exact}
        for each, block, offset in zip(attentions, blocks, offsets, strict=False)
    ]
    numbers = b"".join(block.tobytes() for block in blocks)
    if exact:
        numbers += bytes(-len(numbers) % 4)
        numbers += b"".join(np.where(each.allowed, each.weights, np.nan).astype("<f4").tobytes() for each in attentions)
    return groups, numbers


def _notes(groups: Sequence[Mapping[str, Any]]) -> list[str]:
    """Notes on what the view omits."""
    longest = max((max(group["rows"], group["columns"]) for group in groups), default=0)
    if all(tuple(group["pooled_shape"]) == (group["rows"], group["columns"]) for group in groups):
        return []
    return [f"{longest} tokens: each cell shows the largest weight of its block, so that all heads fit in here."]


def patches_json(trace: Trace, *, with_image: bool = False) -> dict[str, Any] | None:
    """The layout of an image's patches; None without an image. `side` says whether the image is the text or the source.

    `region` is left, top, right, bottom as fractions of its width and height. `with_image` adds the part that the
    patches cover, as RGB bytes.
    """
    side, text = ("source", trace.source) if trace.source else ("text", trace.text)
    if not isinstance(text, EncodedImage):
        return None
    sides = (text.image.width, text.image.height) * 2
    layout = {
        "side": side,
        "rows": text.patch_rows,
        "columns": text.patch_columns,
        "first_token": text.first_patch,
    }
    if not with_image:
        return layout | {"region": [edge / side for edge, side in zip(text.covered_region, sides, strict=True)]}
    covered = text.covered_pixels()
    encoded_pixels = base64.b64encode(zlib.compress(covered.tobytes(), 6)).decode("ascii")
    return layout | {
        "region": [0, 0, 1, 1],
        "image": {"height": covered.shape[0], "width": covered.shape[1], "bytes": encoded_pixels},
    }


def sound_json(trace: Trace) -> dict[str, Any] | None:
    """The times of a sound's frames, and its spectrogram; None without a sound.

    The first `frames_read` frames contain the recording of `seconds`; the others are silence. The spectrogram has
    `bins` of frequency, from the lowest, and `steps` of time over `frames_read`, as one byte each.
    """
    side, text = ("source", trace.source) if trace.source else ("text", trace.text)
    if not isinstance(text, EncodedSound):
        return None
    shades = max_pool(text.spectrogram(), MAX_SPECTROGRAM_SIDE)
    lowest, highest = float(shades.min()), float(shades.max())
    codes = np.round(255 * (shades - lowest) / max(highest - lowest, 1e-9)).astype(np.uint8)
    return {
        "side": side,
        "frames_read": text.read_count,
        "frame_seconds": text.frame_seconds,
        "seconds": text.sound.seconds,
        "bins": codes.shape[0],
        "steps": codes.shape[1],
        "bytes": base64.b64encode(zlib.compress(codes.tobytes(), 6)).decode("ascii"),
    }


def choices_json(modalities: Sequence[str] = ("text",)) -> dict[str, Any]:
    """The choices for the inputs of a model: plots, orders of heads, and the tables that put edits into words."""
    metrics = [
        {"reads": kind, "name": name}
        | {key: getattr(metric, key) for key in ("title", "description", "unit", "elsewhere")}
        for kind in dict.fromkeys("image" if kind == "image" else "text" for kind in modalities)
        for name, metric in head_metrics_for(kind == "image").items()
    ]
    operations = [
        {
            "name": name,
            "title": operation.title,
            "description": operation.description,
            "takes_number": operation.takes_number,
            "hook_points": operation.hook_points,
        }
        for name, operation in EDIT_OPERATIONS.items()
    ]
    hook_points = {name: asdict(row) for name, row in HOOK_POINTS.items()}
    orders = {"head_orders": head_orders_json(), "metrics": metrics}
    return {**plots_json(), **orders, "operations": operations, "hook_points": hook_points}


def ablations_json(edits: Sequence[str], group: AttentionGroup) -> dict[str, list[tuple[int, int]]]:
    """The heads (layer, head) that each edit switches off, by setting all their weights to zero."""
    return {edit: _ablated_heads(Intervention.parse(edit), group) for edit in edits if not is_patch(edit)}


def _ablated_heads(edit: Intervention, group: AttentionGroup) -> list[tuple[int, int]]:
    if edit.operation not in ("set", "scale") or edit.number != 0 or any(span != (0, None) for span in edit.index[1:]):
        return []
    heads = range(group.heads)[slice(*edit.index[0])] if edit.index else range(group.heads)
    layers = (layer for layer in range(group.layers) if edit.matches(f"{group.path(layer)}.weights"))
    return [(layer, head) for layer in layers for head in heads]


def _group_json(each: AttentionData, block: np.ndarray) -> dict[str, Any]:
    rows, columns = each.weights.shape[-2:]
    metrics = metric_values_json(each.metrics)
    return {
        "rows": rows,
        "columns": columns,
        "pooled_shape": block.shape[-2:],
        "metrics": metrics,
        "has_segments": False,
        "pending": False,
    }


def metric_values_json(metrics: Mapping[str, Float[np.ndarray, "layer head"]]) -> dict[str, list[float | None]]:
    """The metrics of all heads for the browser, layer after layer; None instead of NaN."""
    rounded = np.stack([heads.ravel() for heads in metrics.values()]).astype(np.float64).round(4)
    rows = rounded.astype(object)
    rows[np.isnan(rounded)] = None
    return dict(zip(metrics, rows.tolist(), strict=True))


def tokens_json(text: Encoded) -> list[dict[str, Any]]:
    """The tokens for the browser; `role` says whose message of a chat one is of, or that it is of the template."""
    roles = [role or "template" for role in text.roles] or [""] * len(text.ids)
    columns = zip(text.token_texts, text.ids, text.special_mask, utf16_ends(text), roles, strict=True)
    return [
        {"text": piece, "id": number, "special": special, "masked": False, "end": end}
        | ({"role": role} if role else {})
        for piece, number, special, end, role in columns
    ]


def utf16_ends(text: Encoded) -> list[int]:
    """The end of each token in its text, in UTF-16 code units, as in JavaScript."""
    return [len(text.text[:end].encode("utf-16-le", "surrogatepass")) // 2 for _, end in text.offsets]


def javascript_literal(value: Any) -> str:
    """A value as a JavaScript literal that contains no HTML markup."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@lru_cache(maxsize=1)
def _script() -> str:
    return SCRIPT.read_text(encoding="ascii")
