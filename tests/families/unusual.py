"""More tiny models of each family: grouped key/value heads, other output heads, none, tied or untied embeddings."""

from typing import Any

from tests.families.decoders import BLOOM, FALCON, GEMMA, GPTJ, LLAMA, NEO, NEOX, OPT, rope
from tests.families.encoders import BART, DEBERTA, DISTIL, MODERN, ROBERTA, SLANTED, T5
from tests.families.reference import Case

SOME = {"num_attention_heads": 6, "num_key_value_heads": 2, "intermediate_size": 37}
WIDE = SOME | {"head_dim": 14}
LABELS: dict[str, Any] = {"num_labels": 3, "pad_token_id": 0}
ENDED = LABELS | {"pad_token_id": 2}  # [SEP], with which the text ends
UNTIED = {"tie_word_embeddings": False}
TIED = {"tie_word_embeddings": True}
MARIAN = BART | {"pad_token_id": 0, "decoder_start_token_id": 0}

UNUSUAL: dict[str, list[Case]] = {
    "llama": [
        Case("LlamaForCausalLM", LLAMA | WIDE | TIED),
        Case("LlamaForCausalLM", LLAMA | SOME | {"attention_bias": True} | rope("linear", factor=4.0)),
    ],
    "gpt_neo": [
        Case("GPTNeoForCausalLM", NEO | UNTIED | {"attention_types": [[["local", "global"], 1]], "window_size": 2}),
        Case("GPTNeoModel", NEO | {"attention_types": [[["global"], 2]], "activation_function": "relu"}),
        Case("GPTNeoForSequenceClassification", NEO | LABELS | {"attention_types": [[["local"], 2]], "window_size": 5}),
    ],
    "gptj": [Case("GPTJForCausalLM", GPTJ | {"rotary_dim": 6, "n_inner": 29}), Case("GPTJForCausalLM", GPTJ | TIED)],
    "gpt_neox": [
        Case("GPTNeoXModel", NEOX | {"hidden_act": "relu", "layer_norm_eps": 0.1}),
        Case("GPTNeoXForCausalLM", NEOX | rope("linear", factor=3.0, partial_rotary_factor=1.0)),
    ],
    "mistral": [
        Case("MistralForCausalLM", LLAMA | WIDE | TIED | {"sliding_window": 3}),
        Case("MistralModel", LLAMA | SOME | {"sliding_window": None}),
        Case("MistralForSequenceClassification", LLAMA | ENDED | {"sliding_window": 5}, special=True),
        Case("MistralForTokenClassification", LLAMA | LABELS | {"sliding_window": 1}),
    ],
    "qwen2": [
        Case("Qwen2Model", LLAMA | SOME | rope("yarn", factor=4.0, original_max_position_embeddings=6)),
        Case("Qwen2ForSequenceClassification", LLAMA | LABELS),
        Case("Qwen2ForTokenClassification", LLAMA | LABELS),
    ],
    "qwen3": [
        Case("Qwen3ForCausalLM", LLAMA | WIDE | TIED),
        Case("Qwen3Model", LLAMA | {"head_dim": 6, "num_key_value_heads": 1}),
        Case("Qwen3ForSequenceClassification", LLAMA | LABELS | {"head_dim": 8}),
    ],
    "smollm3": [
        Case("SmolLM3Model", LLAMA | SOME | {"no_rope_layers": [0, 0]}),
        Case("SmolLM3ForTokenClassification", LLAMA | LABELS | {"no_rope_layers": [1, 0], "attention_bias": True}),
    ],
    "olmo2": [
        Case("Olmo2ForCausalLM", LLAMA | SOME | TIED | rope("default")),
        Case("Olmo2Model", LLAMA | {"rms_norm_eps": 0.1}),
    ],
    "phi3": [
        Case("Phi3ForCausalLM", LLAMA | SOME | TIED),
        Case("Phi3Model", LLAMA | {"sliding_window": 2}),
        Case("Phi3ForSequenceClassification", LLAMA | LABELS),
    ],
    "gemma": [
        Case("GemmaForCausalLM", GEMMA | WIDE | UNTIED),
        Case("GemmaModel", GEMMA | SOME | {"hidden_activation": "relu"}),  # a field that its programs do not look at
    ],
    "gemma2": [
        Case(
            "Gemma2ForCausalLM",
            GEMMA | WIDE | UNTIED | {"sliding_window": 2, "attention_bias": True, "hidden_activation": "gelu"},
        ),
        Case("Gemma2ForSequenceClassification", GEMMA | LABELS | {"sliding_window": 4}),
    ],
    "gemma3_text": [
        Case("Gemma3TextModel", GEMMA | {"sliding_window": 4, "use_bidirectional_attention": True}, special=True),
        Case(
            "Gemma3TextModel",
            GEMMA | WIDE | {"sliding_window": 3, "attention_bias": True, "hidden_activation": "gelu"},
        ),
        Case("Gemma3TextForSequenceClassification", GEMMA | LABELS | {"attn_logit_softcapping": 2.0}),
    ],
    "opt": [
        Case("OPTForCausalLM", OPT | UNTIED | {"num_attention_heads": 4, "ffn_dim": 17}),
        Case("OPTModel", OPT | {"do_layer_norm_before": False, "word_embed_proj_dim": 30}),
    ],
    "bloom": [
        Case("BloomForCausalLM", BLOOM | UNTIED | {"n_head": 12}),
        Case("BloomForSequenceClassification", BLOOM | ENDED | {"n_head": 1}, special=True),
    ],
    "falcon": [
        Case("FalconModel", FALCON | {"multi_query": False, "parallel_attn": False}),
        Case("FalconForCausalLM", FALCON | UNTIED | rope("linear", factor=2.0)),
        Case("FalconForTokenClassification", FALCON | LABELS | {"multi_query": False, "ffn_hidden_size": 37}),
    ],
    "phi": [
        Case("PhiForCausalLM", LLAMA | SOME | TIED | rope("default", partial_rotary_factor=1.0)),
        Case("PhiModel", LLAMA | {"num_key_value_heads": 1, "hidden_act": "relu"}),
        Case("PhiForSequenceClassification", LLAMA | LABELS),
    ],
    "bert": [Case("BertForMaskedLM", NEOX | {"num_attention_heads": 4, "intermediate_size": 17}, special=True)],
    "roberta": [Case("RobertaForMaskedLM", ROBERTA | UNTIED | {"num_attention_heads": 1}, special=True)],
    "distilbert": [Case("DistilBertForMaskedLM", DISTIL | UNTIED | {"n_heads": 6, "hidden_dim": 17}, special=True)],
    "electra": [Case("ElectraForPreTraining", NEOX | {"embedding_size": 10}, special=True)],
    "albert": [
        Case(
            "AlbertForPreTraining",
            NEOX | {"embedding_size": 7, "num_hidden_layers": 3, "num_hidden_groups": 3},
            special=True,
        ),
    ],
    "modernbert": [Case("ModernBertForMaskedLM", MODERN | {"global_attn_every_n_layers": 2, "local_attention": 2})],
    "deberta-v2": [
        Case("DebertaV2ForMaskedLM", DEBERTA | {"share_att_key": False, "conv_kernel_size": 0}),
        # The last token is just as far from the first as distances are told apart.
        Case("DebertaV2Model", DEBERTA | {"position_buckets": 4, "max_relative_positions": 12}),
        Case("DebertaV2Model", NEOX | {"relative_attention": False, "norm_rel_ebd": "layer_norm"}, special=True),
        Case("DebertaV2ForMaskedLM", DEBERTA | {"position_biased_input": True, "position_buckets": 6}, special=True),
        Case("DebertaV2Model", DEBERTA | {"position_biased_input": True, "pos_att_type": ["p2c"]}),
    ],
    "t5": [
        Case("T5ForConditionalGeneration", T5 | UNTIED | {"d_kv": 5, "num_heads": 4, "num_decoder_layers": 1}),
        Case("T5ForConditionalGeneration", T5 | {"feed_forward_proj": "gated-relu", "num_layers": 1}),
    ],
    "bart": [
        Case("BartForConditionalGeneration", BART | SLANTED | UNTIED),
        Case("BartModel", BART | SLANTED | {"encoder_ffn_dim": 5}),
    ],
    "marian": [
        Case("MarianMTModel", MARIAN | UNTIED),
        Case("MarianMTModel", MARIAN | SLANTED),
        Case("MarianModel", MARIAN | SLANTED),
    ],
}
