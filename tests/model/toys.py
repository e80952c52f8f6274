"""Small models and tokenizers for tests. Weights are drawn from a given seed and large enough to matter."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from headlight import Config, Tokenizer, Trace, Transformer, run, train_tokenizer
from headlight.config import (
    AlternatingUpdatesConfig,
    ImageConfig,
    LayerEmbeddingConfig,
    PerLayerConfig,
    RecurrenceConfig,
    RopeConfig,
    SoundConfig,
)
from headlight.nn.stack import NORM_PLACEMENTS
from headlight.sound.frames import process_sound
from headlight.sound.recording import Recording
from headlight.text.tokenizer_training import MASKED_SPECIAL_TOKENS
from headlight.tracing.inputs import ModelInput
from headlight.vision.image import process_image

# Without norms the random weights produce values in the thousands, too large for 1e-5 in float32.
NORMED_PLACEMENTS = tuple(name for name in NORM_PLACEMENTS if name != "none")
TEXT = "the cat sat on the mat"
READS = ImageConfig(channels=3, height=12, width=18, patch_height=6, patch_width=6)  # pictures in 2 rows of 3 patches
HEARS = SoundConfig(  # recordings of 0.18 seconds, as nine frames of a spectrogram
    rate=16_000, mel_bins=20, window=400, hop=160, frames=9, channels=(16, 16), kernels=(3, 3), strides=(1, 2),
    padded=True,
)  # fmt: skip
# Layers of several sizes, the last two reading keys and values of the first two, and Gemma 4's other features.
UNLIKE: dict[str, Any] = {
    "layers": 4, "attention.qk_norm": "per-head", "attention.value_norm": True, "attention.scale": False,
    "norm_placement": "sandwich", "residual.scale": True,
    "layer_embedding": LayerEmbeddingConfig(dim=5, vocabulary_size=320),
    "per_layer": PerLayerConfig(
        masks=("window:4", "none") * 2, ropes=(RopeConfig(), RopeConfig(scaling="proportional", rotated_share=0.7)) * 2,
        head_dims=(6, 4) * 2, key_value_heads=(2, 1) * 2, d_ffs=(24, 24, 48, 48), keys_as_values=(False, True) * 2,
        key_value_layers=(0, 1, 0, 1),
    ),
}  # fmt: skip
# Additionally three residual streams, each layer reading the second, and Gemma 3n's other features.
STREAMS: dict[str, Any] = UNLIKE | {
    "residual.alternating_updates": AlternatingUpdatesConfig(streams=3, active=1, output_scale=True),
    "residual.laurel_rank": 3, "layer_embedding": LayerEmbeddingConfig(dim=5, vocabulary_size=270),
    "activation_sparsity": 0.6,
}  # fmt: skip
UNUSUAL = (UNLIKE, STREAMS)
# Layers of linear attention around those of attention, whose output has a gate (Qwen3-Next).
HYBRID: dict[str, Any] = {
    "attention.output_gate": True,
    "recurrence": RecurrenceConfig(
        counts=(2, 1, 1), key_heads=2, value_heads=4, key_channels=3, value_channels=5, kernel=3
    ),
}
# Per-layer settings for models of two layers.
LAYERS_OF_TWO = (
    PerLayerConfig(),
    PerLayerConfig(  # own ropes: LongRoPE's factors fit only one head width
        ropes=(RopeConfig(),) * 2,
        head_dims=(6, 4),
        key_value_heads=(2, 1),
        d_ffs=(24, 48),
        keys_as_values=(True, False),
    ),
    PerLayerConfig(key_value_layers=(0, 0)),
)
SENTENCE = "the cat sat on the mat and the dog ran away"
LINES = [SENTENCE, "a small bird sang in the tree", "the dog saw the cat", "we ran to the sea and swam"] * 20


def config(**choices: Any) -> Config:
    """A decoder of two layers and four heads by default."""
    plain: dict[str, Any] = {"vocabulary_size": 300, "context_length": 24, "d_model": 16, "layers": 2, "heads": 4}
    return Config.from_paths({**plain, **choices})


def model(seed: int = 0, **choices: Any) -> Transformer:
    """A model with random weights such that heads differ and rows are far from uniform."""
    return spread(Transformer(config(**choices)), seed)


def spread(made: Transformer, seed: int = 0) -> Transformer:
    """Redraw every parameter with a wide spread; norm weights around one."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in made.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(1 + 0.2 * noise if bool((parameter == 1).all()) else 0.4 * noise)
    return made.eval().requires_grad_(False)


@lru_cache(maxsize=1)
def causal() -> Tokenizer:
    """Byte-level BPE that puts <|endoftext|> in front of a text."""
    return train_tokenizer("bpe", LINES, 300)


