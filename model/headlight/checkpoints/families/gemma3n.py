"""Gemma 3n: several residual streams, a low-rank map parallel to each attention, and sparse neurons."""

from __future__ import annotations

from dataclasses import replace

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import layer_masks
from headlight.checkpoints.families.gemma import SANDWICH, layer_ropes, soft_capped_head
from headlight.checkpoints.families.gemma4 import (
    LAYER_EMBEDDING_BLOCK,
    LAYER_EMBEDDING_STACK,
    UNUSED_KEYS_AND_VALUES,
    key_value_layers,
    layer_embedding_config,
)
from headlight.checkpoints.families.llama import QK_NORM_RULES, llama_family
from headlight.checkpoints.weight_mapping import ConfigValues
from headlight.config import AlternatingUpdatesConfig, PerLayerConfig

_SPARSE_LAYERS, _SPARSITY = 10, 0.95  # for deeper models, if no field says
_DEFAULTS = {
    "vocab_size": 262_400, "max_position_embeddings": 32_768, "head_dim": 256, "num_hidden_layers": 35,
    "hidden_size": 2048, "num_attention_heads": 8, "num_key_value_heads": 2, "intermediate_size": 16_384,
    "hidden_activation": "gelu_pytorch_tanh", "hidden_size_per_layer_input": 256,
    "vocab_size_per_layer_input": 262_144, "num_kv_shared_layers": 15,
}  # fmt: skip


def gemma3n(fields: ConfigReader) -> ConfigValues:
    """Gemma 3 with a norm of the values, unscaled scores, shared keys and values, and layer embeddings.

    Attention and feed-forward read one of several residual streams.
    """
    layers = fields.layer_count("num_hidden_layers")
    widths = fields.integers("intermediate_size", layers, 0)
    choices = layer_embedding_config(
        fields.without("intermediate_size").with_defaults(intermediate_size=max(widths, default=1))
    )
    usual = ["sliding_attention" if (layer + 1) % 5 else "full_attention" for layer in range(layers)]
    types = fields.list_of("layer_types", str, usual)
    masks = layer_masks(fields, layers, usual, fields.integer("sliding_window", 512))
    ropes = layer_ropes(fields, choices["head_dim"], choices["context_length"])
    return choices | {
        "rope": ropes["full_attention"],
        "residual.laurel_rank": fields.integer("laurel_rank", 64),
        "residual.alternating_updates": AlternatingUpdatesConfig(
            streams=fields.integer("altup_num_inputs", 4),
            active=fields.integer("altup_active_idx", 0),
            output_scale=fields.boolean("altup_correct_scale", True),
        ),
        "per_layer": PerLayerConfig(
            masks=masks,
            ropes=tuple(ropes[kind] for kind in types),
            d_ffs=tuple(widths),
            activation_sparsities=_sparsities(fields, layers),
            key_value_layers=key_value_layers(fields, types),
        ),
    }


def _sparsities(fields: ConfigReader, layers: int) -> tuple[float, ...]:
    """The share of neurons that each layer sets to 0."""
    sparse = _SPARSE_LAYERS if layers > _SPARSE_LAYERS else 0
    usual = [_SPARSITY] * sparse + [0.0] * (layers - sparse)
    return tuple(map(float, fields.list_of("activation_sparsity_pattern", (int, float), usual)))


_BLOCK = (
    SANDWICH
    | QK_NORM_RULES
    | LAYER_EMBEDDING_BLOCK
    | {
        "self_attention_residual.low_rank.left": "laurel.linear_left",
        "self_attention_residual.low_rank.right": "laurel.linear_right",
        "self_attention_residual.low_rank.norm": "laurel.post_laurel_norm",
        "alternating_updates.router_norm": "altup.router_norm",
        "alternating_updates.router": "altup.modality_router",
        "alternating_updates.prediction": "altup.prediction_coefs",
        "alternating_updates.correction": "altup.correction_coefs",
        "alternating_updates.output_scale": "altup.correct_output_scale",
    }
)
_DECODER = llama_family(
    gemma3n,
    _BLOCK,
    tied=True,
    default_pad_token_id=0,
    heads={"ForCausalLM": soft_capped_head(30.0)},
    ignored_fields=("altup_coef_clip",),  # of training
    defaults=_DEFAULTS,
)
GEMMA3N = replace(
    _DECODER,
    weights=_DECODER.weights
    | LAYER_EMBEDDING_STACK
    | {
        "decoder.residual_streams.split_projections.{i}": "altup_projections.{i}",
        "decoder.residual_streams.merge_projections.{i}": "altup_unembed_projections.{i}",
    },
    # Files have a scale even if it is not used.
    ignored_tensors=(*_DECODER.ignored_tensors, *UNUSED_KEYS_AND_VALUES, "*.altup.correct_output_scale"),
)
