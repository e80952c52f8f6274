"""Tiny models of the encoder and encoder-decoder families."""

from tests.families.decoders import NEOX, UNTIED
from tests.families.reference import Case

ROBERTA = NEOX | {"pad_token_id": 24, "max_position_embeddings": 45}  # the text contains no padding token
DISTIL = {"dim": 24, "n_heads": 3, "n_layers": 2, "hidden_dim": 38, "max_position_embeddings": 20}
MODERN = NEOX | {
    "num_hidden_layers": 4,
    "local_attention": 4,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "cls_token_id": 1,
    "sep_token_id": 2,
}
EURO = NEOX | {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "mask_token_id": 3}
DEBERTA = NEOX | {
    "relative_attention": True,
    "pos_att_type": ["c2p", "p2c"],
    "position_biased_input": False,
    "share_att_key": True,
}
T5 = {"d_model": 24, "d_kv": 6, "d_ff": 38, "num_layers": 2, "num_heads": 3, "decoder_start_token_id": 0}
BOTH = {
    f"{stack}_{name}": size
    for stack in ("encoder", "decoder")
    for name, size in (("layers", 2), ("attention_heads", 3), ("ffn_dim", 38))
}
BART = BOTH | {"d_model": 24, "max_position_embeddings": 20, "decoder_start_token_id": 2}
M2M = BART | {"pad_token_id": 25}  # the text contains no padding token
MARIAN = BART | {"pad_token_id": 0, "decoder_start_token_id": 0}
SLANTED = {"decoder_layers": 3, "encoder_layers": 1, "decoder_ffn_dim": 19, "decoder_attention_heads": 4}
CLASSIFIER = {"num_labels": 3, "eos_token_id": 2, "pad_token_id": 0}  # the text ends with [SEP], id 2