@lru_cache(maxsize=1)
def masked() -> Tokenizer:
    """WordPiece with [CLS] and [SEP] around a text, and [MASK]."""
    return train_tokenizer("wordpiece", LINES, 120, MASKED_SPECIAL_TOKENS)


def traced(made: Transformer, *edits: str, text: str = TEXT, **more: Any) -> Trace:
    """A run over a short text with the tokenizer for the model's vocabulary."""
    return run(
        made, masked() if made.config.vocabulary_size == masked().vocabulary_size else causal(), text, edits, **more
    )


def numbers(*shape: int, below: int = 300, seed: int = 0) -> torch.Tensor:
    """Token ids for a forward pass without a tokenizer."""
    return torch.randint(below, shape, generator=torch.Generator().manual_seed(seed))


def decoder(**choices: Any) -> Transformer:
    """A decoder for the `causal` tokenizer."""
    return model(**{"vocabulary_size": causal().vocabulary_size, **choices})


def encoder(**choices: Any) -> Transformer:
    """A masked-language encoder for the `masked` tokenizer."""
    plain: dict[str, Any] = {
        "architecture": "encoder",
        "vocabulary_size": masked().vocabulary_size,
        "output_head": "masked-language-model",
    }
    return model(**{**plain, "masks": (), **choices})


def both(**choices: Any) -> Transformer:
    """An encoder-decoder for the `masked` tokenizer; its stacks differ in depth, [CLS] starts the decoder."""
    plain: dict[str, Any] = {
        "architecture": "encoder-decoder",
        "vocabulary_size": masked().vocabulary_size,
        "encoder.layers": 3,
    }
    return model(**{**plain, "decoder.start_token_id": masked().start_id, **choices})


def seer(**choices: Any) -> Transformer:
    """A classifier of pictures of 12 x 18 pixels, in 2 rows of 3 patches."""
    plain: dict[str, Any] = {
        "architecture": "encoder",
        "vocabulary_size": 1,
        "context_length": 7,
        "image": READS,
        "masks": (),
    }
    answer = {
        "output_head": "sequence-classifier",
        "labels": ("cat", "house"),
        "embedding.tied": False,
        "positional_encoding": "learned",
    }
    return model(**{**plain, **answer, **choices})


def captioner(**choices: Any) -> Transformer:
    """An encoder-decoder for pictures of 12 x 18 pixels, in 2 rows of 3 patches, and the `masked` tokenizer."""
    return both(**{"image": READS, **choices})


def reader(**choices: Any) -> Transformer:
    """A captioner whose encoder was a model of its own: post-norm, other widths, and two tokens before the patches."""
    image = replace(READS, extra_tokens=("[DIST]",))
    own = config(
        architecture="encoder", vocabulary_size=2, context_length=8, d_model=20, layers=3, heads=4, d_ff=11, masks=(),
        norm="layernorm", norm_placement="post", bias=True, positional_encoding="learned", feed_forward="gelu",
        output_head="none", **{"embedding.tied": False},
    )  # fmt: skip
    return both(**{"image": image, "own_encoder": own, "encoder.projected": True, **choices})


def summarizer(**choices: Any) -> Transformer:
    """An encoder-decoder for texts, whose encoder was a model of its own, with segments; its output has its width."""
    own = config(
        architecture="encoder", vocabulary_size=masked().vocabulary_size, context_length=19, d_model=20, layers=3,
        heads=4, masks=(), norm="layernorm", positional_encoding="learned", output_head="none",
        **{"embedding.segments": 2, "embedding.norm": True, "embedding.tied": False},
    )  # fmt: skip
    return both(**{"own_encoder": own, "output_head_config.transform": "dense-norm", **choices})


def listener(**choices: Any) -> Transformer:
    """An encoder-decoder for recordings as nine frames and the `masked` tokenizer."""
    return both(**{"sound": HEARS, **choices})


def longer(frames: int) -> SoundConfig:
    """HEARS for sounds of this number of frames."""
    return replace(HEARS, frames=frames)


def source(made: Transformer, text: str) -> ModelInput | None:
    """The input of an encoder-decoder's encoder: the text, or a picture or sound of noise; None for others."""
    if not made.config.has_cross_attention:
        return None
    if made.config.reads_sound:
        return process_sound(noise(), made.config.sound)
    return process_image(photo(), made.config.image) if made.config.reads_image else text


def noise(seconds: float = 0.1, rate: int = 16_000) -> Recording:
    """A recording of noise."""
    samples = np.random.default_rng(0).normal(0, 0.1, round(seconds * rate)).astype(np.float32)
    return Recording(samples, rate)


def photo(height: int = 31, width: int = 40) -> np.ndarray:
    """A picture of noise."""
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
