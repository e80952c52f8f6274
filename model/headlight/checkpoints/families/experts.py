"""Mixtures of experts: Mixtral, Qwen3-MoE, OLMoE, Granite-MoE, gpt-oss, Llama 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from headlight.checkpoints.config_reader import ConfigReader, FieldNames
from headlight.checkpoints.families.common import (
    attention_biases,
    block_rows,
    layer_masks,
    masks_of_types,
    repeating_types,
)
from headlight.checkpoints.families.llama import ATTENTION, QK_NORM_RULES, llama_family, qwen3, shared_config, windows
from headlight.checkpoints.families.llama_like import GRANITE, granite, olmo
from headlight.checkpoints.weight_mapping import ConfigValues, WeightOp, WeightRule, WeightRules, chunk, rule
from headlight.config import Config, ExpertsConfig, PerLayerConfig
from headlight.errors import CheckpointError


def experts(fields: ConfigReader, count: int, per_token: int, normalized: bool | None = True) -> ExpertsConfig:
    """The number of experts, and the number for each token; `normalized` None: from norm_topk_prob."""
    names: FieldNames = ("num_local_experts", "num_experts")
    return ExpertsConfig(
        count=fields.integer(names, count),
        per_token=fields.integer("num_experts_per_tok", per_token),
        normalized=fields.boolean("norm_topk_prob", False) if normalized is None else normalized,
    )


def mixtral(fields: ConfigReader) -> ConfigValues:
    """Mistral with experts."""
    return shared_config(fields) | {"masks": windows(fields), "experts": experts(fields, 8, 2)}


def qwen3_moe(fields: ConfigReader) -> ConfigValues:
    """Qwen3 with experts in some layers, of width moe_intermediate_size."""
    choices, every = qwen3(fields), fields.integer("decoder_sparse_step", 1)
    without = fields.list_of("mlp_only_layers", int)
    if every < 1:
        raise CheckpointError(f"{fields.name}: its decoder_sparse_step is {every}; it is at least one layer.")
    has_experts = [layer not in without and (layer + 1) % every == 0 for layer in range(choices["layers"])]
    mixture = replace(experts(fields, 128, 8, None), d_ff=fields.integer("moe_intermediate_size"))
    return choices | _with_experts(mixture, has_experts)


def _with_experts(mixture: ExpertsConfig, has_experts: Sequence[bool]) -> ConfigValues:
    """The fields of a model in which some layers have experts."""
    dense = tuple(layer for layer, has in enumerate(has_experts) if not has)
    return {"experts": replace(mixture, dense_layers=dense)} if any(has_experts) else {}


def olmoe(fields: ConfigReader) -> ConfigValues:
    """RMSNorm, QK norm over all heads, and limits on queries, keys and values as in OLMo."""
    norm = {"norm": "rmsnorm", "norm_epsilon": fields.number("rms_norm_eps", 1e-5), "attention.qk_norm": "all-heads"}
    return olmo(fields) | norm | {"experts": experts(fields, 64, 8, None)}


def granitemoe(fields: ConfigReader) -> ConfigValues:
    """Granite with experts."""
    return granite(fields) | {"experts": experts(fields, 8, 2)}


def gpt_oss(fields: ConfigReader) -> ConfigValues:
    """A sink for each head, biases everywhere except in norms, windows in every other layer."""
    choices = shared_config(fields, theta=150_000.0)
    types = repeating_types(fields, choices["layers"], 2)
    limit = fields.number("swiglu_limit", 7.0)
    return choices | {
        "attention.sinks": True,
        "biases": attention_biases(fields, True),
        "feed_forward": "geglu-sigmoid",
        "experts": replace(experts(fields, 128, 4), bias=True, up_offset=1.0, limit=limit),
        "per_layer": PerLayerConfig(
            masks=layer_masks(fields, choices["layers"], types, fields.integer("sliding_window", 128))
        ),
    }


def llama4(fields: ConfigReader) -> ConfigValues:
    """Chunks of tokens in layers with rotary embedding; in those without it, queries grow with their position.

    Some layers have experts, chosen by sigmoids, and one expert that reads every token.
    """
    choices = _llama4_attention(fields)
    layers, width = choices["layers"], fields.integer("intermediate_size", 8192)
    experts_of_layers = _layers_with_experts(fields, layers)
    mixture = ExpertsConfig(
        count=fields.integer("num_local_experts", 16),
        per_token=fields.integer("num_experts_per_tok", 1),
        d_ff=width,
        scoring="sigmoid",
        normalized=False,
        share_of_input=True,
        shared_d_ff=width,
    )
    has_experts = [layer in experts_of_layers for layer in range(layers)]
    return choices | _with_experts(mixture, has_experts)


def _llama4_attention(fields: ConfigReader) -> ConfigValues:
    """The attention of Llama 4, and the width of its layers without experts."""
    choices = shared_config(fields, d_ff="intermediate_size_mlp", interleaved=True)
    layers = choices["layers"]
    every = fields.integer("no_rope_layer_interval", 4) or 1
    usual = [int((layer + 1) % every != 0) for layer in range(layers)]
    rotated = fields.list_of("no_rope_layers", int) or usual
    if len(rotated) < layers:
        raise CheckpointError(f"{fields.name}: its no_rope_layers has {len(rotated)} entries for {layers} layers.")
    chunk = fields.integer("attention_chunk_size", 0 if "attention_chunk_size" in fields.values else 8192)
    known = {"full_attention": "none"} | ({"chunked_attention": f"chunks:{chunk}"} if chunk else {})
    types = ["chunked_attention" if each and chunk else "full_attention" for each in rotated[:layers]]
    has_norm = fields.boolean("use_qk_norm", True)
    if has_norm and choices["rope"].attention_factor != 1:
        # The reference norms queries and keys after the rotary embedding, and a factor would get lost there.
        raise CheckpointError(f"{fields.name}: its rope scaling has an attention factor, unsupported with use_qk_norm.")
    return choices | {
        "biases": attention_biases(fields),
        **_temperature(fields),
        "per_layer": PerLayerConfig(
            masks=masks_of_types(fields, layers, types, known),
            positional_encodings=tuple("rope" if each else "none" for each in rotated[:layers]),
            qk_norms=tuple("per-head-rms" if each and has_norm else "none" for each in rotated[:layers]),
        ),
    }


def _temperature(fields: ConfigReader) -> ConfigValues:
    """How queries grow with their position."""
    name, length, growth = (
        "attn_temperature_tuning",
        fields.integer("floor_scale", 8192),
        fields.number("attn_scale", 0.1),
    )
    is_number = type(fields.values.get(name)) is int  # as in the first files
    if not (fields.integer(name) if is_number else fields.boolean(name, True)):
        return {}
    if length < 1:
        raise CheckpointError(f"{fields.name}: its floor_scale is {length}; it is at least one token.")
    return {"attention.temperature_length": length, "attention.temperature_growth": growth}


def _layers_with_experts(fields: ConfigReader, layers: int) -> list[int]:
    every = fields.integer("interleave_moe_layer_step", 1) or 1
    return fields.list_of("moe_layers", int, range(every - 1, layers, every))


def _alternate(index: int) -> WeightOp:
    """The gate (0) or the linear half (1) of a tensor whose last axis alternates between the two; [expert out in]."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        half = tensor[..., index::2]
        return half.transpose(1, 2) if half.dim() == 3 else half

    return step


