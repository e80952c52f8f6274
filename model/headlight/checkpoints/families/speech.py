"""wav2vec 2.0 and HuBERT: convolutions turn samples into frames, over which an encoder attends."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from headlight.checkpoints.config_reader import MAX_INTEGER, ConfigReader
from headlight.checkpoints.families.common import MLP_ACTIVATIONS, block_rows, block_rules, sizes, sound_classifier
from headlight.checkpoints.weight_mapping import ConfigValues, Family, HeadMapping, WeightRule, WeightRules, rule
from headlight.config import Config, OutputHeadConfig, SoundConfig
from headlight.config.sound import MAX_FRAMES
from headlight.errors import CheckpointError

_CONVOLUTIONS = {
    "conv_dim": (512,) * 7,
    "conv_kernel": (10, 3, 3, 3, 3, 2, 2),
    "conv_stride": (5, 2, 2, 2, 2, 2, 2),
}


def wav2vec2(fields: ConfigReader) -> ConfigValues:
    """A bidirectional encoder, post-norm or (do_stable_layer_norm) pre-norm; positions are a convolution."""
    pre_norm = fields.boolean("do_stable_layer_norm", False)
    channels, kernels, strides = (_numbers(fields, name, usual) for name, usual in _CONVOLUTIONS.items())
    norm = fields.choice("feat_extract_norm", "group", {"group": "group", "layer": "layer"})
    has_norm = fields.boolean("feat_proj_layer_norm", True)
    sound = SoundConfig(
        rate=16_000,
        normalized=True,
        channels=channels,
        kernels=kernels,
        strides=strides,
        activation=fields.choice("feat_extract_activation", "gelu", MLP_ACTIVATIONS),
        convolution_bias=fields.boolean("conv_bias", False),
        convolution_norm="each" if norm == "layer" else "first-over-time",
        projection="norm-linear" if has_norm else "linear",
        position_kernel=fields.integer("num_conv_pos_embeddings", 128),
        position_groups=fields.integer("num_conv_pos_embedding_groups", 16),
    )  # fmt: skip
    return {
        "architecture": "encoder",
        **sizes(fields, 32, MAX_FRAMES, 768, 12, 12, 3072, context_length="-"),
        "sound": sound,
        "feed_forward": fields.choice("hidden_act", "gelu", MLP_ACTIVATIONS),
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_eps", 1e-5),
        "norm_placement": "pre" if pre_norm else "post",
        "embedding.norm": not pre_norm,
        "positional_encoding": "none",
        "masks": (),
        "bias": True,
    }


def _numbers(fields: ConfigReader, name: str, usual: tuple[int, ...]) -> tuple[int, ...]:
    """A list of whole numbers above 0."""
    numbers = fields.list_of(name, int, usual)
    if not all(type(number) is int and 0 < number < MAX_INTEGER for number in numbers):
        raise CheckpointError(f"{fields.name}: its {name} is {str(numbers)[:60]}; wanted whole numbers above 0.")
    return tuple(numbers)


def transcript_head(fields: ConfigReader) -> ConfigValues:
    """A character for each frame, or the padding token for none."""
    blank = fields.integer("pad_token_id", 0)
    return {"output_head": "ctc", "output_head_config": OutputHeadConfig(bias=True, pad_token_id=blank)}


def unused_table(tensor: Tensor, config: Config) -> Tensor:
    """Zeros for the unused table of tokens."""
    return tensor.new_zeros(config.vocabulary_size, config.d_model)


def _weight_normed(direction: Tensor, length: Tensor) -> Tensor:
    """The weight of a convolution from its direction and, for each kernel position, its norm."""
    direction = direction.float()
    weight: Tensor = length.float() * direction / direction.norm(dim=(0, 1), keepdim=True)
    return weight


_POSITIONS = "encoder.pos_conv_embed.conv"
_WEIGHTS: WeightRules = {
    "embedding.weight": rule("feature_projection.projection.weight", unused_table),
    "sound_embedding.convolutions.{i}": "feature_extractor.conv_layers.{i}.conv",
    "sound_embedding.convolution_norms.{i}": "feature_extractor.conv_layers.{i}.layer_norm",
    "sound_embedding.projection_norm": "feature_projection.layer_norm",
    "sound_embedding.projection": "feature_projection.projection",
    "sound_embedding.positions.bias": f"{_POSITIONS}.bias",
    "sound_embedding.positions.weight": WeightRule(
        f"{_POSITIONS}.parametrizations.weight.original1|{_POSITIONS}.weight_v",
        second=f"{_POSITIONS}.parametrizations.weight.original0|{_POSITIONS}.weight_g",
        combine=_weight_normed,
    ),
    "encoder.embedding_norm": "encoder.layer_norm",
    "encoder.final_norm": "encoder.layer_norm",
}
_BLOCK = block_rows(
    "layer_norm",
    [f"attention.{name}_proj" for name in ("q", "k", "v", "out")],
    "final_layer_norm",
    ["feed_forward.intermediate_dense", "feed_forward.output_dense"],
)
WAV2VEC2 = Family(
    wav2vec2,
    _WEIGHTS | block_rules("encoder", "encoder.layers.{i}.", _BLOCK),
    {
        "ForCTC": HeadMapping(transcript_head, {"output_head.projection": "lm_head"}),
        "ForSequenceClassification": sound_classifier(),
    },
    base_model_prefix="wav2vec2.",
    ignored_tensors=("masked_spec_embed", "quantizer.*", "project_hid.*", "project_q.*", "lm_head.*"),
    required_values={"add_adapter": False, "adapter_attn_dim": (), "conv_pos_batch_norm": False},
    ignored_fields=(
        "activation_dropout", "feat_proj_dropout", "feat_quantizer_dropout", "final_dropout", "layerdrop",
        "apply_spec_augment", "mask_time_prob", "mask_time_length", "mask_time_min_masks", "mask_feature_prob",
        "mask_feature_length", "mask_feature_min_masks", "num_codevectors_per_group", "num_codevector_groups",
        "contrastive_logits_temperature", "num_negatives", "codevector_dim", "proj_codevector_dim",
        "diversity_loss_weight", "ctc_loss_reduction", "ctc_zero_infinity", "use_weighted_layer_sum",
        "classifier_proj_size", "tdnn_dim", "tdnn_kernel", "tdnn_dilation", "xvector_output_dim",
        "adapter_kernel_size", "adapter_stride", "num_adapter_layers", "output_hidden_size",
        "num_feat_extract_layers",
    ),
)  # fmt: skip
HUBERT = replace(WAV2VEC2, base_model_prefix="hubert.")
