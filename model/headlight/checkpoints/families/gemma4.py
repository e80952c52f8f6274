"""Gemma 4: wider heads with proportional RoPE in layers that see the whole text, which may use keys as values.

Larger models have experts beside the ordinary feed-forward network.
"""

from __future__ import annotations

from dataclasses import replace

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import MLP_ACTIVATIONS, attention_biases, layer_masks, rope_config
from headlight.checkpoints.families.gemma import SANDWICH, gated_activation, soft_capped_head
from headlight.checkpoints.families.llama import QK_NORM_RULES, llama_family, shared_config
from headlight.checkpoints.weight_mapping import ConfigValues, WeightRule, WeightRules, chunk, rule
from headlight.config import EmbeddingConfig, ExpertsConfig, LayerEmbeddingConfig, PerLayerConfig
from headlight.errors import CheckpointError

_FULL, _WINDOW = "full_attention", "sliding_attention"
_DEFAULTS = {
    "vocab_size": 262_144, "max_position_embeddings": 131_072, "head_dim": 256, "num_hidden_layers": 30,
    "hidden_size": 2304, "num_attention_heads": 8, "num_key_value_heads": 4, "intermediate_size": 9216,
    "hidden_activation": "gelu_pytorch_tanh", "hidden_size_per_layer_input": 256,
    "vocab_size_per_layer_input": 262_144,
    "rope_parameters": {
        _WINDOW: {"rope_type": "default", "rope_theta": 10_000.0},
        _FULL: {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1_000_000.0},
    },
}  # fmt: skip


def gemma4(fields: ConfigReader) -> ConfigValues:
    """Gemma 3 with a norm of the values and unscaled scores; layers differ in heads, rotary embedding and values.

    There are layer embeddings, and the last layers read the keys and values of earlier ones.
    """
    choices = layer_embedding_config(fields)
    types = _layer_types(fields, choices["layers"])
    head_dims, key_value_heads = _head_sizes(fields, types)
    ropes = [
        rope_config(fields, head_dim, choices["context_length"], layer_type=kind)
        for kind, head_dim in zip(types, head_dims, strict=True)
    ]
    keys_as_values, double = fields.boolean("attention_k_eq_v", False), fields.boolean("use_double_wide_mlp", False)
    layers_read = key_value_layers(fields, types)
    widths = [choices["d_ff"] * (2 if double and read != layer else 1) for layer, read in enumerate(layers_read)]
    return choices | {
        "residual.scale": True,
        "experts": _experts(fields) if fields.boolean("enable_moe_block", False) else ExpertsConfig(),
        "per_layer": PerLayerConfig(
            masks=layer_masks(fields.without("layer_types"), len(types), types, fields.integer("sliding_window", 512)),
            ropes=tuple(ropes),
            head_dims=head_dims,
            key_value_heads=key_value_heads,
            d_ffs=tuple(widths),
            keys_as_values=tuple(keys_as_values and kind == _FULL for kind in types),
            key_value_layers=layers_read,
        ),
    }


def layer_embedding_config(fields: ConfigReader) -> ConfigValues:
    """The common part of Gemma 3n and 4: layer embeddings, a norm of the values, unscaled scores."""
    choices = shared_config(fields)
    return choices | {
        "norm_placement": "sandwich",
        "feed_forward": gated_activation(fields),
        "embedding": EmbeddingConfig(scale=choices["d_model"] ** 0.5),
        "layer_embedding": _layer_embedding(fields),
        "biases": attention_biases(fields),
        "attention.qk_norm": "per-head",
        "attention.value_norm": True,
        "attention.scale": False,
    }


def _layer_types(fields: ConfigReader, layers: int) -> list[str]:
    """The attention type of each layer; the last one always sees the whole text."""
    usual = [_WINDOW if (layer + 1) % 6 else _FULL for layer in range(layers)]
    types = fields.list_of("layer_types", str, usual)
    return [*types[:-1], _FULL] if types else []