def _transposed(tensor: Tensor, config: Config) -> Tensor:
    """The stacked weights of experts that are stored as [expert in out]."""
    return tensor.transpose(1, 2)


def _block(router: str, maps: Sequence[str | WeightRule]) -> WeightRules:
    """Llama's block with the router and the stacked weights of gate, up and down."""
    rows = block_rows("input_layernorm", ATTENTION, "post_attention_layernorm", maps)
    return rows | {"feed_forward.router": router}


_MAPS = ("gate", "up", "down")
_GATE_UP_DOWN = [f"mlp.experts.*.{name}_proj.weight" for name in _MAPS]
_MIXTRAL_BLOCK = _block(
    "block_sparse_moe.gate", [f"block_sparse_moe.experts.*.{name}.weight" for name in ("w1", "w3", "w2")]
)
_QWEN_BLOCK = _block("mlp.gate", _GATE_UP_DOWN) | QK_NORM_RULES
_ORDINARY: WeightRules = {f"feed_forward.{name}.weight": f"mlp.{name}_proj.weight" for name in _MAPS}
_GRANITE_BLOCK = _block(
    "block_sparse_moe.router.layer",
    [
        rule("block_sparse_moe.input_linear.weight", chunk(0, 2, axis=1)),
        rule("block_sparse_moe.input_linear.weight", chunk(1, 2, axis=1)),
        "block_sparse_moe.output_linear.weight",
    ],
)
_IGNORED = ("output_router_logits", "router_aux_loss_coef", "router_jitter_noise")
MIXTRAL = llama_family(
    mixtral,
    _MIXTRAL_BLOCK,
    ignored_fields=_IGNORED,
    attribute_map={"num_experts": "num_local_experts"},
    defaults={
        "max_position_embeddings": 131_072, "intermediate_size": 14_336, "num_key_value_heads": 8,
        "rope_theta": 1_000_000.0, "rms_norm_eps": 1e-5,
    },
)  # fmt: skip
QWEN3_MOE = llama_family(
    qwen3_moe,
    _QWEN_BLOCK | _ORDINARY,
    ignored_fields=_IGNORED,
    attribute_map={"num_experts": "num_local_experts"},
    defaults={
        "vocab_size": 151_936, "max_position_embeddings": 32_768, "hidden_size": 2048, "num_hidden_layers": 24,
        "num_key_value_heads": 4, "intermediate_size": 6144, "moe_intermediate_size": 768,
    },
)  # fmt: skip
OLMOE = llama_family(
    olmoe,
    _QWEN_BLOCK,
    default_pad_token_id=1,
    ignored_fields=_IGNORED,
    attribute_map={"num_local_experts": "num_experts"},
    defaults={
        "vocab_size": 50_304, "max_position_embeddings": 4096, "hidden_size": 2048, "num_hidden_layers": 16,
        "num_attention_heads": 16, "intermediate_size": 2048,
    },
)  # fmt: skip
GRANITEMOE = llama_family(
    granitemoe,
    _GRANITE_BLOCK,
    heads={"ForCausalLM": GRANITE.heads_by_class["ForCausalLM"]},
    ignored_fields=_IGNORED,
    factors=GRANITE.factors,
)
_GPT_OSS_EXPERTS = "mlp.experts."
GPT_OSS = llama_family(
    gpt_oss,
    _block(
        "mlp.router",
        [
            *(rule(f"{_GPT_OSS_EXPERTS}gate_up_proj", _alternate(index)) for index in range(2)),
            rule(f"{_GPT_OSS_EXPERTS}down_proj", _transposed),
        ],
    )
    | {
        "self_attention.sinks": "self_attn.sinks",
        "feed_forward.gate_bias": rule(f"{_GPT_OSS_EXPERTS}gate_up_proj_bias", _alternate(0)),
        "feed_forward.up_bias": rule(f"{_GPT_OSS_EXPERTS}gate_up_proj_bias", _alternate(1)),
        "feed_forward.down_bias": f"{_GPT_OSS_EXPERTS}down_proj_bias",
    },
    required_values={"hidden_act": "silu", "swiglu_alpha": 1.702},
    ignored_fields=(*_IGNORED, "experts_per_token", "initial_context_length"),
    attribute_map={"num_experts": "num_local_experts"},
    defaults={
        "vocab_size": 201_088, "max_position_embeddings": 131_072, "hidden_size": 2880, "num_hidden_layers": 36,
        "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880,
        "rms_norm_eps": 1e-5,
        "rope_parameters": {
            "rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
            "original_max_position_embeddings": 4096,
        },
    },
)  # fmt: skip
_LLAMA4_EXPERTS = "feed_forward.experts."
LLAMA4 = llama_family(
    llama4,
    {
        **_block(
            "feed_forward.router",
            [
                *(rule(f"{_LLAMA4_EXPERTS}gate_up_proj", chunk(half, 2, axis=2), _transposed) for half in range(2)),
                rule(f"{_LLAMA4_EXPERTS}down_proj", _transposed),
            ],
        ),
        **{f"feed_forward.{name}.weight": f"feed_forward.{name}_proj.weight" for name in _MAPS},
        **{f"feed_forward.shared.{name}": f"feed_forward.shared_expert.{name}_proj" for name in _MAPS},
    },
    ignored_fields=(*_IGNORED, "for_llm_compile"),
    defaults={
        "vocab_size": 202_048, "hidden_size": 5120, "intermediate_size_mlp": 16_384, "num_hidden_layers": 48,
        "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "max_position_embeddings": 131_072,
        "rms_norm_eps": 1e-5, "rope_theta": 500_000.0,
    },
)  # fmt: skip
