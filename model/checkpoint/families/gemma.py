"""Gemma 1, 2 and 3 (text)."""

from __future__ import annotations

import math

from model.checkpoint.families.common import GATED, block, decoder_heads, language
from model.checkpoint.families.llama import AROUND, ATTENTION, QUERY_NORMS, ROWS, WEIGHTS, sizes
from model.checkpoint.families.rotary import rotation, windows
from model.checkpoint.family import Choices, Family, Head, Rows
from model.checkpoint.fields import Fields
from model.choices import Answer, ByLayer, Embed

USUAL = {
    "vocab_size": 256_000,
    "max_position_embeddings": 8192,
    "head_dim": 256,
    "hidden_activation": "gelu_pytorch_tanh",
    "num_key_value_heads": 4,
}


def gemma(fields: Fields) -> Choices:
    """Embeddings grow with the width, norms count their stretch from one."""
    choices = sizes(_filled(fields, num_key_value_heads=16, num_hidden_layers=28, hidden_size=3072,
                            num_attention_heads=16, intermediate_size=24_576))  # fmt: skip
    gates = GATED | {"gelu": "geglu-tanh"}  # the first files say gelu and mean its approximation
    return choices | {
        "feedforward": fields.choice(("hidden_activation", "hidden_act"), "gelu_pytorch_tanh", gates),
        "norm": "shifted-rmsnorm",
        "embed": Embed(scale=choices["width"] ** 0.5),
        "biases": ATTENTION * fields.flag("attention_bias", False),
    }


def gemma2(fields: Fields) -> Choices:
    """Norms before and after, scores and logits kept within caps, a window in every other layer."""
    choices = _later(fields)
    layers = choices["layers"]
    usual = [("sliding_attention", "full_attention")[layer % 2] for layer in range(layers)]
    masks = windows(fields, layers, usual, fields.size("sliding_window", 4096))
    return choices | {
        "by_layer": ByLayer(masks=masks, scales=(_scale(fields),) * layers),
        "score_cap": _cap(fields, "attn_logit_softcapping", 50.0),
    }


def gemma3(fields: Fields) -> Choices:
    """Gemma 2 with normed queries and keys; layers with a window turn by a base of their own."""
    choices = _later(_filled(fields, vocab_size=262_208, max_position_embeddings=131_072))
    layers, width, context = choices["layers"], choices["head_width"], choices["context"]
    pattern = fields.size("sliding_window_pattern", 6) or 1
    usual = ["sliding_attention" if (layer + 1) % pattern else "full_attention" for layer in range(layers)]
    types = fields.listing("layer_types", str, usual)
    masks = windows(fields, layers, usual, fields.size("sliding_window", 4096))
    far = rotation(fields, width, context, base=1_000_000.0, layer_type="full_attention")
    near = rotation(
        _unscaled(fields), width, context, layer_type="sliding_attention", names=("rope_local_base_freq", "-")
    )
    turned = {"full_attention": far, "sliding_attention": near}
    rotations = tuple(turned[each] for each in types)
    return choices | {
        "query_norm": "head",
        "rotation": far,
        "by_layer": ByLayer(masks=masks, rotations=rotations, scales=(_scale(fields),) * layers),
        "score_cap": _cap(fields, "attn_logit_softcapping", 0.0),
    }


def _later(fields: Fields) -> Choices:
    filled = _filled(fields, num_hidden_layers=26, hidden_size=2304, num_attention_heads=8, intermediate_size=9216)
    choices = gemma(filled)
    return choices | {"placement": "sandwich"}


def _filled(fields: Fields, **defaults: object) -> Fields:
    """The fields with defaults for those that are absent."""
    given = {name: value for name, value in fields.values.items() if value is not None}
    filled = Fields({**USUAL, **defaults, **given}, fields.name)
    filled.read = fields.read
    return filled


def _unscaled(fields: Fields) -> Fields:
    """Old files scale only the layers without a window, and their rope_theta is not meant for the others."""
    dropped = ("rope_theta", "rope_scaling") if not fields.has("rope_parameters") else ()
    near = Fields({name: value for name, value in fields.values.items() if name not in dropped}, fields.name)
    near.read = fields.read
    return near


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
GEMMA = Family(gemma, WEIGHTS, decoder_heads(tied=True), "model.", _IGNORED, _ONE_WAY)
GEMMA2 = Family(
    gemma2,
    AROUND | block("decoder", "layers.{i}.", _SANDWICH),
    decoder_heads(tied=True) | {"ForCausalLM": _capped(30.0)},
    "model.",
    _IGNORED,
    _ONE_WAY,
)
GEMMA3 = Family(
    gemma3,
    AROUND | block("decoder", "layers.{i}.", _SANDWICH | QUERY_NORMS),
    decoder_heads(tied=True) | {"ForCausalLM": _capped(0.0)},
    "model.",
    _IGNORED,
    _ONE_WAY,
)
