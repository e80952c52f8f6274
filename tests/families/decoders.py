"""Tiny models of the decoder families, with grouped heads, other output heads, none, tied or untied embeddings."""

from typing import Any

from tests.families.reference import Case

GPT2 = {"n_embd": 24, "n_head": 3, "n_layer": 2, "n_positions": 20}
NEO = {"hidden_size": 24, "num_heads": 3, "num_layers": 2, "max_position_embeddings": 20}
GPTJ = {"n_embd": 24, "n_head": 3, "n_layer": 2, "n_positions": 20, "rotary_dim": 4}
WIDTH: dict[str, Any] = {"hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2}
BLOCK = WIDTH | {"intermediate_size": 38}
NEOX = BLOCK | {"max_position_embeddings": 20}
LLAMA = NEOX | {"num_key_value_heads": 3, "pad_token_id": None}
GEMMA = LLAMA | {"head_dim": 10}
GEMMA4 = GEMMA | {
    "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6, "global_head_dim": 10,
    "layer_types": ["sliding_attention", "full_attention", "full_attention"], "sliding_window": 4, "pad_token_id": 0,
    "hidden_size_per_layer_input": 5, "vocab_size_per_layer_input": 30,
    "rope_parameters": {
        "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.5, "rope_theta": 30.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 20.0},
    },
}  # fmt: skip
MIXED = {"enable_moe_block": True, "num_experts": 5, "top_k_experts": 2, "moe_intermediate_size": 17}
SHARING = {
    "num_hidden_layers": 6, "num_kv_shared_layers": 3,
    "layer_types": ["sliding_attention", "full_attention"] * 3,
}  # fmt: skip
GEMMA3N = GEMMA | {
    "num_hidden_layers": 6, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6,
    "layer_types": ["sliding_attention", "full_attention"] * 3, "sliding_window": 4, "num_kv_shared_layers": 2,
    "pad_token_id": 0,
    "intermediate_size": [38, 38, 37, 38, 40, 38], "activation_sparsity_pattern": [0.9, 0.0, 0.5, 0.0, 0.8, 0.0],
    "hidden_size_per_layer_input": 5, "vocab_size_per_layer_input": 20, "altup_num_inputs": 3, "laurel_rank": 7,
    "rope_parameters": {
        "full_attention": {"rope_type": "default", "rope_theta": 30.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 20.0},
    },
}  # fmt: skip
OPT = WIDTH | {"ffn_dim": 38, "max_position_embeddings": 20, "word_embed_proj_dim": 24, "pad_token_id": 1}
BLOOM = {"hidden_size": 24, "n_head": 4, "n_layer": 2}
MPT = {"d_model": 24, "n_heads": 3, "n_layers": 2, "max_seq_len": 20}
FALCON = WIDTH | {"num_attention_heads": 4, "max_position_embeddings": 20}
SOME = {"num_attention_heads": 6, "num_key_value_heads": 2, "intermediate_size": 37}
WIDE = SOME | {"head_dim": 14}
LABELS: dict[str, Any] = {"num_labels": 3, "pad_token_id": 0}
ENDED = LABELS | {"pad_token_id": 2}  # [SEP], which ends the text
UNTIED = {"tie_word_embeddings": False}
TIED = {"tie_word_embeddings": True}


def rope(kind: str, **fields: Any) -> dict[str, Any]:
    return {"rope_parameters": {"rope_type": kind, "rope_theta": 30.0, **fields}}


LONGER = {"original_max_position_embeddings": 6}

DECODERS: dict[str, list[Case]] = {
    "gpt2": [
        Case("GPT2LMHeadModel", GPT2 | {"scale_attn_by_inverse_layer_idx": True, "n_inner": 31}),
        Case("GPT2LMHeadModel", GPT2 | {"scale_attn_weights": False, "activation_function": "relu"}, dtype="bfloat16"),
        Case("GPT2LMHeadModel", GPT2 | {"tie_word_embeddings": False}, shards=True),
        Case("GPT2ForQuestionAnswering", GPT2),
        Case("GPT2Model", GPT2 | {"layer_norm_epsilon": 0.1}),
        Case("GPT2ForSequenceClassification", GPT2 | LABELS),
        Case("GPT2ForTokenClassification", GPT2 | {"num_labels": 3}),
    ],
    "llama": [
        Case("LlamaForCausalLM", LLAMA | {"num_key_value_heads": 1, "head_dim": 10}),
        Case("LlamaForCausalLM", LLAMA | {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True}),
        Case("LlamaForCausalLM", LLAMA | rope("linear", factor=2.5), shards=True),
        Case("LlamaForQuestionAnswering", LLAMA),
        Case("LlamaForCausalLM", LLAMA | {"max_position_embeddings": 8} | rope("dynamic", factor=3.0)),
        Case(
            "LlamaForCausalLM", LLAMA | rope("llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0, **LONGER)
        ),
        Case("LlamaForCausalLM", LLAMA | rope("yarn", factor=4.0, **LONGER)),
        Case(
            "LlamaForCausalLM",
            LLAMA
            | rope(
                "yarn", factor=4.0, beta_fast=8, beta_slow=2, truncate=False, mscale=0.7, mscale_all_dim=0.4, **LONGER
            ),
        ),
        Case("LlamaForCausalLM", LLAMA | rope("default") | {"hidden_act": "gelu"}),
        Case("LlamaModel", LLAMA | {"rms_norm_eps": 0.1}),
        Case("LlamaForSequenceClassification", LLAMA | LABELS),
        Case("LlamaForTokenClassification", LLAMA | {"num_labels": 3}),
        Case("LlamaForCausalLM", LLAMA | WIDE | TIED),
        Case("LlamaForCausalLM", LLAMA | SOME | {"attention_bias": True} | rope("linear", factor=4.0)),
    ],
    "gpt_neo": [
        Case("GPTNeoForCausalLM", NEO | {"attention_types": [[["global", "local"], 1]], "window_size": 4}),
        Case(
            "GPTNeoForCausalLM", NEO | {"attention_types": [[["local"], 2]], "window_size": 3, "intermediate_size": 31}
        ),
        Case("GPTNeoForTokenClassification", NEO | {"attention_types": [[["global"], 2]], "num_labels": 3}),
        Case("GPTNeoForCausalLM", NEO | UNTIED | {"attention_types": [[["local", "global"], 1]], "window_size": 2}),
        Case("GPTNeoModel", NEO | {"attention_types": [[["global"], 2]], "activation_function": "relu"}),
        Case("GPTNeoForSequenceClassification", NEO | LABELS | {"attention_types": [[["local"], 2]], "window_size": 5}),
    ],
    "gptj": [
        Case("GPTJForCausalLM", GPTJ),
        Case("GPTJForCausalLM", GPTJ | {"rotary_dim": 8, "n_inner": 31}),
        Case("GPTJModel", GPTJ),
        Case("GPTJForSequenceClassification", GPTJ | LABELS),
        Case("GPTJForCausalLM", GPTJ | {"rotary_dim": 6, "n_inner": 29}),
        Case("GPTJForCausalLM", GPTJ | TIED),
    ],
    "codegen": [
        Case("CodeGenForCausalLM", GPTJ | {"n_head": 4, "rotary_dim": 6}),
        Case("CodeGenModel", GPTJ | {"n_head": 4, "n_inner": 31, "activation_function": "relu"}),
    ],
    "gpt_bigcode": [
        Case("GPTBigCodeForCausalLM", GPT2 | {"n_inner": 31}),
        Case("GPTBigCodeForCausalLM", GPT2 | {"multi_query": False, "scale_attn_weights": False}),
        Case("GPTBigCodeForSequenceClassification", GPT2 | LABELS),
    ],
    "mpt": [
        Case("MptForCausalLM", MPT | {"attn_config": {"clip_qkv": 0.6, "softmax_scale": 0.3}}),
        Case("MptModel", MPT | {"n_heads": 4, "layer_norm_epsilon": 0.1, "expansion_ratio": 3}),
        Case("MptForTokenClassification", MPT | {"n_heads": 6, "num_labels": 3}),
    ],
    "gpt_neox": [
        Case("GPTNeoXForCausalLM", NEOX | {"hidden_size": 48}),
        Case("GPTNeoXForCausalLM", NEOX | {"use_parallel_residual": False, "attention_bias": False}),
        Case("GPTNeoXForCausalLM", NEOX | rope("default", partial_rotary_factor=0.5) | {"tie_word_embeddings": True}),
        Case("GPTNeoXForSequenceClassification", NEOX | LABELS),
        Case("GPTNeoXForTokenClassification", NEOX | {"num_labels": 3}),
        Case("GPTNeoXModel", NEOX | {"hidden_act": "relu", "layer_norm_eps": 0.1}),
        Case("GPTNeoXForCausalLM", NEOX | rope("linear", factor=3.0, partial_rotary_factor=1.0)),
    ],
    "mistral": [
        Case("MistralForCausalLM", LLAMA | {"sliding_window": 4, "num_key_value_heads": 1}),
        Case("MistralForCausalLM", LLAMA | {"sliding_window": None, "head_dim": 6}),
        Case("MistralForCausalLM", LLAMA | WIDE | TIED | {"sliding_window": 3}),
        Case("MistralModel", LLAMA | SOME | {"sliding_window": None}),
        Case("MistralForSequenceClassification", LLAMA | ENDED | {"sliding_window": 5}, special=True),
        Case("MistralForTokenClassification", LLAMA | LABELS | {"sliding_window": 1}),
    ],
    "qwen2": [
        Case("Qwen2ForCausalLM", LLAMA | {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1}),
        Case("Qwen2ForCausalLM", LLAMA | {"num_key_value_heads": 1, "tie_word_embeddings": True}),
        Case("Qwen2Model", LLAMA | SOME | rope("yarn", factor=4.0, original_max_position_embeddings=6)),
        Case("Qwen2ForSequenceClassification", LLAMA | LABELS),
        Case("Qwen2ForTokenClassification", LLAMA | LABELS),
    ],
    "qwen3": [
        Case("Qwen3ForCausalLM", LLAMA | {"head_dim": 10, "num_key_value_heads": 1}),
        Case(
            "Qwen3ForCausalLM",
            LLAMA
            | {
                "head_dim": 8,
                "attention_bias": True,
                "layer_types": ["sliding_attention", "full_attention"],
                "use_sliding_window": True,
                "sliding_window": 3,
            },
        ),
        Case("Qwen3ForCausalLM", LLAMA | WIDE | TIED),
        Case("Qwen3Model", LLAMA | {"head_dim": 6, "num_key_value_heads": 1}),
        Case("Qwen3ForSequenceClassification", LLAMA | LABELS | {"head_dim": 8}),
    ],
    "smollm3": [
        Case("SmolLM3ForCausalLM", LLAMA | {"num_hidden_layers": 4, "no_rope_layer_interval": 2}),
        Case(
            "SmolLM3ForCausalLM",
            LLAMA
            | {"no_rope_layers": [0, 1], "use_sliding_window": True, "sliding_window": 4, "num_key_value_heads": 1},
        ),
        Case("SmolLM3Model", LLAMA | SOME | {"no_rope_layers": [0, 0]}),
        Case("SmolLM3ForTokenClassification", LLAMA | LABELS | {"no_rope_layers": [1, 0], "attention_bias": True}),
    ],
    "olmo2": [
        Case("Olmo2ForCausalLM", LLAMA),
        Case("Olmo2ForCausalLM", LLAMA | {"num_key_value_heads": 1, "attention_bias": True}),
        Case("Olmo2ForCausalLM", LLAMA | SOME | TIED | rope("default")),
        Case("Olmo2Model", LLAMA | {"rms_norm_eps": 0.1}),
    ],
    "phi3": [
        Case("Phi3ForCausalLM", LLAMA | {"sliding_window": 4, "num_key_value_heads": 1}),
        Case(
            "Phi3ForCausalLM",
            LLAMA
            | {"original_max_position_embeddings": 10}
            | rope("longrope", short_factor=[1.0, 1.5, 2.0, 3.0], long_factor=[2.0, 4.0, 5.0, 6.0], **LONGER),
        ),
        Case(
            "Phi3ForCausalLM",
            LLAMA
            | {"original_max_position_embeddings": 16}
            | rope("longrope", short_factor=[1.0, 1.5, 2.0, 3.0], long_factor=[2.0, 4.0, 5.0, 6.0], **LONGER),
        ),
        Case("Phi3ForCausalLM", LLAMA | rope("default", partial_rotary_factor=0.5)),
        Case("Phi3ForCausalLM", LLAMA | SOME | TIED),
        Case("Phi3Model", LLAMA | {"sliding_window": 2}),
        Case("Phi3ForSequenceClassification", LLAMA | LABELS),
    ],
    "gemma": [
        Case("GemmaForCausalLM", GEMMA | {"num_key_value_heads": 1}),
        Case("GemmaForCausalLM", GEMMA | {"hidden_act": "gelu", "attention_bias": True}),
        Case("GemmaForSequenceClassification", GEMMA | LABELS),
        Case("GemmaForCausalLM", GEMMA | WIDE | UNTIED),
        Case("GemmaModel", GEMMA | SOME | {"hidden_activation": "relu"}),  # a field that its code ignores
    ],
    "gemma2": [
        Case(
            "Gemma2ForCausalLM",
            GEMMA
            | {
                "sliding_window": 4,
                "query_pre_attn_scalar": 17,
                "final_logit_softcapping": 2.0,
                "attn_logit_softcapping": 1.5,
                "num_hidden_layers": 3,
            },
        ),
        Case(
            "Gemma2ForCausalLM",
            GEMMA
            | {
                "final_logit_softcapping": None,
                "attn_logit_softcapping": None,
                "num_key_value_heads": 1,
                "sliding_window": 3,
            },
        ),
        Case("Gemma2Model", GEMMA | {"sliding_window": 5}),
        Case(
            "Gemma2ForCausalLM",
            GEMMA | WIDE | UNTIED | {"sliding_window": 2, "attention_bias": True, "hidden_activation": "gelu"},
        ),
        Case("Gemma2ForSequenceClassification", GEMMA | LABELS | {"sliding_window": 4}),
    ],
    "gemma3_text": [
        Case(
            "Gemma3ForCausalLM",
            GEMMA
            | {
                "num_hidden_layers": 3,
                "sliding_window": 4,
                "query_pre_attn_scalar": 17,
                "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
            },
        ),
        Case(
            "Gemma3ForCausalLM",
            GEMMA
            | {
                "num_hidden_layers": 7,
                "sliding_window": 4,
                "final_logit_softcapping": 3.0,
                "rope_parameters": {
                    "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 500.0},
                    "sliding_attention": {"rope_type": "default", "rope_theta": 20.0},
                },
            },
        ),
        Case("Gemma3TextModel", GEMMA | {"sliding_window": 4, "use_bidirectional_attention": True}, special=True),
        Case(
            "Gemma3TextModel",
            GEMMA | WIDE | {"sliding_window": 3, "attention_bias": True, "hidden_activation": "gelu"},
        ),
        Case("Gemma3TextForSequenceClassification", GEMMA | LABELS | {"attn_logit_softcapping": 2.0}),
    ],
    "gemma3n_text": [
        Case("Gemma3nForCausalLM", GEMMA3N | {"final_logit_softcapping": 2.0}),
        Case("Gemma3nForCausalLM", GEMMA3N | {"altup_active_idx": 1, "altup_correct_scale": False, "laurel_rank": 1}),
        Case(
            "Gemma3nForCausalLM",
            GEMMA3N
            | UNTIED
            | {
                "num_hidden_layers": 11,
                "head_dim": 2,
                "layer_types": None,
                "num_kv_shared_layers": 0,
                "activation_sparsity_pattern": None,
                "intermediate_size": 38,
                "altup_num_inputs": 2,
                "altup_coef_clip": 0.1,
                "attention_bias": True,
                "hidden_activation": "gelu",
                "vocab_size_per_layer_input": 40,
            },
        ),
        Case("Gemma3nTextModel", GEMMA3N | {"altup_active_idx": 2, "rope_parameters": None, "sliding_window": 1}),
    ],
    "gemma4_text": [
        Case("Gemma4ForCausalLM", GEMMA4 | SHARING | {"attention_k_eq_v": True, "num_global_key_value_heads": 1}),
        Case("Gemma4ForCausalLM", GEMMA4 | SHARING | {"use_double_wide_mlp": True, "attention_bias": True}),
        Case("Gemma4ForCausalLM", GEMMA4 | SHARING | MIXED | {"use_double_wide_mlp": True}),
        Case("Gemma4TextModel", GEMMA4 | {"hidden_size_per_layer_input": 0, "attention_k_eq_v": True}),
        Case(
            "Gemma4ForCausalLM",
            GEMMA4
            | UNTIED
            | {
                "num_hidden_layers": 7,
                "layer_types": None,
                "final_logit_softcapping": 2.0,
                "hidden_activation": "gelu",
                "use_bidirectional_attention": "vision",
                "rope_parameters": {
                    "full_attention": {"rope_type": "linear", "factor": 3.0, "rope_theta": 30.0},
                    "sliding_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.7, "rope_theta": 20},
                },
            },
        ),
    ],
    "opt": [
        Case("OPTForCausalLM", OPT),
        Case("OPTForCausalLM", OPT | {"do_layer_norm_before": False, "word_embed_proj_dim": 10}),
        Case("OPTForCausalLM", OPT | {"enable_bias": False, "layer_norm_elementwise_affine": False}),
        Case("OPTModel", OPT | {"_remove_final_layer_norm": True, "activation_function": "gelu"}),
        Case("OPTForSequenceClassification", OPT | LABELS),
        Case("OPTForCausalLM", OPT | UNTIED | {"num_attention_heads": 4, "ffn_dim": 17}),
        Case("OPTModel", OPT | {"do_layer_norm_before": False, "word_embed_proj_dim": 30}),
    ],
    "bloom": [
        Case("BloomForCausalLM", BLOOM),
        Case("BloomForCausalLM", BLOOM | {"n_head": 3, "apply_residual_connection_post_layernorm": True}),
        Case("BloomModel", BLOOM | {"n_head": 6}),
        Case("BloomForTokenClassification", BLOOM | {"num_labels": 3}),
        Case("BloomForCausalLM", BLOOM | UNTIED | {"n_head": 12}),
        Case("BloomForSequenceClassification", BLOOM | ENDED | {"n_head": 1}, special=True),
    ],
    "falcon": [
        Case("FalconForCausalLM", FALCON),
        Case("FalconForQuestionAnswering", FALCON | {"bias": True}),
        Case("FalconForCausalLM", FALCON | {"new_decoder_architecture": True, "num_kv_heads": 2, "bias": True}),
        Case(
            "FalconForCausalLM",
            FALCON | {"new_decoder_architecture": True, "num_kv_heads": 2, "num_ln_in_parallel_attn": 1},
        ),
        # The reference's eager attention adds ALiBi slopes twice; SDPA adds them once, as in Falcon's training.
        Case(
            "FalconForCausalLM",
            FALCON | {"alibi": True, "multi_query": False, "parallel_attn": False, "bias": True},
            implementation="sdpa",
        ),
        Case(
            "FalconForCausalLM",
            FALCON | {"alibi": True, "num_attention_heads": 6, "ffn_hidden_size": 31},
            implementation="sdpa",
        ),
        Case("FalconForSequenceClassification", FALCON | LABELS),
        Case("FalconModel", FALCON | {"multi_query": False, "parallel_attn": False}),
        Case("FalconForCausalLM", FALCON | UNTIED | rope("linear", factor=2.0)),
        Case("FalconForTokenClassification", FALCON | LABELS | {"multi_query": False, "ffn_hidden_size": 37}),
    ],
    "phi": [
        Case("PhiForCausalLM", LLAMA),
        Case("PhiForCausalLM", LLAMA | {"qk_layernorm": True, "num_key_value_heads": 1}),
        Case("PhiForCausalLM", LLAMA | rope("default", partial_rotary_factor=0.75)),
        Case("PhiForTokenClassification", LLAMA | {"num_labels": 3}),
        Case("PhiForCausalLM", LLAMA | SOME | TIED | rope("default", partial_rotary_factor=1.0)),
        Case("PhiModel", LLAMA | {"num_key_value_heads": 1, "hidden_act": "relu"}),
        Case("PhiForSequenceClassification", LLAMA | LABELS),
    ],
}
