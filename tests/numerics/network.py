"""A network in NumPy: weights as stored in a file, and one forward pass in float64.

Nothing here comes from `headlight`; values have the paths under which a trace records them, so that they compare.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

Array = NDArray[np.float64]
SIZES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}


def read_tensors(path: Path) -> dict[str, Array]:
    """The tensors of a safetensors file: eight bytes for the length of the JSON header, the header, the numbers."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    tensors = {}
    for name, part in json.loads(content[8:start]).items():
        if name != "__metadata__":
            first, last = (start + offset for offset in part["data_offsets"])
            numbers = np.frombuffer(content[first:last], SIZES[part["dtype"]])
            if part["dtype"] == "BF16":  # the upper half of a float32
                numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
            tensors[name] = numbers.astype(np.float64).reshape(part["shape"])
    return tensors


ACTIVATIONS: Mapping[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.where(x > 0, x, 0.0),
    "gelu": lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "gelu-tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "swiglu": lambda x: x / (1 + np.exp(-x)),
}


def softmax(x: Array) -> Array:
    """Softmax over the last axis; zeros for a row without finite scores."""
    largest = x.max(-1, keepdims=True)
    exponentials = np.exp(x - np.where(np.isfinite(largest), largest, 0.0))
    total = exponentials.sum(-1, keepdims=True)
    rows: Array = np.divide(exponentials, total, out=np.zeros_like(exponentials), where=total > 0)
    return rows