ENCODERS: dict[str, list[Case]] = {
    "bert": [
        Case("BertForMaskedLM", NEOX | {"layer_norm_eps": 0.1}, special=True),
        Case("BertForMaskedLM", NEOX | {"hidden_act": "relu", "type_vocab_size": 1, "tie_word_embeddings": False}),
        Case("BertModel", NEOX, special=True),
        Case("BertForQuestionAnswering", NEOX, special=True),
        Case("BertForPreTraining", NEOX, special=True),
        Case("BertForSequenceClassification", NEOX | {"num_labels": 3}, special=True),
        Case("BertForTokenClassification", NEOX | {"id2label": {0: "O", 1: "B-X", 2: "I-X"}}, special=True),
        Case("BertForMaskedLM", NEOX | {"num_attention_heads": 4, "intermediate_size": 17}, special=True),
    ],
    "roberta": [
        Case("RobertaForMaskedLM", ROBERTA, special=True),
        Case("RobertaForMaskedLM", ROBERTA | {"pad_token_id": 23, "hidden_act": "silu"}, special=True),
        Case("RobertaModel", ROBERTA, special=True),
        Case("RobertaForSequenceClassification", ROBERTA | {"num_labels": 3}, special=True),
        Case("RobertaForTokenClassification", ROBERTA | {"num_labels": 3}, special=True),
        Case("RobertaForMaskedLM", ROBERTA | UNTIED | {"num_attention_heads": 1}, special=True),
    ],
    "xlm-roberta": [
        Case("XLMRobertaForMaskedLM", ROBERTA | {"type_vocab_size": 1}, special=True),
        Case("XLMRobertaModel", ROBERTA | {"pad_token_id": 23, "hidden_act": "silu"}, special=True),
        Case("XLMRobertaForSequenceClassification", ROBERTA | {"num_labels": 3}, special=True),
    ],
    "camembert": [
        Case("CamembertForMaskedLM", ROBERTA | {"layer_norm_eps": 0.1}, special=True),
        Case("CamembertForTokenClassification", ROBERTA | {"num_labels": 3, "num_attention_heads": 4}, special=True),
    ],
    "mpnet": [  # without [CLS], whose id is MPNet's padding id
        Case("MPNetForMaskedLM", NEOX | {"max_position_embeddings": 22}),
        Case("MPNetModel", NEOX | {"hidden_act": "relu", "num_attention_heads": 4, "layer_norm_eps": 0.1}),
        Case("MPNetForSequenceClassification", NEOX | {"num_labels": 3, "tie_word_embeddings": False}),
    ],
    "nomic_bert": [
        Case("NomicBertForMaskedLM", NEOX | {"hidden_act": "gelu"}, special=True),
        Case("NomicBertModel", NEOX | {"head_dim": 10, "type_vocab_size": 1}, special=True),
        Case("NomicBertForSequenceClassification", NEOX | {"num_labels": 3}, special=True),
        Case("NomicBertForTokenClassification", NEOX | {"num_labels": 3, "layer_norm_eps": 0.1}),
    ],
    "distilbert": [
        Case("DistilBertForMaskedLM", DISTIL, special=True),
        Case("DistilBertForMaskedLM", DISTIL | {"activation": "relu", "sinusoidal_pos_embds": True}),
        Case("DistilBertModel", DISTIL, special=True),
        Case("DistilBertForQuestionAnswering", DISTIL),
        Case("DistilBertForSequenceClassification", DISTIL | {"num_labels": 3}, special=True),
        Case("DistilBertForTokenClassification", DISTIL | {"num_labels": 3}, special=True),
        Case("DistilBertForMaskedLM", DISTIL | UNTIED | {"n_heads": 6, "hidden_dim": 17}, special=True),
    ],
    "electra": [
        Case("ElectraForMaskedLM", NEOX | {"embedding_size": 10}, special=True),
        Case("ElectraForMaskedLM", NEOX | {"embedding_size": 24, "hidden_act": "relu"}, special=True),
        Case("ElectraModel", NEOX | {"embedding_size": 10}, special=True),
        Case("ElectraForSequenceClassification", NEOX | {"num_labels": 3}, special=True),
        Case("ElectraForTokenClassification", NEOX | {"num_labels": 3}, special=True),
        Case("ElectraForPreTraining", NEOX | {"embedding_size": 10}, special=True),
    ],
    "albert": [
        Case("AlbertForMaskedLM", NEOX | {"embedding_size": 10}, special=True),
        Case(
            "AlbertForMaskedLM",
            NEOX | {"embedding_size": 24, "num_hidden_layers": 4, "num_hidden_groups": 2},
            special=True,
        ),
        Case("AlbertModel", NEOX | {"embedding_size": 10, "inner_group_num": 2}, special=True),
        Case("AlbertForSequenceClassification", NEOX | {"num_labels": 3}, special=True),
        Case("AlbertForTokenClassification", NEOX | {"num_labels": 3}, special=True),
        Case(
            "AlbertForPreTraining",
            NEOX | {"embedding_size": 7, "num_hidden_layers": 3, "num_hidden_groups": 3},
            special=True,
        ),
    ],
    "esm": [
        Case("EsmForMaskedLM", ROBERTA | {"token_dropout": True, "mask_token_id": 5, "emb_layer_norm_before": True}),
        Case("EsmForMaskedLM", ROBERTA | {"position_embedding_type": "rotary", "tie_word_embeddings": False}),
        Case("EsmModel", ROBERTA | {"position_embedding_type": "rotary", "token_dropout": True, "mask_token_id": 25}),
        Case("EsmForSequenceClassification", ROBERTA | {"num_labels": 3}, special=True),
        Case("EsmForTokenClassification", ROBERTA | {"num_labels": 3, "layer_norm_eps": 0.1}, special=True),
    ],
    "modernbert": [
        Case("ModernBertForMaskedLM", MODERN, special=True),
        Case("ModernBertForQuestionAnswering", MODERN, special=True),
        Case(
            "ModernBertForMaskedLM",
            MODERN
            | {
                "norm_bias": True,
                "attention_bias": True,
                "mlp_bias": True,
                "classifier_bias": True,
                "decoder_bias": False,
                "local_attention": 5,
            },
            special=True,
        ),
        Case(
            "ModernBertForMaskedLM",
            MODERN | {"classifier_activation": "relu", "hidden_activation": "silu", "tie_word_embeddings": False},
            special=True,
        ),
        Case(
            "ModernBertModel",
            MODERN | {"layer_types": ["sliding_attention", "sliding_attention", "full_attention", "full_attention"]},
        ),
        Case(
            "ModernBertForSequenceClassification",
            MODERN | {"num_labels": 3, "classifier_pooling": "mean"},
            special=True,
        ),
        Case("ModernBertForSequenceClassification", MODERN | {"num_labels": 3}, special=True),
        Case("ModernBertForTokenClassification", MODERN | {"num_labels": 3}, special=True),
        Case("ModernBertForMaskedLM", MODERN | {"global_attn_every_n_layers": 2, "local_attention": 2}),
    ],
    "eurobert": [
        Case("EuroBertForMaskedLM", EURO, special=True),
        Case(
            "EuroBertForMaskedLM",
            EURO | {"attention_bias": True, "mlp_bias": True, "num_key_value_heads": 1, "tie_word_embeddings": True},
            special=True,
        ),
        Case(
            "EuroBertModel", EURO | {"head_dim": 10, "rope_parameters": {"rope_type": "default", "rope_theta": 250.0}}
        ),
        Case("EuroBertForSequenceClassification", EURO | {"num_labels": 3, "classifier_pooling": "mean"}, special=True),
        Case("EuroBertForSequenceClassification", EURO | {"num_labels": 3, "classifier_pooling": "bos"}),
        Case("EuroBertForTokenClassification", EURO | {"num_labels": 3}),
    ],
    "deberta-v2": [
        Case(
            "DebertaV2ForMaskedLM",
            DEBERTA | {"position_buckets": 8, "max_relative_positions": 20, "norm_rel_ebd": "layer_norm"},
            special=True,
        ),
        Case(
            "DebertaV2ForMaskedLM",
            DEBERTA | {"pos_att_type": ["c2p"], "share_att_key": False, "max_relative_positions": 5},
        ),
        Case(
            "DebertaV2Model",
            DEBERTA | {"pos_att_type": "p2c", "share_att_key": False, "type_vocab_size": 2},
            special=True,
        ),
        Case("DebertaV2Model", NEOX | {"relative_attention": False}, special=True),
        Case(
            "DebertaV2ForSequenceClassification", DEBERTA | {"num_labels": 3, "pooler_hidden_act": "tanh"}, special=True
        ),
        Case(
            "DebertaV2ForTokenClassification",
            DEBERTA | {"num_labels": 3, "share_att_key": False, "position_buckets": 6, "max_relative_positions": 12},
            special=True,
        ),
        Case("DebertaV2ForMaskedLM", DEBERTA | {"share_att_key": False, "conv_kernel_size": 0}),
        # The distance from the first to the last token equals max_relative_positions.
        Case("DebertaV2Model", DEBERTA | {"position_buckets": 4, "max_relative_positions": 12}),
        Case("DebertaV2Model", NEOX | {"relative_attention": False, "norm_rel_ebd": "layer_norm"}, special=True),
        Case("DebertaV2ForMaskedLM", DEBERTA | {"position_biased_input": True, "position_buckets": 6}, special=True),
        Case("DebertaV2Model", DEBERTA | {"position_biased_input": True, "pos_att_type": ["p2c"]}),
    ],
    "t5": [
        Case("T5ForConditionalGeneration", T5),
        Case("T5ForConditionalGeneration", T5 | {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}),
        Case(
            "T5ForConditionalGeneration",
            T5
            | {
                "feed_forward_proj": "gated-silu",
                "num_decoder_layers": 3,
                "relative_attention_num_buckets": 8,
                "relative_attention_max_distance": 9,
            },
        ),
        Case("T5Model", T5 | {"layer_norm_epsilon": 0.1}),
        Case("T5EncoderModel", T5),
        Case("T5ForSequenceClassification", T5 | CLASSIFIER, special=True),
        Case("T5ForTokenClassification", T5 | {"num_labels": 3}, special=True),
        Case("T5ForConditionalGeneration", T5 | UNTIED | {"d_kv": 5, "num_heads": 4, "num_decoder_layers": 1}),
        Case("T5ForConditionalGeneration", T5 | {"feed_forward_proj": "gated-relu", "num_layers": 1}),
    ],
    "bart": [
        Case("BartForConditionalGeneration", BART),
        Case(
            "BartForConditionalGeneration",
            BART
            | {
                "scale_embedding": True,
                "decoder_layers": 1,
                "decoder_ffn_dim": 19,
                "decoder_attention_heads": 4,
                "activation_function": "relu",
            },
        ),
        Case("BartModel", BART),
        Case("BartForSequenceClassification", BART | CLASSIFIER, special=True),
        Case("BartForConditionalGeneration", BART | SLANTED | UNTIED),
        Case("BartModel", BART | SLANTED | {"encoder_ffn_dim": 5}),
    ],
    "marian": [
        Case("MarianMTModel", MARIAN),
        Case("MarianMTModel", MARIAN | {"scale_embedding": True, "activation_function": "swish", "encoder_layers": 1}),
        Case("MarianModel", MARIAN),
        Case("MarianMTModel", MARIAN | UNTIED),
        Case("MarianMTModel", MARIAN | SLANTED),
        Case("MarianModel", MARIAN | SLANTED),
    ],
    "mt5": [
        Case("MT5ForConditionalGeneration", T5),
        Case("MT5ForConditionalGeneration", T5 | {"num_decoder_layers": 1, "feed_forward_proj": "relu"}),
        Case("MT5EncoderModel", T5 | {"d_kv": 5}),
    ],
    "umt5": [
        Case("UMT5ForConditionalGeneration", T5),
        Case("UMT5ForConditionalGeneration", T5 | {"num_decoder_layers": 3, "feed_forward_proj": "relu"}),
        Case("UMT5EncoderModel", T5 | {"d_kv": 5, "relative_attention_max_distance": 20}),
        Case("UMT5ForSequenceClassification", T5 | CLASSIFIER, special=True),
    ],
    "mbart": [
        Case("MBartForConditionalGeneration", BART | {"scale_embedding": True}),
        Case("MBartModel", BART | SLANTED),
        Case("MBartForSequenceClassification", BART | CLASSIFIER | {"decoder_start_token_id": 4}, special=True),
    ],
    "m2m_100": [
        Case("M2M100ForConditionalGeneration", BART | {"scale_embedding": False}),
        Case("M2M100Model", BART | SLANTED | {"pad_token_id": 0}),
    ],
    "pegasus": [
        Case("PegasusForConditionalGeneration", M2M | {"activation_function": "relu"}),
        Case("PegasusModel", M2M | SLANTED | {"scale_embedding": True}),
    ],
    "blenderbot": [
        Case("BlenderbotForConditionalGeneration", M2M | {"scale_embedding": True}),
        Case("BlenderbotModel", M2M | SLANTED),
    ],
}
