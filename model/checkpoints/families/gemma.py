"""Gemma 1, 2 and 3 (text)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from model.checkpoints.config_reader import Fields
from model.checkpoints.families.common import GATED, block, decoder_heads, language
from model.checkpoints.families.llama import AROUND, ATTENTION, QUERY_NORMS, ROWS, WEIGHTS, sizes
from model.checkpoints.families.rope import rotation, windows
from model.checkpoints.weight_mapping import Choices, Family, Head, Rows
from model.config_groups import Answer, ByLayer, Embed

_FIRST = {
    "vocab_size": 256_000, "max_position_embeddings": 8192, "head_dim": 256, "num_hidden_layers": 28,
    "hidden_size": 3072, "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 24_576,
    "hidden_activation": "gelu_pytorch_tanh",
}  # fmt: skip
_SECOND = _FIRST | {
    "num_hidden_layers": 26, "hidden_size": 2304, "num_attention_heads": 8, "num_key_value_heads": 4,
    "intermediate_size": 9216,
}  # fmt: skip
_THIRD = _SECOND | {"vocab_size": 262_208, "max_position_embeddings": 131_072}


def gemma(fields: Fields, defaults: Mapping[str, Any] = _FIRST) -> Choices:
    """Embeddings grow with the width, norms count their stretch from one."""
    choices = sizes(fields.filled(**defaults))
    gates = GATED | {"gelu": "geglu-tanh"}  # the first files say gelu and mean its approximation
    return choices | {
        "feedforward": fields.choice("hidden_act", "gelu_pytorch_tanh", gates),
        "norm": "shifted-rmsnorm",
        "embed": Embed(scale=choices["width"] ** 0.5),
        "biases": ATTENTION * fields.flag("attention_bias", False),
    }


def gemma2(fields: Fields) -> Choices:
    """Norms before and after, scores and logits kept within caps, a window in every other layer."""
    choices = gemma(fields, _SECOND) | {"placement": "sandwich", "feedforward": _gate(fields)}
    layers = choices["layers"]
    usual = [("sliding_attention", "full_attention")[layer % 2] for layer in range(layers)]
    masks = windows(fields, layers, usual, fields.size("sliding_window", 4096))
    return choices | {
        "by_layer": ByLayer(masks=masks, scales=(_scale(fields),) * layers),
        "score_cap": _cap(fields, "attn_logit_softcapping", 50.0),
    }


def gemma3(fields: Fields) -> Choices:
    """Gemma 2 with normed queries and keys; layers with a window turn by a base of their own."""
    choices = gemma(fields, _THIRD) | {"placement": "sandwich", "feedforward": _gate(fields)}
    layers, width, context = choices["layers"], choices["head_width"], choices["context"]
    pattern = fields.size("sliding_window_pattern", 6) or 1
    usual = ["sliding_attention" if (layer + 1) % pattern else "full_attention" for layer in range(layers)]
    types = fields.listing("layer_types", str, usual)
    masks = windows(fields, layers, usual, fields.size("sliding_window", 4096))
    far = rotation(fields, width, context, base=1_000_000.0, layer_type="full_attention")
    # Old files scale only the layers without a window, and their rope_theta is not meant for the others.
    local = fields if fields.has("rope_parameters") else fields.without("rope_theta", "rope_scaling")
    near = rotation(local, width, context, layer_type="sliding_attention", names=("rope_local_base_freq", "-"))
    turned = {"full_attention": far, "sliding_attention": near}
    rotations = tuple(turned[each] for each in types)
    return choices | {
        "query_norm": "head",
        "rotation": far,
        "by_layer": ByLayer(masks=masks, rotations=rotations, scales=(_scale(fields),) * layers),
    }


def _gate(fields: Fields) -> str:
    """Later files mean what they say, gelu too, and say it in another field."""
    return fields.choice("hidden_activation", "gelu_pytorch_tanh", GATED)


def _scale(fields: Fields) -> float:
    return 1 / math.sqrt(max(fields.number("query_pre_attn_scalar", 256), 1e-6))


def _cap(fields: Fields, name: str, usual: float) -> float:
    return fields.number(name, 0.0 if name in fields.values else usual)


def _capped(usual: float) -> Head:
    """A language head whose logits are kept within a cap."""
    plain = language()

    def config(fields: Fields) -> Choices:
        return plain.config(fields) | {"answer": Answer(cap=_cap(fields, "final_logit_softcapping", usual))}

    return Head(config, plain.weights)


_SANDWICH: Rows = ROWS | {
    "self_residual.after_norm": "post_attention_layernorm",
    "feedforward_residual.norm": "pre_feedforward_layernorm",
    "feedforward_residual.after_norm": "post_feedforward_layernorm",
}
_ONE_WAY = {"use_bidirectional_attention": False}
_IGNORED = ("*.rotary_emb.inv_freq",)
GEMMA = Family(gemma, WEIGHTS, decoder_heads(tied=True, padding=0), "model.", _IGNORED, _ONE_WAY)
GEMMA2 = Family(
    gemma2,
    AROUND | block("decoder", "layers.{i}.", _SANDWICH),
    decoder_heads(tied=True, padding=0) | {"ForCausalLM": _capped(30.0)},
    "model.",
    _IGNORED,
    _ONE_WAY,
)
GEMMA3 = Family(
    gemma3,
    AROUND | block("decoder", "layers.{i}.", _SANDWICH | QUERY_NORMS),
    decoder_heads(tied=True, padding=0) | {"ForCausalLM": _capped(0.0)},
    "model.",
    _IGNORED,
    _ONE_WAY,
    inert=("attn_logit_softcapping",),  # a field of Gemma 2 that its files still have, and nobody reads
)
