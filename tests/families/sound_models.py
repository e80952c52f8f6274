"""Tiny models for sounds."""

from typing import Any

from tests.families.decoders import BLOCK
from tests.families.encoders import BOTH
from tests.families.reference import Case

WHISPER: dict[str, Any] = BOTH | {
    "d_model": 24,
    "num_mel_bins": 80,
    "max_source_positions": 30,
    "max_target_positions": 20,
    "decoder_start_token_id": 2,
    "pad_token_id": 1,
    "eos_token_id": 1,
    "bos_token_id": 1,
}

WAV2VEC: dict[str, Any] = BLOCK | {
    "conv_dim": [8, 9, 7],
    "conv_kernel": [10, 3, 2],
    "conv_stride": [5, 4, 3],
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 2,
}
STABLE = {"do_stable_layer_norm": True, "feat_extract_norm": "layer", "conv_bias": True}

SOUND_MODELS: dict[str, list[Case]] = {
    "whisper": [
        Case("WhisperForConditionalGeneration", WHISPER, audio=(7_000, 16_000)),
        Case(
            "WhisperForConditionalGeneration",
            WHISPER
            | {"encoder_layers": 1, "decoder_layers": 3, "encoder_attention_heads": 2, "encoder_ffn_dim": 31}
            | {"num_mel_bins": 128, "activation_function": "relu"},
            audio=(12_000, 16_000),  # longer than the model's input
        ),
        Case(
            "WhisperForConditionalGeneration",
            WHISPER | {"max_source_positions": 17, "decoder_attention_heads": 4, "num_mel_bins": 20},
            audio=(5_000, 22_050),
            prepare={"feature_size": 20, "hop_length": 200, "n_fft": 512, "sampling_rate": 22_050},
        ),
        Case(
            "WhisperForAudioClassification",
            WHISPER | {"classifier_proj_size": 11, "num_labels": 5},
            audio=(7_000, 16_000),
        ),
        Case(
            "WhisperForAudioClassification",
            WHISPER | {"encoder_layers": 1, "encoder_attention_heads": 2, "max_source_positions": 17},
            audio=(5_000, 16_000),
        ),
        Case("WhisperModel", WHISPER | {"tie_word_embeddings": False, "decoder_ffn_dim": 25}, audio=(9_000, 16_000)),
    ],
    "wav2vec2": [
        Case("Wav2Vec2ForCTC", WAV2VEC, audio=(3_000, 16_000)),
        Case(
            "Wav2Vec2ForSequenceClassification",
            WAV2VEC | {"classifier_proj_size": 11, "num_labels": 5},
            audio=(3_100, 16_000),
        ),
        Case("Wav2Vec2Model", WAV2VEC | STABLE | {"num_conv_pos_embeddings": 5}, audio=(2_345, 16_000)),
        Case(
            "Wav2Vec2ForCTC",
            WAV2VEC | STABLE | {"hidden_act": "relu", "feat_extract_activation": "relu", "layer_norm_eps": 0.1},
            audio=(4_000, 8_000),
            prepare={"sampling_rate": 8_000, "do_normalize": False},
        ),
    ],
    "hubert": [
        Case("HubertForCTC", WAV2VEC, audio=(2_000, 16_000)),
        Case("HubertForSequenceClassification", WAV2VEC | STABLE | {"classifier_proj_size": 30}, audio=(2_100, 16_000)),
        Case("HubertModel", WAV2VEC | STABLE, audio=(2_500, 16_000)),
        Case(
            "HubertModel",
            WAV2VEC | {"feat_proj_layer_norm": False, "num_attention_heads": 4, "conv_bias": True},
            audio=(1_700, 16_000),
        ),
    ],
}
