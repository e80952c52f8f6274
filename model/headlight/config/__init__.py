"""The settings of a Transformer: a Config, and the groups in it."""

from __future__ import annotations

from headlight.config.attention import AttentionConfig, LatentConfig
from headlight.config.config import BiasedModule, Config, Modality
from headlight.config.embedding import EmbeddingConfig, LayerEmbeddingConfig
from headlight.config.experts import ExpertsConfig
from headlight.config.generation import GenerationConfig
from headlight.config.image import ImageConfig, ImageProcessorConfig, ResamplingFilter
from headlight.config.output import OutputHeadConfig
from headlight.config.positions import AlibiConfig, RelativePositionConfig, RopeConfig, SinusoidalConfig
from headlight.config.residual import AlternatingUpdatesConfig, ResidualConfig
from headlight.config.sound import SoundConfig
from headlight.config.stacks import DecoderConfig, EncoderConfig, PerLayerConfig, RecurrenceConfig

__all__ = [
    "AlibiConfig",
    "AlternatingUpdatesConfig",
    "AttentionConfig",
    "BiasedModule",
    "Config",
    "DecoderConfig",
    "EmbeddingConfig",
    "EncoderConfig",
    "ExpertsConfig",
    "GenerationConfig",
    "ImageConfig",
    "ImageProcessorConfig",
    "LatentConfig",
    "LayerEmbeddingConfig",
    "Modality",
    "OutputHeadConfig",
    "PerLayerConfig",
    "RecurrenceConfig",
    "RelativePositionConfig",
    "ResamplingFilter",
    "ResidualConfig",
    "RopeConfig",
    "SinusoidalConfig",
    "SoundConfig",
]
