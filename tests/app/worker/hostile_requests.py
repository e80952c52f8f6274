"""Malicious requests over all routes and screens: each ends in an answer or a one-sentence error.

A case is given by a number, its random seed: `python -m tests.bench hostile --questions 20000 --mutants 0`
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from random import Random
from time import process_time
from typing import Any

import msgspec
from msgspec import inspect as kinds

from headlight.course.chapters import CHAPTERS
from headlight.course.controls import ChoiceControl, MatrixControl, ModelControl, NumberControl
from headlight.errors import HeadlightError
from headlight_app.contract.request import Request
from headlight_app.engine.job import EngineRequest
from headlight_app.engine.requests import decode_request
from headlight_app.server.routes import http_requests
from headlight_app.worker.serve import outcome
from headlight_app.worker.table import ANSWERS

MAX_SECONDS = 10.0
MOST = 8  # values of a list, unless it needs more
MISFITS: tuple[Any, ...] = (
    *(None, True, "", "x", "\0", "\ud800", "=1+1", "NaN", -1, 0, 0.5, 1e308, -1e308, 10**400, 2**63, -(2**63)),
    *([], [0], [[]], ["\ud800"], {}, {"a": 1}, "a" * 50_000),
)
TEXTS = (
    *("the cat sat on the mat", "", " ", "\0", "\ud800", "e\u0301 日本 😀 [MASK] <s>x</s>\n", "a b " * 3_000),
    *("[MASK]" * 200, "\u202e\u200d\ufeff", "</script><img src=x>", "javascript:alert(1)", "=cmd", "../../etc/passwd"),
    *(" " * 200_000, "a" * 5_000, "a" * 200_001, "a b " * 40_000, "[MASK]" * 1_000, "<|endoftext|>" * 500),
    *("\u0301" * 3_000, "ﷺ" * 10_000, "ab" * 9_999, "\r\n" * 50_000, "\U000e0001" * 2_000, "İ" * 4_000),
)
PATHS = ("decoder.1.self.weights", "*.weights", "logits", "decoder.0.self.query", "encoder.0.self.mask", "", "x" * 300)
INDICES = ("", "[0]", "[0,1]", "[:]", "[-1]", "[9:1]", "[99999999999999999999]", "[0,0,0,0,0,0]", "[x]", "[", "[1:2:3]")
OPERATIONS = (
    *("=zero", "=set:0", "=set:1e39", "=set:nan", "=mean", "=scale:1e30", "=", "=x:1", "=set:", "=noise:1", ""),
    *("=from:B[3]", "=from:B", "=from:[::-1]", "=from:", "=scale:-1e300", "\ud800=\0"),
)
GOOD_EDITS = (
    *("decoder.1.self.weights[0]=set:0", "decoder.*.self.output=scale:1e38", "encoder.0.self.weights[0,0,1]=set:0.5"),
    *("decoder.0.self.mask[0,1]=set:0", "decoder.0.feed_forward.output=scale:-1e300"),
)
EDITS = (*GOOD_EDITS * 200, *map("".join, product(PATHS, INDICES, OPERATIONS)))  # half of them are valid
MODELS = ("induction", "positions-decoder-rope", "sort", "sentiment", "entities", "caption", "no such model", "")
PARTS = {
    "text": TEXTS,
    "source": TEXTS,
    "other_text": TEXTS,
    "model": MODELS,
    "masks": (
        *("causal", "none", "window:3", "window:0", "window:-1", f"window:{9**50}", "custom:10/11", "custom:1/", "+"),
        *("causal+window:2", "causal:1", "padding", "x", "custom:" + "1" * 5_000, "+".join(["causal", "x"] * 20)),
    ),
    "positional_encoding": ("rope", "alibi", "none", "learned", "disentangled", "x"),
    "attention_function": ("softmax", "hardmax", "linear", "x"),
    "pooling": ("mean", "max", "first", "x"),
    "path": PATHS,
    "attention": ("decoder.0.self", "encoder.1.self", "decoder.1.cross", "x"),
    "quantity": ("weights", "scores", "rollout", "gradient", "difference", "norms", "x"),
    "task": ("classify", "sort", "tag", "x"),
    "analysis": (
        *("patching", "logit_lens", "information_flow", "head_search", "token_rankings"),
        *("ledger", "why", "offer", "x"),
    ),
    "page": ("positions", "x"),
    "edits": EDITS,
    "palette": ("#e0951f",),
    "fill": ("#e0951f", "", "red"),
    "stroke": ("#e0951f", "", "red"),
    "link": ("https://example.org", "", "javascript:alert(1)"),
    "name": ("table", "../x"),
    "labels": ("a", "=1+1", "\ud800"),
    "axes": ("query", "key"),
    "head_reduction": ("mean", "max", "x"),
    "alignment": ("tokens", "words", "position", "x"),
    "stack": ("", "decoder", "encoder", "x"),
    "format": ("csv", "json", "npz", "parquet", "html", "x"),
    "lesson_step": ("", "2", "99", "x"),
    "neuron": ("", "1", "0.3", "99999.999999999", "x"),
    "chapter": ("", "masks", "x"),
    "client_id": ("", "a", "\0", "x" * 64),
    "image": ("", "yellow-circle-above-green-triangle", "own-x", "no such picture"),
    "receiver": ("0.1", "1.0", "99.99", ""),
}  # fmt: skip
Draw = Random


@dataclass(frozen=True)
class Case:
    """One request: its route, its JSON, its outcome, and its processor time in seconds."""

    route: str
    content: bytes
    said: str
    seconds: float

    @property
    def is_wrong(self) -> bool:
        """Whether it ended without an answer or error sentence, or too late."""
        return "Something went wrong" in self.said or self.seconds > MAX_SECONDS


def cases(count: int, first: int = 0) -> Iterator[Case]:
    """`count` cases from a first seed on, cycling through the routes."""
    for seed in range(first, first + count):
        yield ask(*hostile_content(seed))


def hostile_content(seed: int) -> tuple[str, bytes]:
    """The route for a seed, and a request body."""
    routes = http_requests()
    kind = routes[seed % len(routes)]
    return kind.route, content_of(kind, Random(seed))


def content_of(kind: type[Request[Any]], draw: Draw) -> bytes:
    """The body of a kind of request."""
    value = course_request(draw) if "inputs" in kind.__struct_fields__ else _value(draw, kinds.type_info(kind), "")
    return json.dumps(value).encode()


def ask(route: str, content: bytes) -> Case:
    """Let a worker answer a request in this process."""
    begun = process_time()
    try:
        decode_request(msgspec.json.Decoder(ANSWERS[route][0]), content)
        _, said = outcome(EngineRequest(route, content))
    except HeadlightError as error:
        said = str(error).encode("utf-8", "replace")
    return Case(route, content, said[:200].decode("utf-8", "replace"), process_time() - begun)


def course_request(draw: Draw) -> dict[str, Any]:
    """A screen with inputs at and beyond the limits of its controls."""
    chapter = draw.choice([*CHAPTERS])
    screen = draw.choice([*CHAPTERS[chapter].screens])
    controls = CHAPTERS[chapter].screens[screen].controls
    inputs = {name: _input(draw, control) for name, control in controls.items() if draw.random() < 0.6}
    return {"chapter": chapter, "screen": screen, "inputs": inputs} | ({"x": 1} if draw.random() < 0.02 else {})


def _input(draw: Draw, control: Any) -> Any:
    if draw.random() < 0.1:
        return draw.choice(MISFITS)
    if isinstance(control, NumberControl):
        return str(draw.choice((control.low, control.high, control.default, "nan", "1e999", control.high + 1)))
    if isinstance(control, ChoiceControl):
        return draw.choice([*control.options, "x"])
    if isinstance(control, ModelControl):
        return draw.choice([control.default, *MODELS])
    if isinstance(control, MatrixControl):
        low, high = control.low, control.high
        cells = [str(draw.choice((low, high, 0, 1, "nan" if draw.random() < 0.1 else 0))) for _ in range(36)]
        rows, columns = (draw.choice((axis.least, axis.most)) for axis in (control.rows, control.columns))
        return ";".join(
            ",".join(cells[(row * columns + column) % 36] for column in range(columns)) for row in range(rows)
        )
    return draw.choice((*TEXTS, control.default, control.default))


def _value(draw: Draw, kind: Any, name: str) -> Any:
    """A value that fits its type, or occasionally one that does not."""
    if draw.random() < 0.015:
        return draw.choice(MISFITS)
    if isinstance(kind, kinds.Metadata):
        return _value(draw, kind.type, name)
    make: Callable[[Draw, Any, str], Any] = _MAKERS.get(type(kind), lambda *_: draw.choice(MISFITS))
    return make(draw, kind, name)


def _struct(draw: Draw, kind: kinds.StructType, _: str) -> dict[str, Any]:
    found = {
        field.encode_name: _value(draw, field.type, field.name)
        for field in kind.fields
        if field.required or draw.random() < 0.3
    }
    tag = {kind.tag_field: kind.tag} if kind.tag_field else {}
    return tag | found | ({"unknown": 1} if draw.random() < 0.01 else {})


def _integer(draw: Draw, kind: kinds.IntType, _: str) -> int:
    low = kind.ge if kind.ge is not None else (kind.gt or 0) + 1
    high = kind.le if kind.le is not None else (kind.lt or 2**53) - 1
    return draw.choice((low, high, 0, 1, 2, 3, 5, low - 1 if draw.random() < 0.1 else low))


def _float(draw: Draw, kind: kinds.FloatType, _: str) -> float:
    ends = [end for end in (kind.ge, kind.gt, kind.le, kind.lt) if end is not None]
    return float(draw.choice((*ends, 0.5, 1.0, 1e-300)))


def _string(draw: Draw, kind: kinds.StrType, name: str) -> str:
    if kind.pattern and kind.pattern.startswith(r"\A(") and name not in PARTS:
        return draw.choice(kind.pattern[3:-3].replace("\\", "").split("|"))
    return draw.choice(PARTS.get(name, TEXTS))


def _list(draw: Draw, kind: Any, name: str) -> list[Any]:
    least = getattr(kind, "min_length", None) or 0
    if least > MOST:
        return [_value(draw, kind.item_type, name)] * least
    return [_value(draw, kind.item_type, name) for _ in range(max(least, draw.choice((1, 1, 0, 0, 2, 3, MOST))))]


def _dictionary(draw: Draw, kind: kinds.DictType, name: str) -> dict[str, Any]:
    return {
        str(_value(draw, kind.key_type, name)): _value(draw, kind.value_type, name)
        for _ in range(draw.choice((1, 1, 0, 3)))
    }


_MAKERS: dict[type, Callable[[Draw, Any, str], Any]] = {
    kinds.StructType: _struct,
    kinds.IntType: _integer,
    kinds.FloatType: _float,
    kinds.StrType: _string,
    kinds.VarTupleType: _list,
    kinds.ListType: _list,
    kinds.TupleType: lambda draw, kind, name: [_value(draw, item, name) for item in kind.item_types],
    kinds.DictType: _dictionary,
    kinds.BoolType: lambda draw, *_: draw.random() < 0.5,
    kinds.NoneType: lambda *_: None,
    kinds.LiteralType: lambda draw, kind, _: draw.choice(kind.values),
    kinds.UnionType: lambda draw, kind, name: _value(draw, draw.choice(kind.types), name),
    kinds.BytesType: lambda draw, *_: draw.choice(("AAAAAAAAAAA=", "", "x", "AAAA" * 9)),
}
