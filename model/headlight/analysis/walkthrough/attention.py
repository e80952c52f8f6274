"""Attention of one head for one query and key, then the networks of its layer, step by step with all values.

Each value is a hook point of the trace, or computed from hook points by the network's own functions. In the formulas
the indices `_{ij}` are i for the query and j for the key.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.residual_stream import per_head_output
from headlight.analysis.walkthrough.steps import StepValue, WalkthroughStep, is_edited
from headlight.config import Config
from headlight.nn.attention import Attention
from headlight.nn.attention_functions import AttentionFunction
from headlight.nn.experts import MixtureOfExperts
from headlight.nn.hooks import HOOK_POINTS, QUERY_KEY_HOOK_POINTS
from headlight.nn.layers import FEED_FORWARDS, MLP, GatedMLP, soft_cap
from headlight.nn.positional_encodings import PositionalEncoding
from headlight.nn.stack import ResidualConnection
from headlight.nn.transformer import Transformer, attention_at
from headlight.tracing.recompute import recompute_attention
from headlight.tracing.recording import to_numpy
from headlight.tracing.trace import Trace, require_head, require_position
from headlight.views.words import digits


def paths_to_keep(config: Config, path: str) -> tuple[str, ...]:
    """Paths that a trace must keep for the steps of attention at `path` (`decoder.3.self`); scores are recomputed."""
    layer = path.rpartition(".")[0]
    residual_paths = (f"{layer}.{name}" for name in ("residual", "residual_after_self", "residual_after_cross"))
    return (
        *(f"{path}.{name}" for name in HOOK_POINTS if name not in QUERY_KEY_HOOK_POINTS),
        f"{config.key_value_path(path)}.input",
        *residual_paths,
        *(f"{layer}.feed_forward.{name}" for name in ("input", "neurons", "router_weights", "output")),
        *(f"{layer}.layer_embedding.{name}" for name in ("input", "token_vector", "output")),
        f"{path.partition('.')[0]}.position_ids",
        "encoder.final_residual",
    )


def most_attended_key(model: Transformer, trace: Trace, path: str, head: int, query: int) -> int:
    """The key with the largest weight for a query of a head."""
    return int(_Walkthrough(model, trace, path, head, query, 0).rows["weights"].argmax())


@torch.inference_mode()
def attention_walkthrough(
    model: Transformer, trace: Trace, path: str, head: int, query: int, key: int
) -> tuple[WalkthroughStep, ...]:
    """The steps of one head of the attention at `path` (`decoder.3.self`) between two tokens, counted from 0.

    Raises EditError for an attention or head, TextError for a token that does not exist.
    """
    return tuple(_Walkthrough(model, trace, path, head, query, key).steps())


class _Walkthrough:
    """The values of one head for one query and key."""

    def __init__(self, model: Transformer, trace: Trace, path: str, head: int, query: int, key: int) -> None:
        self.trace, self.path, self.head, self.query, self.key = trace, path, head, query, key
        self.attention, self.positional_encoding = attention_at(model, path)
        self.key_path = model.config.key_value_path(path)
        self.key_attention, _ = attention_at(model, self.key_path)
        stack, layer, _ = path.split(".")
        block = model.stack(stack).blocks[int(layer)]
        self.feed_forward = block.feed_forward
        self.activation = FEED_FORWARDS[model.stack(stack).config.feed_forward].title
        self.is_sparse = model.config.for_path(path).activation_sparsity > 0
        self.embedding_activation = model.config.layer_embedding.activation
        self.kind, self.layer = path.rpartition(".")[2], path.rpartition(".")[0]
        self.residual_connection: ResidualConnection = getattr(block, f"{self.kind}_attention_residual")
        self.attention_function: AttentionFunction = self.attention.attention_function
        self.key_value_head = head // self.attention.group_size
        self._check()
        values = recompute_attention(model, trace, path).compute(slice(query, query + 1), slice(head, head + 1))
        self.rows = {name: to_numpy(row[0, 0]) for name, row in values.items()}

    def _check(self) -> None:
        require_head(self.head, self.attention.heads)
        require_position(self.query, self._value("q").shape[1])
        require_position(self.key, self._value("k").shape[1])

    def steps(self) -> Iterator[WalkthroughStep]:
        yield self._input_step()
        yield self._projection_step()
        q, k = self._rotated()
        if self._overrides("rotate") or self._edited("rotated_q", "rotated_k"):
            yield self._rotation_step()
        if self.attention_function.step_formulas.feature_map:
            q, k = self.attention_function.feature_map(q), self.attention_function.feature_map(k)
            values = (StepValue("φ(q_{i})", to_numpy(q), "head_dim"), StepValue("φ(k_{j})", to_numpy(k), "head_dim"))
            yield self._step("feature-map", self.attention_function.step_formulas.feature_map, values)
        yield from self._score_steps(q, k)
        yield self._mask_step()
        yield self._weights_step()
        yield self._weighted_sum_step()
        yield self._output_step()
        yield from self._feed_forward_step()
        yield from self._layer_embedding_step()

    def _step(
        self, name: str, formula: str, values: tuple[StepValue, ...], hook_points: tuple[str, ...] = ()
    ) -> WalkthroughStep:
        paths = tuple(f"{self.path}.{hook_point}" for hook_point in hook_points)
        return WalkthroughStep(name, formula, values, paths, is_edited(self.trace, *paths))

    def _value(self, hook_point: str) -> np.ndarray:
        return self.trace[f"{self.path}.{hook_point}"]

    def _at_key(self, hook_point: str) -> np.ndarray:
        return np.asarray(self.rows[hook_point][self.key])

    def _edited(self, *hook_points: str) -> bool:
        return is_edited(self.trace, *(f"{self.path}.{name}" for name in hook_points))

    def _overrides(self, method: str) -> bool:
        return getattr(type(self.positional_encoding), method) is not getattr(PositionalEncoding, method)

    def _input_step(self) -> WalkthroughStep:
        before = "residual" if self.kind == "self" else "residual_after_self"
        residual = self.trace[f"{self.layer}.{before}"][self.query]
        x = self._value("input")
        other = x if self.kind == "self" else self.trace["encoder.final_residual"]
        formula = "x_{i} = Norm(h_{i})" if self.residual_connection.normalizes_input else "x_{i} = h_{i}"
        if self.kind == "cross":
            formula += ",   x_{j} = encoder output of source token j"
        values: tuple[StepValue, ...] = (
            StepValue("h_{i}", residual, "d_model"),
            StepValue("x_{i}", x[self.query], "d_model"),
        )
        values += (StepValue("x_{j}", other[self.key], "d_model"),)
        return self._step("input", formula, values, ("input",))

    def _projection_step(self) -> WalkthroughStep:
        def formula(result: str, source: str, layer: torch.nn.Linear, normed: bool, letter: str = "") -> str:
            letter = letter or result[0].upper()
            compressions = {"Q": attention.query_compression, "KV": attention.key_value_compression}
            name = letter if letter == "Q" else "KV"
            source = source if compressions[name] is None else f"compress_{{{name}}}({source})"
            projection = f"{source} W_{{{letter}}}" + (f" + b_{{{letter}}}" if layer.bias is not None else "")
            projection = f"Norm({projection})" if normed else projection
            limit = attention.qkv_limit
            return f"{result} = {f'clamp({projection}, ±{digits(limit, 6)})' if limit else projection}"

        attention, maker = self.attention, self.key_attention
        normed, values_normed = (
            not isinstance(each, torch.nn.Identity) for each in (attention.query_norm, maker.value_norm)
        )
        key = maker.key
        assert key is not None  # of the attention that computes the keys
        formulas = [
            formula("q_{i}", "x_{i}", attention.query, normed),
            formula("k_{j}", "x_{j}", key, normed),
            formula("v_{j}", "x_{j}", maker.value or key, values_normed, "V" if maker.value else "K"),
        ]
        if attention.temperature_length:
            ids = torch.tensor(self.trace[f"{self.path.partition('.')[0]}.position_ids"])  # an edit may move a token
            formulas[0] += f" · {digits(attention.query_factor(ids)[self.query], 6)}"
        if maker is not attention:
            formulas[1:] = [f"k_{{j}} and v_{{j}} of layer {self.key_path.split('.')[1]}"]
        values = (
            StepValue("q_{i}", self._value("q")[self.head, self.query], "head_dim"),
            StepValue("k_{j}", self._value("k")[self.key_value_head, self.key], "head_dim"),
            StepValue("v_{j}", self._value("v")[self.key_value_head, self.key], "value_head_dim"),
        )
        return self._step("project", ",   ".join(formulas), values, ("q", "k", "v"))

    def _rotated(self) -> tuple[Tensor, Tensor]:
        q = torch.tensor(self._value("rotated_q")[self.head, self.query])
        return q, torch.tensor(self._value("rotated_k")[self.key_value_head, self.key])

    def _rotation_step(self) -> WalkthroughStep:
        q, k = self._rotated()
        values = (
            StepValue("q_{i}", self._value("q")[self.head, self.query], "head_dim"),
            StepValue("q'_{i}", to_numpy(q), "head_dim"),
            StepValue("k_{j}", self._value("k")[self.key_value_head, self.key], "head_dim"),
            StepValue("k'_{j}", to_numpy(k), "head_dim"),
        )
        ids = self.trace[f"{self.path.partition('.')[0]}.position_ids"]  # an edit may move a token
        formula = f"q'_{{i}} = R_{{{ids[self.query]:g}}} q_{{i}},   k'_{{j}} = R_{{{ids[self.key]:g}}} k_{{j}}"
        return self._step("rotate", formula, values, ("rotated_q", "rotated_k"))

    def _score_steps(self, q: Tensor, k: Tensor) -> Iterator[WalkthroughStep]:
        prime = "'" if self._overrides("rotate") else ""
        first, second = f"q{prime}_{{i}}", f"k{prime}_{{j}}"
        if self.attention_function.step_formulas.feature_map:
            first, second = f"φ({first})", f"φ({second})"
        product = q * k
        factors = (StepValue(first, to_numpy(q), "head_dim"), StepValue(second, to_numpy(k), "head_dim"))
        row = StepValue("p_{c}", to_numpy(product), "head_dim")
        formula = f"p_{{c}} = {first.replace('i', 'ic')} · {second.replace('j', 'jc')}"
        yield self._step("multiply", formula, (*factors, row))
        dot = StepValue(f"{first} · {second}", to_numpy(product.sum()))
        yield self._step("sum", f"{dot.symbol} = Σ_{{c}} p_{{c}}", (row, dot))
        scale, soft_cap_limit = float(self._value("scale")[self.head]), self.attention.score_soft_cap
        score = product.sum() * scale
        is_last = not (soft_cap_limit or self._has_bias())
        formula = f"s_{{ij}} = {dot.symbol} {_scaling(self.attention, scale)}"
        hook_points = ("scale", "scores") if is_last else ("scale",)
        yield self._step("scale", formula, (dot, StepValue("s_{ij}", to_numpy(score))), hook_points)
        if self._has_bias():
            bias = torch.tensor(self._at_key("bias"))
            biased = self.attention_function.add_bias(score.view(1, 1, 1, 1), bias.view(1, 1, 1, 1)).view(())
            formula = f"s_{{ij}} ← {self.attention_function.step_formulas.add_bias}"
            hook_points = ("bias",) if soft_cap_limit else ("bias", "scores")
            yield self._step(
                "bias", formula, _score_values(score, biased, StepValue("b_{ij}", to_numpy(bias))), hook_points
            )
            score = biased
        if soft_cap_limit:
            limit = digits(soft_cap_limit, 6)
            formula = f"s_{{ij}} ← {limit} · tanh(s_{{ij}} / {limit})"
            yield self._step("soft-cap", formula, _score_values(score, soft_cap(score, soft_cap_limit)), ("scores",))

    def _has_bias(self) -> bool:
        return self._overrides("bias") or self._overrides("content_bias") or self._edited("bias")

    def _mask_step(self) -> WalkthroughStep:
        allowed = self.rows["mask"] > 0
        masked = self.rows["masked_scores"]
        shown = np.where(masked <= np.finfo(np.float32).min, -np.inf, masked)
        values = (
            StepValue("s_{ij}", self.rows["scores"], "key"),
            StepValue("m_{ij}", allowed.astype(np.float32), "key"),
            StepValue("s_{ij}", shown.astype(np.float32), "key"),
        )
        formula = f"s_{{ij}} ← {self.attention_function.step_formulas.mask}"
        return self._step("mask", formula, values, ("mask", "masked_scores"))

    def _weights_step(self) -> WalkthroughStep:
        scores = self._mask_step().values[-1]
        formula = f"a_{{ij}} = {self.attention_function.step_formulas.normalize}"
        values: tuple[StepValue, ...] = (scores, StepValue("a_{ij}", self.rows["weights"], "key"))
        if self.attention.sinks is not None:
            formula += ",   the sum over the head's sink, too"
            rest = 1 - self.rows["weights"].sum(dtype=np.float64)
            sink = StepValue("s_{sink}", np.asarray(self._value("sink")[self.head]))
            values = (scores, sink, StepValue("a_{sink}", np.asarray(np.float32(rest))), values[1])
            return self._step("weights", formula, values, ("sink", "weights"))
        return self._step("weights", formula, values, ("weights",))

    def _weighted_sum_step(self) -> WalkthroughStep:
        weight, v = self._at_key("weights"), self._value("v")[self.key_value_head, self.key]
        gates: tuple[StepValue, ...] = ()
        if self.attention.gate is not None:
            gates = (StepValue("g_{i}", self._value("gate")[self.head, self.query], "value_head_dim"),)
        values = (
            StepValue("a_{ij}", weight),
            StepValue("v_{j}", v, "value_head_dim"),
            StepValue("a_{ij} v_{j}", weight * v, "value_head_dim"),
            *gates,
            StepValue("z_{i}", self._value("weighted_values")[self.head, self.query], "value_head_dim"),
        )
        formula = f"z_{{i}} = {'g_{i} · ' if gates else ''}Σ_{{j}} a_{{ij}} v_{{j}}"
        return self._step("weighted-sum", formula, values, ("gate", "weighted_values")[not gates :])

    def _output_step(self) -> WalkthroughStep:
        weighted_values = torch.tensor(self._value("weighted_values")[:, self.query])
        head_outputs = per_head_output(self.attention, weighted_values)
        bias = " + b_{O}" if self.attention.output.bias is not None else ""
        formula = f"o_{{i}} = z_{{i}} W_{{O}},   output = Σ_{{heads}} o_{{i}}{bias}"
        values = (
            StepValue("z_{i}", self._value("weighted_values")[self.head, self.query], "value_head_dim"),
            StepValue("o_{i}", to_numpy(head_outputs[self.head]), "d_model"),
            StepValue("output", self._value("output")[self.query], "d_model"),
        )
        return self._step("output", formula, values, ("output",))

    def _feed_forward_step(self) -> Iterator[WalkthroughStep]:
        """The output of the layer's feed-forward network at the query, if the layer has one."""
        path = f"{self.layer}.feed_forward"
        if f"{path}.output" not in self.trace.values:
            return
        has_experts = f"{path}.router_weights" in self.trace.values
        between = {"router_weights": ("r_{i}", "expert")} if has_experts else {"neurons": ("n_{i}", "d_ff")}
        names = {"input": ("x_{i}", "d_model"), **between, "output": ("f_{i}", "d_model")}
        formula = _feed_forward_formula(self.feed_forward, self.activation, self.is_sparse)
        yield self._network_step("feed-forward", formula, path, names)

    def _layer_embedding_step(self) -> Iterator[WalkthroughStep]:
        """The output of the layer embedding at the query, if the layer has one."""
        path = f"{self.layer}.layer_embedding"
        if f"{path}.output" not in self.trace.values:
            return
        names = {
            "input": ("x_{i}", "d_model"),
            "token_vector": ("u_{i}", "layer_channel"),
            "output": ("e_{i}", "d_model"),
        }
        formula = f"e_{{i}} = ({self.embedding_activation}(x_{{i}} W_{{gate}}) · u_{{i}}) W_{{e}}"
        yield self._network_step("layer-embedding", formula, path, names)

    def _network_step(
        self, name: str, formula: str, path: str, hook_points: dict[str, tuple[str, str]]
    ) -> WalkthroughStep:
        """The values at hook points for the query only, each with its symbol and axis."""
        values = tuple(
            StepValue(symbol, self.trace[f"{path}.{each}"][self.query], axis)
            for each, (symbol, axis) in hook_points.items()
        )
        paths = tuple(f"{path}.{each}" for each in hook_points)
        return WalkthroughStep(name, formula, values, paths, is_edited(self.trace, *paths))


