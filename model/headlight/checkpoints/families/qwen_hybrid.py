"""Qwen3-Next and Qwen3.5: three of four layers have linear attention, which has a state instead of attention weights.

The layers of attention are numbered among themselves; page, command and card say which they are in the file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import attention_biases, block_rules, masks_of_types
from headlight.checkpoints.families.llama import BLOCK, QK_NORM_RULES, llama_family, shared_config
from headlight.checkpoints.weight_mapping import (
    ConfigValues,
    Family,
    WeightOp,
    WeightRules,
    chunk,
    rule,
    unflatten_rows,
)
from headlight.config import Config, ExpertsConfig, RecurrenceConfig
from headlight.errors import CheckpointError

_FULL, _LINEAR = "full_attention", "linear_attention"


def _layers_of(fields: ConfigReader, wanted: str) -> list[int]:
    """The numbers of the layers of one type in the file."""
    layers, every = fields.layer_count("num_hidden_layers"), fields.integer("full_attention_interval", 4) or 1
    usual = [_LINEAR if (layer + 1) % every else _FULL for layer in range(layers)]
    types = masks_of_types(fields, layers, usual, {_FULL: _FULL, _LINEAR: _LINEAR})
    if _FULL not in types:
        raise CheckpointError(f"{fields.name}: all its layers have linear attention, so there are no weights to see.")
    return [layer for layer, each in enumerate(types) if each == wanted]


def qwen3_5(fields: ConfigReader, d_ff: str = "intermediate_size") -> ConfigValues:
    """Gated attention with partial rotary embedding and zero-centred norms, between layers of linear attention.

    `d_ff` is the field for the width of the feed-forward network.
    """
    choices, full = shared_config(fields, d_ff=d_ff, rotary_fraction=0.25), _layers_of(fields, _FULL)
    ends = [-1, *full, choices["layers"]]
    return choices | {
        "layers": len(full),
        "norm": "gemma-rmsnorm",
        "attention.qk_norm": "per-head",
        "attention.output_gate": True,
        "biases": attention_biases(fields),
        "recurrence": RecurrenceConfig(
            counts=tuple(after - before - 1 for before, after in pairwise(ends)),
            key_heads=fields.integer("linear_num_key_heads", 16),
            value_heads=fields.integer("linear_num_value_heads", 32),
            key_channels=fields.integer("linear_key_head_dim", 128),
            value_channels=fields.integer("linear_value_head_dim", 128),
            kernel=fields.integer("linear_conv_kernel_dim", 4),
        ),
    }


def qwen3_next(fields: ConfigReader) -> ConfigValues:
    """Experts in every layer, and a shared one that reads every token and has a gate on its output."""
    return qwen3_5(fields, d_ff="moe_intermediate_size") | {
        "experts": ExpertsConfig(
            count=fields.integer("num_experts", 512),
            per_token=fields.integer("num_experts_per_tok", 10),
            normalized=fields.boolean("norm_topk_prob", True),
            shared_d_ff=fields.integer("shared_expert_intermediate_size", 512),
            shared_gate=True,
        )
    }


def qwen3_5_moe(fields: ConfigReader) -> ConfigValues:
    """The experts of Qwen3-Next; the shares of a token always sum to 1."""
    return qwen3_next(fields.without("norm_topk_prob"))


def _name_indices(fields: ConfigReader, number: int) -> dict[str, int]:
    """The layer of the file for a layer of attention, and for a layer of linear attention."""
    found = {"i": _layers_of(fields, _FULL), "linear": _layers_of(fields, _LINEAR)}
    return {name: layers[number] if number < len(layers) else -1 for name, layers in found.items()}


def _query_or_gate(index: int) -> WeightOp:
    """The queries (0) or the gate (1) of a tensor in which they alternate by head."""
    return lambda tensor, config: unflatten_rows(tensor, config.heads, 2, config.head_dim)[:, index].flatten(0, 1)


def _of_key_heads(*wanted: int) -> WeightOp:
    """Some of q, k, v and the gate (0 to 3) of a tensor that has them together for each key head."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        sizes = config.recurrence
        values = sizes.value_heads // sizes.key_heads * sizes.value_channels
        return _parts(tensor, sizes.key_heads, [sizes.key_channels] * 2 + [values] * 2, wanted)

    return step


