"""One head, one query, one key: attention number by number, from the stream to what the head writes back to it.

Every value is a site of the trace or made from sites by the very functions that ran (`model.again` for pairs of
tokens). Indices in formulas are written `_{ij}`: i is the query, j the key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isclose

import numpy as np
import torch
from torch import Tensor

from model.analysis.head_outputs import moved
from model.array_types import Shaped
from model.errors import EditError, TextError
from model.nn.attention import Attention
from model.nn.attention_functions import Kernel
from model.nn.norms import soft_cap
from model.nn.positional_encodings import Position
from model.nn.sites import PAIRED, SITES
from model.nn.transformer import Transformer, attention_at
from model.tracing.interventions import Intervention
from model.tracing.recompute import scene
from model.tracing.trace import Trace


@dataclass(frozen=True, eq=False)
class Value:
    """A row of numbers, or one number: its sign in the formulas, and what it counts along.

    `axis` is "width", "channel", "value_channel" or "key", or empty for one number.
    """

    sign: str
    numbers: Shaped[np.ndarray, " *along"]
    axis: str = ""


@dataclass(frozen=True, eq=False)
class Step:
    """One step: what goes in, and last what comes out; `sites` are the values of the trace that it makes.

    `edited` says whether an edit put other numbers in place of the ones that the formula gives.
    """

    name: str
    title: str
    formula: str
    values: tuple[Value, ...]
    sites: tuple[str, ...] = ()
    edited: bool = False


def keep(attention: str) -> tuple[str, ...]:
    """What a trace must hold for the steps of one attention, such as `decoder.3.self`; pairs are made again."""
    layer = attention.rpartition(".")[0]
    around = (f"{layer}.{site}" for site in ("residual", "after_self", "after_cross"))
    return (*(f"{attention}.{site}" for site in SITES if site not in PAIRED), *around, "encoder.final")


def favourite(model: Transformer, trace: Trace, attention: str, head: int, query: int) -> int:
    """The key that a query of a head looks at most."""
    return int(_Chain(model, trace, attention, head, query, 0).pairs["weights"].argmax())


@torch.inference_mode()
def steps(model: Transformer, trace: Trace, attention: str, head: int, query: int, key: int) -> tuple[Step, ...]:
    """The steps of one head of `attention` (a path such as `decoder.3.self`) between two tokens, counted from 0.

    Raises EditError for an attention or head, TextError for a token that is not there.
    """
    return tuple(_Chain(model, trace, attention, head, query, key).steps())


class _Chain:
    """The numbers of one head between two tokens."""

    def __init__(self, model: Transformer, trace: Trace, attention: str, head: int, query: int, key: int) -> None:
        self.trace, self.path, self.head, self.query, self.key = trace, attention, head, query, key
        self.part, self.scheme = attention_at(model, attention)
        self.kind, self.layer = attention.rpartition(".")[2], attention.rpartition(".")[0]
        self.kernel: Kernel = self.part.kernel
        self.shared = head // self.part.shared
        self._check()
        made = scene(model, trace, attention).made(head, slice(query, query + 1))
        self.pairs = {site: _array(row[0, 0]) for site, row in made.items()}

    def _check(self) -> None:
        if not 0 <= self.head < self.part.heads:
            raise EditError(f"There is no head {self.head}; this layer has {self.part.heads}, counted from 0.")
        for place, length in ((self.query, self._value("q").shape[1]), (self.key, self._value("k").shape[1])):
            if not 0 <= place < length:
                raise TextError(f"There is no token {place}: the text has {length}, counted from 0.")

    def steps(self) -> Iterator[Step]:
        yield self._read()
        yield self._project()
        q, k = self._turned()
        if self._opens("rotate") or self._edited("rotated_q", "rotated_k"):
            yield self._rotate()
        if self.kernel.formulas.feature:
            q, k = self.kernel.feature(q), self.kernel.feature(k)
            values = (Value("φ(q_{i})", _array(q), "channel"), Value("φ(k_{j})", _array(k), "channel"))
            yield Step("feature", "Made positive", self.kernel.formulas.feature, values)
        yield from self._score(q, k)
        yield self._mask()
        yield self._weigh()
        yield self._mix()
        yield self._write()

    def _value(self, site: str) -> np.ndarray:
        return self.trace[f"{self.path}.{site}"]

    def _pair(self, site: str) -> np.ndarray:
        return np.asarray(self.pairs[site][self.key])

    def _edited(self, *sites: str) -> bool:
        edits = [Intervention.parse(edit) for edit in self.trace.interventions]
        return any(edit.matches(f"{self.path}.{site}") for edit in edits for site in sites)

    def _opens(self, door: str) -> bool:
        return getattr(type(self.scheme), door) is not getattr(Position, door)

    def _read(self) -> Step:
        stream = self.trace[f"{self.layer}.{'residual' if self.kind == 'self' else 'after_self'}"][self.query]
        x = self._value("input")
        other = x if self.kind == "self" else self.trace["encoder.final"]
        same = np.array_equal(stream, x[self.query])
        formula = "x_{i} = h_{i}" if same else "x_{i} = Norm(h_{i})"
        if self.kind == "cross":
            formula += ",   x_{j} = what the encoder made of source token j"
        values = (Value("h_{i}", stream, "width"), Value("x_{i}", x[self.query], "width"))
        return Step("read", "Read", formula, (*values, Value("x_{j}", other[self.key], "width")), ("input",),
                    self._edited("input"))  # fmt: skip

    def _project(self) -> Step:
        def formula(result: str, source: str, layer: torch.nn.Linear, normed: bool) -> str:
            letter = result[0].upper()
            made = f"{source} W_{{{letter}}}" + (f" + b_{{{letter}}}" if layer.bias is not None else "")
            return f"{result} = {f'Norm({made})' if normed else made}"

        part = self.part
        normed = any(True for _ in part.query_norm.parameters())
        formulas = (
            formula("q_{i}", "x_{i}", part.query, normed),
            formula("k_{j}", "x_{j}", part.key, normed),
            formula("v_{j}", "x_{j}", part.value, False),
        )
        values = (
            Value("q_{i}", self._value("q")[self.head, self.query], "channel"),
            Value("k_{j}", self._value("k")[self.shared, self.key], "channel"),
            Value("v_{j}", self._value("v")[self.shared, self.key], "value_channel"),
        )
        return Step("project", "Query, key, value", ",   ".join(formulas), values, ("q", "k", "v"),
                    self._edited("q", "k", "v"))  # fmt: skip

    def _turned(self) -> tuple[Tensor, Tensor]:
        q = torch.tensor(self._value("rotated_q")[self.head, self.query])
        return q, torch.tensor(self._value("rotated_k")[self.shared, self.key])

    def _rotate(self) -> Step:
        q, k = self._turned()
        values = (
            Value("q_{i}", self._value("q")[self.head, self.query], "channel"),
            Value("q'_{i}", _array(q), "channel"),
            Value("k_{j}", self._value("k")[self.shared, self.key], "channel"),
            Value("k'_{j}", _array(k), "channel"),
        )
        formula = f"q'_{{i}} = R_{{{self.query}}} q_{{i}},   k'_{{j}} = R_{{{self.key}}} k_{{j}}"
        sites = ("rotated_q", "rotated_k")
        return Step("rotate", "Turned by position", formula, values, sites, self._edited(*sites))

    def _score(self, q: Tensor, k: Tensor) -> Iterator[Step]:
        mark = "'" if self._opens("rotate") else ""
        first, second = f"q{mark}_{{i}}", f"k{mark}_{{j}}"
        if self.kernel.formulas.feature:
            first, second = f"φ({first})", f"φ({second})"
        product, part = q * k, self.part
        pairs = (Value(first, _array(q), "channel"), Value(second, _array(k), "channel"))
        row = Value("p_{c}", _array(product), "channel")
        yield Step("multiply", "Channel by channel", f"p_{{c}} = {first.replace('i', 'ic')} · "
                   f"{second.replace('j', 'jc')}", (*pairs, row))  # fmt: skip
        total = product.sum()
        dot = Value(f"{first} · {second}", _array(total))
        yield Step("sum", "Summed", f"{dot.sign} = Σ_{{c}} p_{{c}}", (row, dot))
        scale = float(self._value("scale")[self.head])
        scaled = total * scale
        last = not (part.cap or self._placed())
        score = Value("s_{ij}", _array(scaled))
        yield Step("scale", "Scaled", f"s_{{ij}} = {dot.sign} {_scaling(part, scale)}", (dot, score),
                   ("scale", "scores") if last else ("scale",),
                   self._edited("scale") or (last and self._edited("scores")))  # fmt: skip
        if self._placed():
            bias = torch.tensor(self._pair("bias"))
            placed = self.kernel.place(scaled.view(1, 1, 1, 1), bias.view(1, 1, 1, 1)).view(())
            values = (score, Value("b_{ij}", _array(bias)), Value("s_{ij}", _array(placed)))
            sites = ("bias",) if part.cap else ("bias", "scores")
            formula = f"s_{{ij}} ← {self.kernel.formulas.place}"
            yield Step("bias", "Position bias", formula, values, sites, self._edited(*sites))
            score, scaled = values[-1], placed
        if part.cap:
            formula = f"s_{{ij}} ← {part.cap:g} · tanh(s_{{ij}} / {part.cap:g})"
            capped = Value("s_{ij}", _array(soft_cap(scaled, part.cap)))
            yield Step("cap", "Capped", formula, (score, capped), ("scores",), self._edited("scores"))

    def _placed(self) -> bool:
        return self._opens("bias") or self._opens("relate") or self._edited("bias")

    def _mask(self) -> Step:
        allowed = self.pairs["mask"] > 0
        masked = self.pairs["masked"]
        shown = np.where(masked <= np.finfo(np.float32).min, -np.inf, masked)
        values = (
            Value("s_{ij}", self.pairs["scores"], "key"),
            Value("m_{ij}", allowed.astype(np.float32), "key"),
            Value("s_{ij}", shown.astype(np.float32), "key"),
        )
        formula = f"s_{{ij}} ← {self.kernel.formulas.mask}"
        return Step("mask", "Masked", formula, values, ("mask", "masked"), self._edited("mask", "masked"))

    def _weigh(self) -> Step:
        scores = self._mask().values[-1]
        formula = f"a_{{ij}} = {self.kernel.formulas.weigh}"
        values = (scores, Value("a_{ij}", self.pairs["weights"], "key"))
        return Step("weigh", "Weights", formula, values, ("weights",), self._edited("weights"))

    def _mix(self) -> Step:
        weight, v = self._pair("weights"), self._value("v")[self.shared, self.key]
        values = (
            Value("a_{ij}", weight),
            Value("v_{j}", v, "value_channel"),
            Value("a_{ij} v_{j}", weight * v, "value_channel"),
            Value("z_{i}", self._value("mixed")[self.head, self.query], "value_channel"),
        )
        return Step("mix", "Weighted values", "z_{i} = Σ_{j} a_{ij} v_{j}", values, ("mixed",), self._edited("mixed"))

    def _write(self) -> Step:
        mixed = torch.tensor(self._value("mixed")[:, self.query])
        written = moved(self.part, mixed)
        bias = " + b_{O}" if self.part.output.bias is not None else ""
        formula = f"o_{{i}} = z_{{i}} W_{{O}},   together = Σ_{{heads}} o_{{i}}{bias}"
        values = (
            Value("z_{i}", self._value("mixed")[self.head, self.query], "value_channel"),
            Value("o_{i}", _array(written[self.head]), "width"),
            Value("together", self._value("output")[self.query], "width"),
        )
        return Step("write", "Written to the stream", formula, values, ("output",), self._edited("output"))


def _scaling(part: Attention, scale: float) -> str:
    width = part.query.out_features // part.heads
    if isclose(scale, width**-0.5, rel_tol=1e-6):
        return f"/ √{width}"
    return "(not scaled)" if scale == 1.0 else f"· {scale:.4g}"


def _array(value: Tensor) -> np.ndarray:
    numbers: np.ndarray = (value.float() if value.is_floating_point() else value).cpu().numpy()
    return numbers