def _score_values(before: Tensor, after: Tensor, *between: StepValue) -> tuple[StepValue, ...]:
    return (StepValue("s_{ij}", to_numpy(before)), *between, StepValue("s_{ij}", to_numpy(after)))


def _scaling(attention: Attention, scale: float) -> str:
    head_dim = attention.query.out_features // attention.heads
    if isclose(scale, head_dim**-0.5, rel_tol=1e-6):
        return f"/ √{head_dim}"
    return "(not scaled)" if scale == 1.0 else f"· {digits(scale, 4)}"


def _feed_forward_formula(feed_forward: object, activation: str, is_sparse: bool) -> str:
    def largest(product: str) -> str:
        """The formula of the activation's input: if it is sparse, the excess over the token's cutoff."""
        return f"max({product} - c_{{i}}, 0)" if is_sparse else product

    match feed_forward:
        case MLP():
            bias, end_bias = (
                f" + b_{{{name}}}" if layer.bias is not None else ""
                for name, layer in (("1", feed_forward.up), ("2", feed_forward.down))
            )
            return f"n_{{i}} = {activation}({largest(f'x_{{i}} W_{{1}}{bias}')}),   f_{{i}} = n_{{i}} W_{{2}}{end_bias}"
        case GatedMLP():
            gate = largest("x_{i} W_{gate}")
            return f"n_{{i}} = {activation}({gate}, x_{{i}} W_{{up}}),   f_{{i}} = n_{{i}} W_{{down}}"
        case MixtureOfExperts():
            return f"f_{{i}} = {_experts_formula(feed_forward)}"
        case _:
            raise TypeError(f"There is no formula for a {type(feed_forward).__name__}.")


def _experts_formula(mixture: MixtureOfExperts) -> str:
    has_norms = mixture.experts.own_norms
    x = "Norm(x_{i})" if has_norms else "x_{i}"
    routed = f"expert_{{e}}(r_{{ie}} {x})" if mixture.experts.share_of_input else f"r_{{ie}} expert_{{e}}({x})"
    parts = [f"Σ_{{e}} {routed}", *[f"expert_{{shared}}({x})"] * (mixture.shared is not None)]
    return " + ".join(f"Norm({part})" if has_norms else part for part in parts)