def _head_sizes(fields: ConfigReader, types: list[str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The channels of each layer's heads, and its number of key/value heads.

    The first files have two fields for all layers that see the whole text, later files have an entry for each layer.
    """
    usual = {"head_dim": fields.integer("head_dim"), "num_key_value_heads": fields.integer("num_key_value_heads")}
    wide = {"head_dim": fields.integer("global_head_dim", 512)}
    if fields.boolean("attention_k_eq_v", False) and fields.has("num_global_key_value_heads"):
        wide["num_key_value_heads"] = fields.integer("num_global_key_value_heads")
    entries = [ConfigReader(wide if kind == _FULL else {}, fields.name) for kind in types]
    if of_layers := fields.nested("per_layer_config"):
        own = {int(layer): of_layers.nested(layer) for layer in of_layers.values if layer.isdecimal()}
        entries = [own.get(layer) or ConfigReader({}, of_layers.name) for layer in range(len(types))]
    head_dims, heads = (tuple(each.integer(name, usual[name]) for each in entries) for name in usual)
    for entry in entries:
        if unknown := sorted(set(entry.values) - set(usual)):
            raise CheckpointError(f"{entry.name}: its {unknown[0]} differs between layers, which is not supported.")
    return head_dims, heads


def key_value_layers(fields: ConfigReader, types: list[str]) -> tuple[int, ...]:
    """The layer whose keys and values each layer reads: itself; for the last ones, an earlier one of the same type."""
    shared, layers = fields.integer("num_kv_shared_layers", 0), len(types)
    first = layers - shared
    last = {kind: layer for layer, kind in enumerate(types[: max(first, 0)])}
    if first < 0 or not set(types) <= set(last):
        raise CheckpointError(
            f"{fields.name}: its num_kv_shared_layers is {shared} of {layers} layers, which leaves no layer of each "
            "type to provide keys and values."
        )
    return tuple(layer if layer < first else last[kind] for layer, kind in enumerate(types))


def _experts(fields: ConfigReader) -> ExpertsConfig:
    """Experts beside the ordinary network, each with norms of their own."""
    return ExpertsConfig(
        count=fields.integer("num_experts"),
        per_token=fields.integer("top_k_experts"),
        d_ff=fields.integer("moe_intermediate_size"),
        own_norms=True,
    )


def _layer_embedding(fields: ConfigReader) -> LayerEmbeddingConfig:
    """The layer embeddings; a file may have none."""
    dim, rows = fields.integer("hidden_size_per_layer_input"), fields.integer("vocab_size_per_layer_input")
    activation = fields.choice("hidden_activation", "gelu_pytorch_tanh", MLP_ACTIVATIONS)
    return LayerEmbeddingConfig(dim=dim, vocabulary_size=rows, activation=activation) if dim else LayerEmbeddingConfig()


LAYER_EMBEDDING_BLOCK: WeightRules = {
    "layer_embedding.gate": "per_layer_input_gate",
    "layer_embedding.projection": "per_layer_projection",
    "layer_embedding_residual.output_norm": "post_per_layer_input_norm",
}
LAYER_EMBEDDING_STACK: WeightRules = {
    "decoder.layer_embedding.table": "embed_tokens_per_layer",
    "decoder.layer_embedding.projection": "per_layer_model_projection",
    "decoder.layer_embedding.norm": "per_layer_projection_norm",
}
_MAPS = ("gate", "up", "down")
_EXPERTS: WeightRules = {
    # The factors on the router's input and on its shares are multiplied into the weights.
    "feed_forward.router.weight": WeightRule(
        "router.proj.weight",
        second="layers.{i}.router.scale",
        combine=lambda weight, scale: weight.float() * scale * len(scale) ** -0.5,
    ),
    **{
        f"feed_forward.{name}": rule("experts.gate_up_proj", chunk(half, 2, axis=1))
        for half, name in enumerate(_MAPS[:2])
    },
    "feed_forward.down": WeightRule(
        "experts.down_proj",
        second="layers.{i}.router.per_expert_scale",
        combine=lambda weight, scale: weight.float() * scale[:, None, None],
    ),
    **{f"feed_forward.{name}.weight": f"mlp.{name}_proj.weight" for name in _MAPS},
    **{f"feed_forward.shared.{name}": f"mlp.{name}_proj" for name in _MAPS},
    "feed_forward.norm": "pre_feedforward_layernorm_2",
    "feed_forward.output_norm": "post_feedforward_layernorm_2",
    "feed_forward.shared_norm": "pre_feedforward_layernorm",
    "feed_forward.shared_output_norm": "post_feedforward_layernorm_1",
}
# The first files have unused weights for keys and values that come from another layer.
UNUSED_KEYS_AND_VALUES = tuple(f"*.self_attn.{name}.*" for name in ("k_proj", "v_proj", "k_norm"))
_DECODER = llama_family(
    gemma4,
    SANDWICH | QK_NORM_RULES | LAYER_EMBEDDING_BLOCK | _EXPERTS | {"stream_scale": "layer_scalar"},
    tied=True,
    default_pad_token_id=0,
    heads={"ForCausalLM": soft_capped_head(0.0)},
    required_values={"use_bidirectional_attention": "vision"},  # which is causal for texts
    ignored_fields=("moe_intermediate_size", "num_experts", "top_k_experts"),  # of enable_moe_block
    defaults=_DEFAULTS,
)
GEMMA4 = replace(
    _DECODER,
    weights=_DECODER.weights | LAYER_EMBEDDING_STACK,
    ignored_tensors=(*_DECODER.ignored_tensors, *UNUSED_KEYS_AND_VALUES),
)
