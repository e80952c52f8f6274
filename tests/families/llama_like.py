"""Tiny models of the families that differ from Llama in one or two parts."""

import re
from collections import defaultdict
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from tests.families.decoders import LABELS, LLAMA, LONGER, SOME, TIED, UNTIED, WIDE, rope
from tests.families.reference import Case

FEWER = {"rope_type": "yarn", "rope_theta": 300.0, "factor": 4.0, "original_max_position_embeddings": 8}
SIX = {"num_attention_heads": 6, "num_key_value_heads": 2, "intermediate_size": 37}
LAYERS = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 4}
EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
QWEN_EXPERTS = {"num_experts_per_tok": 2, "moe_intermediate_size": 20}
LATENT = {
    "q_lora_rank": 10,
    "kv_lora_rank": 12,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 6,
    "v_head_dim": 5,
    "moe_intermediate_size": 20,
    "n_routed_experts": 6,
    "num_experts_per_tok": 2,
    "first_k_dense_replace": 1,
}
LLAMA4 = EXPERTS | {
    "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 10, "intermediate_size": 20,
    "intermediate_size_mlp": 38, "moe_layers": [1], "no_rope_layers": [1, 1, 0], "attention_chunk_size": 5,
    "floor_scale": 3, "attn_scale": 0.7,
}  # fmt: skip
HYBRID = {
    "num_hidden_layers": 4, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 16,
    "layer_types": ["linear_attention", "linear_attention", "full_attention", "full_attention"],
    "linear_conv_kernel_dim": 3, "linear_key_head_dim": 5, "linear_value_head_dim": 7, "linear_num_key_heads": 2,
    "linear_num_value_heads": 6,
}  # fmt: skip
NEXT = {
    "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 20, "shared_expert_intermediate_size": 11,
}  # fmt: skip
GROUPS = {"n_group": 3, "topk_group": 2}
HALVES = SIX | {"hidden_size": 48}  # heads of 8 channels, partly rotated


def stack_experts(folder: Path, case: Case) -> None:
    """Join the weights of all experts of a layer, and their gates with their linear halves, as in published files."""
    path, found = folder / "model.safetensors", defaultdict[str, list[torch.Tensor]](list)
    weights = load_file(path)
    for name in sorted(name for name in weights if ".experts." in name):
        found[re.sub(r"experts\.\d+\.(\w+)\.weight", r"experts.\1", name)].append(weights.pop(name))
    stacked = {name: torch.stack(each) for name, each in found.items()}
    for name in [name for name in stacked if name.endswith("gate_proj")]:
        both = stacked.pop(name), stacked.pop(name.replace("gate_proj", "up_proj"))
        stacked[name.replace("gate_proj", "gate_up_proj")] = torch.cat(both, dim=1)
    save_file(weights | stacked, path, metadata={"format": "pt"})