@dataclass(frozen=True)
class Network:
    """Weights by name (`decoder.blocks.0.self_attention.query.weight`), and the settings for their use."""

    weights: Mapping[str, Array]
    tokenizer: Tokenizer
    stacks: tuple[str, ...]
    layers: Mapping[str, int]
    heads: int
    key_value_heads: int
    norm: str
    epsilon: float
    placement: str
    feed_forward: str
    positions: str
    causal: bool
    output: str  # language-model, masked-language-model, token-classifier, sequence-classifier
    context_length: int
    theta: float = 10_000.0
    embedding_scale: float = 1.0
    pooling: str = "first"
    start_token: int = 0
    buckets: tuple[int, int] = (32, 128)
    patch: tuple[int, int] = (0, 0)

    @property
    def predicting(self) -> str:
        """The stack that makes the prediction."""
        return self.stacks[-1]

    def linear(self, name: str, x: Array) -> Array:
        """x W + b."""
        bias = self.weights.get(f"{name}.bias")
        return x @ self.weights[f"{name}.weight"].T + (0.0 if bias is None else bias)

    def normalized(self, name: str, x: Array) -> Array:
        """x after the norm of that name; x itself if there is none."""
        if f"{name}.weight" not in self.weights:
            return x
        centred = x if self.norm == "rmsnorm" else x - x.mean(-1, keepdims=True)
        scaled: Array = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + self.epsilon)
        scaled = scaled * self.weights[f"{name}.weight"] + self.weights.get(f"{name}.bias", 0.0)
        return scaled

    def forward(
        self, ids: Sequence[int], source: Sequence[int] | Array = (), off: tuple[str, int] | None = None
    ) -> dict[str, Array]:
        """Each value by its path; `off` is an attention's path and the head whose weights are set to zero."""
        values: dict[str, Array] = {}
        memory = None
        if len(self.stacks) == 2:
            memory = self._stack("encoder", self.embed(source), None, values, off)
        hidden = self._stack(self.predicting, self.embed(ids), memory, values, off)
        values["logits"] = self.logits(hidden)
        return values

    def embed(self, text: Sequence[int] | Array) -> Array:
        """The embeddings of tokens, or of the patches of pixels [channel row column]."""
        if not isinstance(text, np.ndarray):
            rows = self.weights["embedding.weight"][list(text)] * self.embedding_scale
            return (
                rows + self.weights["segment_embedding.weight"][0]
                if "segment_embedding.weight" in self.weights
                else rows
            )
        height, width = self.patch
        weight, bias = (self.weights[f"patch_embedding.projection.{part}"] for part in ("weight", "bias"))
        patches = [
            text[:, row : row + height, column : column + width]
            for row in range(0, text.shape[1], height)
            for column in range(0, text.shape[2], width)
        ]
        return np.array([(weight * patch).sum((1, 2, 3)) + bias for patch in patches])

    def position_embedding(self, stack: str, length: int, width: int) -> Array:
        """The position embeddings added to the token embeddings."""
        if self.positions == "learned":
            return self.weights[f"{stack}.positional_encoding.table.weight"][:length]
        table = np.zeros((length, width))
        if self.positions == "sinusoidal":
            for position in range(length):
                for channel in range(width):
                    angle = position / 10_000 ** (channel // 2 * 2 / width)
                    table[position, channel] = math.cos(angle) if channel % 2 else math.sin(angle)
        return table

    def angles(self, length: int, width: int) -> Array:
        """The rotation of each pair of channels at each position (radians)."""
        return np.array(
            [[at * self.theta ** (-2 * pair / width) for pair in range(width // 2)] for at in range(length)]
        )

    def bias(self, stack: str, length: int) -> Array:
        """The bias added to the scores [head query key]."""
        distance = np.arange(length)[None, :] - np.arange(length)[:, None]
        if self.positions == "alibi":
            return np.array([-(2.0 ** (-8 * (head + 1) / self.heads)) * np.abs(distance) for head in range(self.heads)])
        if self.positions == "relative":
            table = self.weights[f"{stack}.positional_encoding.bias_table.weight"]
            bucket = np.vectorize(lambda d: self.bucket(int(d), stack == "encoder"))(distance)
            return np.moveaxis(table[bucket], -1, 0)
        return np.zeros((self.heads, length, length))

    def bucket(self, distance: int, both_ways: bool) -> int:
        """The bucket of a distance, key minus query (Raffel et al. 2020)."""
        count, largest = self.buckets
        offset = 0
        if both_ways:
            count //= 2
            offset = count if distance > 0 else 0
        far = abs(distance) if both_ways else max(0, -distance)
        exact = count // 2
        if far < exact:
            return offset + far
        return offset + min(count - 1, exact + int(math.log(far / exact) / math.log(largest / exact) * (count - exact)))

    def _stack(
        self, stack: str, embedded: Array, memory: Array | None, values: dict[str, Array], off: tuple[str, int] | None
    ) -> Array:
        added = self.position_embedding(stack, *embedded.shape)
        values[f"{stack}.embedding"], values[f"{stack}.position_embedding"] = embedded, added
        x = self.normalized(f"{stack}.embedding_norm", embedded + added)
        for layer in range(self.layers[stack]):
            x = self._block(stack, layer, x, memory, values, off)
        values[f"{stack}.residual"] = x
        values[f"{stack}.final_residual"] = self.normalized(f"{stack}.final_norm", x)
        return values[f"{stack}.final_residual"]

    def _block(
        self,
        stack: str,
        layer: int,
        x: Array,
        memory: Array | None,
        values: dict[str, Array],
        off: tuple[str, int] | None,
    ) -> Array:
        place, block = f"{stack}.{layer}", f"{stack}.blocks.{layer}"
        values[f"{place}.residual"] = x
        x = self._sublayer(
            f"{block}.self_attention", x, lambda h: self._attend(stack, layer, "self", h, h, values, off)
        )
        values[f"{place}.residual_after_self"] = x
        if memory is not None:
            x = self._sublayer(
                f"{block}.cross_attention", x, lambda h: self._attend(stack, layer, "cross", h, memory, values, off)
            )
            values[f"{place}.residual_after_cross"] = x
        if self.feed_forward != "none":
            x = self._sublayer(f"{block}.feed_forward", x, lambda h: self._feed_forward(place, block, h, values))
        return x

    def _sublayer(self, name: str, x: Array, sublayer: Callable[[Array], Array]) -> Array:
        if self.placement == "none":
            return sublayer(x)
        norm = f"{name}_residual.norm"
        if self.placement == "pre":
            return x + sublayer(self.normalized(norm, x))
        return self.normalized(norm, x + sublayer(x))

    def _feed_forward(self, place: str, block: str, h: Array, values: dict[str, Array]) -> Array:
        up, activation = self.linear(f"{block}.feed_forward.up", h), ACTIVATIONS[self.feed_forward]
        gated = f"{block}.feed_forward.gate.weight" in self.weights
        inner = activation(self.linear(f"{block}.feed_forward.gate", h)) * up if gated else activation(up)
        values[f"{place}.feed_forward.output"] = self.linear(f"{block}.feed_forward.down", inner)
        return values[f"{place}.feed_forward.output"]

    def _split(self, x: Array, heads: int) -> Array:
        return x.reshape(len(x), heads, -1).transpose(1, 0, 2).repeat(self.heads // heads, 0)

    def _rotated(self, x: Array) -> Array:
        angles = self.angles(x.shape[1], x.shape[2])
        a, b = x[..., : x.shape[2] // 2], x[..., x.shape[2] // 2 :]
        return np.concatenate((a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)), -1)

    def _attend(
        self,
        stack: str,
        layer: int,
        kind: str,
        h: Array,
        memory: Array,
        values: dict[str, Array],
        off: tuple[str, int] | None,
    ) -> Array:
        name, place = f"{stack}.blocks.{layer}.{kind}_attention", f"{stack}.{layer}.{kind}"
        q = self._split(self.linear(f"{name}.query", h), self.heads)
        k, v = (self._split(self.linear(f"{name}.{part}", memory), self.key_value_heads) for part in ("key", "value"))
        bias, allowed = np.zeros(()), np.ones((len(h), len(memory)), bool)
        if kind == "self":
            q, k = (self._rotated(q), self._rotated(k)) if self.positions == "rope" else (q, k)
            bias = self.bias(stack, len(h))
            allowed = np.tril(allowed) if self.causal and stack == self.predicting else allowed
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1]) + bias
        weights = softmax(np.where(allowed, scores, -np.inf))
        if off and off[0] == place:
            weights[off[1]] = 0.0
        mixed = weights @ v
        values |= {f"{place}.scores": scores, f"{place}.weights": weights, f"{place}.weighted_values": mixed}
        values |= {f"{place}.v": v, f"{place}.allowed": allowed}
        return self.linear(f"{name}.output", mixed.transpose(1, 0, 2).reshape(len(h), -1))

    def logits(self, hidden: Array) -> Array:
        """The output head over the residual stream after the final norm, of each token or of the whole text."""
        if self.output == "sequence-classifier":
            hidden = hidden.mean(0) if self.pooling == "mean" else hidden[0]
        if "output_head.transform.weight" in self.weights:
            hidden = ACTIVATIONS["gelu"](self.linear("output_head.transform", hidden))
            hidden = self.normalized("output_head.norm", hidden)
        weight = self.weights.get("output_head.projection.weight", self.weights["embedding.weight"])
        return hidden @ weight.T + self.weights.get("output_head.projection.bias", 0.0)

    def decomposed(self, values: Mapping[str, Array], position: int) -> Array:
        """The logits at one token as a sum [component answer]: embedding, positions, and of each layer its heads
        (of self-attention, then of cross-attention), feed-forward and biases; last the biases outside the layers."""
        stack = self.predicting
        kinds = ("self", "cross") if len(self.stacks) == 2 else ("self",)
        has_feed_forward = self.feed_forward != "none"
        per_layer = len(kinds) * self.heads + has_feed_forward + 1
        table = np.zeros((2 + per_layer * self.layers[stack] + 1, values[f"{stack}.embedding"].shape[1]))
        table[0], table[1] = (values[f"{stack}.{part}"][position] for part in ("embedding", "position_embedding"))
        table = self._split_norm(f"{stack}.embedding_norm", table, -1)
        for layer in range(self.layers[stack]):
            first, block = 2 + layer * per_layer, f"{stack}.blocks.{layer}"
            bias_row = first + per_layer - 1
            for at, kind in enumerate(kinds):
                added, name = np.zeros_like(table), f"{block}.{kind}_attention"
                mixed = values[f"{stack}.{layer}.{kind}.weighted_values"][:, position]
                columns = np.split(self.weights[f"{name}.output.weight"], self.heads, axis=1)
                for head in range(self.heads):
                    added[first + at * self.heads + head] = columns[head] @ mixed[head]
                added[bias_row] += self.weights.get(f"{name}.output.bias", 0.0)
                table = self._split_sublayer(name, table, added, bias_row)
            if has_feed_forward:
                added = np.zeros_like(table)
                added[bias_row - 1] = values[f"{stack}.{layer}.feed_forward.output"][position]
                table = self._split_sublayer(f"{block}.feed_forward", table, added, bias_row)
        return self._split_output(self._split_norm(f"{stack}.final_norm", table, -1))

    def _split_sublayer(self, name: str, table: Array, added: Array, bias_row: int) -> Array:
        if self.placement == "none":
            return added
        summed = table + added
        return self._split_norm(f"{name}_residual.norm", summed, bias_row) if self.placement == "post" else summed

    def _split_norm(self, name: str, table: Array, bias_row: int) -> Array:
        """The parts of a norm's output: with the scale of the whole input fixed, a norm is linear."""
        if f"{name}.weight" not in self.weights:
            return table
        parts: Array = table if self.norm == "rmsnorm" else table - table.mean(-1, keepdims=True)
        parts = parts / np.sqrt((parts.sum(0) ** 2).mean() + self.epsilon) * self.weights[f"{name}.weight"]
        parts[bias_row] += self.weights.get(f"{name}.bias", 0.0)
        return parts

    def _split_output(self, table: Array) -> Array:
        if "output_head.transform.weight" in self.weights:
            table = table @ self.weights["output_head.transform.weight"].T
            table[-1] += self.weights["output_head.transform.bias"]
            whole = table.sum(0)
            table = self._split_norm("output_head.norm", table * (ACTIVATIONS["gelu"](whole) / whole), -1)
        added = table @ self.weights.get("output_head.projection.weight", self.weights["embedding.weight"]).T
        added[-1] += self.weights.get("output_head.projection.bias", 0.0)
        return added


def shipped(folder: Path) -> Network:
    """A network of Headlight's own files."""
    config: dict[str, Any] = json.loads((folder / "config.json").read_text())
    stacks = ("encoder", "decoder") if config["architecture"] == "encoder-decoder" else (config["architecture"],)
    return Network(
        read_tensors(folder / "model.safetensors"),
        Tokenizer.from_file(str(folder / "tokenizer.json")),
        stacks,
        {stacks[-1]: config["layers"], **({"encoder": config["encoder"]["layers"]} if len(stacks) == 2 else {})},
        config["heads"],
        config["key_value_heads"],
        config["norm"],
        config["norm_epsilon"],
        config["norm_placement"],
        config["feed_forward"],
        config["positional_encoding"],
        config["masks"] == ["causal"],
        config["output_head"],
        config["context_length"],
        config["rope"]["theta"],
        config["embedding"]["scale"],
        config["pooling"],
        config["decoder"]["start_token_id"],
        (config["relative_position"]["buckets"], config["relative_position"]["max_distance"]),
        (config["image"]["patch_height"], config["image"]["patch_width"]),
    )