def _of_gates(index: int) -> WeightOp:
    """The strength (0) or the decay (1) of a tensor that has them together for each key head."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        sizes = config.recurrence
        return _parts(tensor, sizes.key_heads, [sizes.value_heads // sizes.key_heads] * 2, (index,))

    return step


def _own_half(index: int) -> WeightOp:
    """The gates (0) or the linear halves (1) of all experts, if a tensor has both."""
    half = chunk(index, 2, axis=1)
    return lambda tensor, config: tensor if tensor.shape[1] == config.d_ff else half(tensor, config)


def _parts(tensor: Tensor, heads: int, sizes: list[int], wanted: tuple[int, ...]) -> Tensor:
    parts = torch.split(unflatten_rows(tensor, heads, -1), sizes, dim=1)
    return torch.cat([parts[each].flatten(0, 1) for each in wanted])


_ATTENTION: WeightRules = {
    "self_attention.query": rule("self_attn.q_proj", _query_or_gate(0)),
    "self_attention.gate": rule("self_attn.q_proj", _query_or_gate(1)),
}


def _recurrent_rules(rows: WeightRules) -> WeightRules:
    """The rules of a layer of linear attention, besides these `rows`."""
    shared: WeightRules = {
        "mixer_norm": "input_layernorm",
        "feed_forward_norm": "post_attention_layernorm",
        "mixer.convolution": "linear_attn.conv1d",
        "mixer.log_rate": "linear_attn.A_log",
        "mixer.decay.bias": "linear_attn.dt_bias",
        "mixer.norm": "linear_attn.norm",
        "mixer.output": "linear_attn.out_proj",
        **{name: row for name, row in BLOCK.items() if name.startswith("feed_forward.")},
    }
    found = block_rules("decoder", "layers.{linear}.", shared | rows)
    return {name.replace(".blocks.", ".recurrent_layers."): row for name, row in found.items()}


_MAPS = ("gate", "up", "down")
_NEXT_EXPERTS: WeightRules = {
    "feed_forward.router": "mlp.gate",
    "feed_forward.shared_gate": "mlp.shared_expert_gate",
    **{f"feed_forward.{name}": f"mlp.experts.*.{name}_proj.weight" for name in _MAPS},
    **{f"feed_forward.shared.{name}": f"mlp.shared_expert.{name}_proj" for name in _MAPS},
}
_STACKED: WeightRules = {
    **{
        f"feed_forward.{name}": rule(f"mlp.experts.*.{name}_proj.weight|mlp.experts.gate_up_proj", _own_half(half))
        for half, name in enumerate(_MAPS[:2])
    },
    "feed_forward.down": "mlp.experts.*.down_proj.weight|mlp.experts.down_proj",
}


def _family(
    read: Callable[[ConfigReader], ConfigValues], block: WeightRules, mixer: WeightRules, **choices: Any
) -> Family:
    made = llama_family(read, BLOCK | QK_NORM_RULES | _ATTENTION | block, **choices)
    return replace(made, weights=made.weights | _recurrent_rules(block | mixer), name_indices=_name_indices)


_REQUIRED = {"attn_output_gate": True}
_IGNORED = ("mamba_ssm_dtype", "mtp_num_hidden_layers", "mtp_use_dedicated_embeddings")  # of training, and its dtype
_MIXER: WeightRules = {
    "mixer.query_key_value": "linear_attn.in_proj_qkv",
    "mixer.gate": "linear_attn.in_proj_z",
    "mixer.decay.weight": "linear_attn.in_proj_a.weight",
    "mixer.strength": "linear_attn.in_proj_b",
}
_OF_EXPERTS = ("output_router_logits", "router_aux_loss_coef", "intermediate_size")
QWEN3_5 = _family(
    qwen3_5,
    {},
    _MIXER,
    required_values=_REQUIRED,
    ignored_fields=_IGNORED,
    defaults={
        "vocab_size": 248_320, "hidden_size": 4096, "intermediate_size": 12_288, "num_hidden_layers": 32,
        "num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 256, "max_position_embeddings": 32_768,
    },
)  # fmt: skip
QWEN3_5_MOE = _family(
    qwen3_5_moe,
    _NEXT_EXPERTS | _STACKED,
    _MIXER,
    required_values=_REQUIRED,
    ignored_fields=(*_IGNORED, *_OF_EXPERTS),
    defaults={
        "vocab_size": 248_320, "hidden_size": 2048, "moe_intermediate_size": 512, "num_hidden_layers": 40,
        "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "max_position_embeddings": 32_768,
        "num_experts": 256, "num_experts_per_tok": 8,
    },
)  # fmt: skip
QWEN3_NEXT = _family(
    qwen3_next,
    _NEXT_EXPERTS,
    {
        "mixer.query_key_value": rule("linear_attn.in_proj_qkvz", _of_key_heads(0, 1, 2)),
        "mixer.gate": rule("linear_attn.in_proj_qkvz", _of_key_heads(3)),
        "mixer.decay.weight": rule("linear_attn.in_proj_ba.weight", _of_gates(1)),
        "mixer.strength": rule("linear_attn.in_proj_ba", _of_gates(0)),
    },
    required_values={**_REQUIRED, "decoder_sparse_step": 1, "mlp_only_layers": ([],)},
    ignored_fields=(*_IGNORED, *_OF_EXPERTS),
    defaults={
        "vocab_size": 151_936, "hidden_size": 2048, "moe_intermediate_size": 512, "num_hidden_layers": 48,
        "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "max_position_embeddings": 32_768,
    },
)  # fmt: skip