LLAMA_LIKE: dict[str, list[Case]] = {
    "olmo": [
        Case("OlmoForCausalLM", LLAMA | {"clip_qkv": 0.5}),
        Case("OlmoModel", LLAMA | SIX | {"attention_bias": True}),
    ],
    "olmo3": [
        Case(
            "Olmo3ForCausalLM",
            LLAMA
            | LAYERS
            | {
                "rope_parameters": {
                    "full_attention": {"rope_type": "linear", "rope_theta": 500.0, "factor": 4.0},
                    "sliding_attention": {"rope_type": "default", "rope_theta": 500.0},
                }
            },
        ),
        Case("Olmo3Model", LLAMA | SIX | {"num_hidden_layers": 4, "sliding_window": 3, "attention_bias": True}),
    ],
    "exaone4": [
        Case("Exaone4ForCausalLM", LLAMA | LAYERS | SIX),
        Case("Exaone4Model", LLAMA | {"sliding_window": None, "layer_types": ["full_attention"] * 2}),
        Case("Exaone4ForTokenClassification", LLAMA | LABELS | {"num_hidden_layers": 4, "sliding_window": 3}),
    ],
    "granite": [
        Case(
            "GraniteForCausalLM",
            LLAMA
            | {
                "embedding_multiplier": 3.0,
                "logits_scaling": 4.0,
                "residual_multiplier": 0.3,
                "attention_multiplier": 0.2,
            },
        ),
        Case("GraniteModel", LLAMA | WIDE | {"attention_bias": True, "mlp_bias": True}),
    ],
    "stablelm": [
        Case("StableLmForCausalLM", LLAMA | {"hidden_size": 48, "use_qkv_bias": True, "layer_norm_eps": 0.1}),
        Case("StableLmForCausalLM", LLAMA | HALVES | TIED | {"qk_layernorm": True, "use_parallel_residual": True}),
        Case("StableLmForSequenceClassification", LLAMA | LABELS | rope("default", partial_rotary_factor=0.5)),
    ],
    "cohere": [
        Case("CohereForCausalLM", LLAMA | {"logit_scale": 0.7, "attention_bias": True}),
        Case("CohereForCausalLM", LLAMA | SIX | UNTIED | {"use_qk_norm": True, "layer_norm_eps": 0.1}),
    ],
    "cohere2": [
        Case("Cohere2ForCausalLM", LLAMA | LAYERS | {"logit_scale": 0.7}),
        Case("Cohere2Model", LLAMA | SIX | {"num_hidden_layers": 4, "sliding_window": 3, "attention_bias": True}),
    ],
    "glm": [
        Case("GlmForCausalLM", LLAMA | {"head_dim": 8}),
        Case("GlmForTokenClassification", LLAMA | WIDE | LABELS | {"attention_bias": False}),
    ],
    "glm4": [
        Case("Glm4ForCausalLM", LLAMA | WIDE | TIED),
        Case("Glm4Model", LLAMA | {"head_dim": 8} | rope("default", partial_rotary_factor=1.0)),
    ],
    "starcoder2": [
        Case("Starcoder2ForCausalLM", LLAMA | {"sliding_window": 4, "norm_epsilon": 0.1}),
        Case("Starcoder2ForCausalLM", LLAMA | SOME | UNTIED | {"use_bias": False, "hidden_act": "relu"}),
        Case("Starcoder2ForSequenceClassification", LLAMA | LABELS),
    ],
    "nanochat": [
        Case("NanoChatForCausalLM", LLAMA | SIX | {"final_logit_softcapping": 2.0}),
        Case("NanoChatModel", LLAMA | {"attention_bias": True, "hidden_act": "gelu"} | rope("default")),
    ],
    "mixtral": [
        Case("MixtralForCausalLM", LLAMA | EXPERTS | {"sliding_window": 4}),
        Case("MixtralModel", LLAMA | WIDE | {"num_local_experts": 3, "num_experts_per_tok": 3}),
    ],
    "qwen3_moe": [
        Case(
            "Qwen3MoeForCausalLM",
            LLAMA
            | QWEN_EXPERTS
            | {"num_experts": 4, "mlp_only_layers": [1], "num_hidden_layers": 4, "decoder_sparse_step": 2},
        ),
        Case("Qwen3MoeForCausalLM", LLAMA | QWEN_EXPERTS | {"num_experts": 4, "head_dim": 8}),
        Case("Qwen3MoeModel", LLAMA | QWEN_EXPERTS | {"num_experts": 4, "mlp_only_layers": [0, 1]}),
        Case("Qwen3MoeForCausalLM", LLAMA | SIX | QWEN_EXPERTS | {"num_experts": 3, "norm_topk_prob": True}),
        Case(
            "Qwen3MoeForCausalLM", LLAMA | SIX | QWEN_EXPERTS | {"mlp_only_layers": [1, 4], "moe_intermediate_size": 10}
        ),
        Case("Qwen3MoeModel", LLAMA | SIX | QWEN_EXPERTS | {"decoder_sparse_step": 3, "moe_intermediate_size": 10}),
    ],
    "olmoe": [
        Case("OlmoeForCausalLM", LLAMA | {"num_experts": 4, "num_experts_per_tok": 2, "clip_qkv": 0.9}),
        Case("OlmoeModel", LLAMA | SIX | {"num_experts": 3, "num_experts_per_tok": 1, "norm_topk_prob": True}),
    ],
    "granitemoe": [
        Case("GraniteMoeForCausalLM", LLAMA | EXPERTS | {"residual_multiplier": 0.3, "attention_multiplier": 0.2}),
        Case("GraniteMoeModel", LLAMA | SIX | {"num_local_experts": 3, "num_experts_per_tok": 1}),
    ],
    "llama4_text": [
        Case("Llama4ForCausalLM", LLAMA | LLAMA4),
        Case(
            "Llama4ForCausalLM",
            LLAMA
            | LLAMA4
            | TIED
            | {
                "moe_layers": [0, 1, 2],
                "num_experts_per_tok": 3,
                "num_local_experts": 3,
                "use_qk_norm": False,
                "attention_bias": True,
                "hidden_act": "gelu",
            },
        ),
        Case(
            "Llama4TextModel",
            LLAMA
            | LLAMA4
            | {"moe_layers": [], "attention_chunk_size": None, "head_dim": 6, "attn_temperature_tuning": False},
        ),
        Case(
            "Llama4ForCausalLM",
            LLAMA
            | LLAMA4
            | {"num_hidden_layers": 5, "no_rope_layers": None, "moe_layers": None, "interleave_moe_layer_step": 2}
            | rope("llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0, **LONGER),
        ),
        Case(
            "Llama4ForCausalLM",
            LLAMA
            | LLAMA4
            | {
                "layer_types": ["full_attention", "chunked_attention"] * 2,
                "num_hidden_layers": 4,
                "no_rope_layers": [1, 0, 0, 1],
            },
        ),
    ],
    "qwen3_5_text": [
        Case("Qwen3_5ForCausalLM", LLAMA | HYBRID),
        Case(
            "Qwen3_5TextModel",
            LLAMA
            | HYBRID
            | {
                "layer_types": ["full_attention", "linear_attention"] * 2,
                "linear_num_key_heads": 1,
                "linear_num_value_heads": 4,
                "attention_bias": True,
            },
        ),
    ],
    "qwen3_5_moe_text": [
        Case("Qwen3_5MoeForCausalLM", LLAMA | HYBRID | NEXT),
        Case("Qwen3_5MoeForCausalLM", LLAMA | HYBRID | NEXT | {"num_experts": 3}, rewrite=stack_experts),
        Case("Qwen3_5MoeTextModel", LLAMA | HYBRID | NEXT | {"num_experts_per_tok": 1, "moe_intermediate_size": 11}),
    ],
    "qwen3_next": [
        Case("Qwen3NextForCausalLM", LLAMA | HYBRID | NEXT),
        Case("Qwen3NextModel", LLAMA | HYBRID | NEXT | {"num_hidden_layers": 5, "layer_types": None}),
    ],
    "deepseek_v2": [
        Case("DeepseekV2ForCausalLM", LLAMA | LATENT | {"num_hidden_layers": 3, "routed_scaling_factor": 3.0}),
        Case("DeepseekV2ForCausalLM", LLAMA | LATENT | GROUPS | {"topk_method": "group_limited_greedy"}),
        Case("DeepseekV2ForSequenceClassification", LLAMA | LATENT | LABELS | {"q_lora_rank": None}),
        Case(
            "DeepseekV2Model",
            LLAMA
            | LATENT
            | rope("yarn", factor=4.0, mscale=0.7, mscale_all_dim=0.4, **LONGER)
            | {"attention_bias": True},
        ),
    ],
    "deepseek_v3": [
        Case("DeepseekV3ForCausalLM", LLAMA | LATENT | GROUPS | {"num_experts_per_tok": 4}),
        Case("DeepseekV3ForCausalLM", LLAMA | LATENT | GROUPS | {"rope_interleave": False, "norm_topk_prob": False}),
        Case("DeepseekV3Model", LLAMA | LATENT | {"n_group": 1, "topk_group": 1, "first_k_dense_replace": 2}),
        Case(
            "DeepseekV3ForCausalLM",
            LLAMA
            | LATENT
            | GROUPS
            | {"q_lora_rank": None, "attention_bias": True, "n_shared_experts": 3, "topk_group": 1}
            | rope("yarn", factor=4.0, mscale=1.0, mscale_all_dim=1.0, **LONGER),
        ),
    ],
    "gpt_oss": [
        Case("GptOssForCausalLM", LLAMA | EXPERTS | {"sliding_window": 4, "swiglu_limit": 0.4, "head_dim": 6}),
        Case(
            "GptOssModel",
            LLAMA
            | SIX
            | {
                "num_local_experts": 3,
                "num_experts_per_tok": 1,
                "head_dim": 8,
                "attention_bias": False,
                "layer_types": ["full_attention"] * 2,
            },
        ),
        Case("GptOssForCausalLM", LLAMA | EXPERTS | {"rope_parameters": FEWER}),
    ],
}
