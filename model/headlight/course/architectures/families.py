"""The Configs of well-known models at the size of their papers, read by the families that open their files."""

from __future__ import annotations

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families import FAMILIES
from headlight.checkpoints.tensor_files import LazyTensors
from headlight.checkpoints.weight_mapping import make_plan
from headlight.config import Config
from headlight.config_groups import EmbeddingConfig, PerLayerConfig
from headlight.nn.transformer import meta_model

IMAGENET_LABELS = 1_000
# Vaswani et al. 2017, section 3 and the row "base" of table 3; 37,000 byte pairs of section 5.1.
TRANSFORMER = Config(
    architecture="encoder-decoder", vocabulary_size=37_000, context_length=512, d_model=512, layers=6, heads=8,
    d_ff=2048, positional_encoding="sinusoidal", norm="layernorm", norm_placement="post", feed_forward="relu",
    bias=True, embedding=EmbeddingConfig(scale=512**0.5),
)  # fmt: skip
# The model_type and the class in the files of each.
FILES = {
    "BERT": ("bert", "BertForMaskedLM"),
    "GPT-2": ("gpt2", "GPT2LMHeadModel"),
    "T5": ("t5", "T5ForConditionalGeneration"),
    "ViT": ("vit", "ViTForImageClassification"),
}
# What the papers call the size, and how many parameters they say that it has.
PAPERS = {
    "Transformer": ("base", "65 M"),
    "BERT": ("base", "110 M"),
    "GPT-2": ("small", "117 M (miscounted)"),
    "T5": ("small", "60 M"),
    "ViT": ("B/16", "86 M"),
}


def well_known_configs() -> dict[str, Config]:
    """Transformer, BERT, GPT-2, T5 and ViT at the sizes that PAPERS names."""
    return {"Transformer": TRANSFORMER, **{name: read_family(*file) for name, file in FILES.items()}}


def read_family(model_type: str, class_name: str) -> Config:
    """What a config.json makes that names a family and a class and leaves all sizes at the family's defaults."""
    fields = {"model_type": model_type, "architectures": [class_name], "num_labels": IMAGENET_LABELS}
    return make_plan(FAMILIES[model_type], ConfigReader(fields, model_type), LazyTensors({})).config


def at_size(config: Config, d_model: int, layers: int, heads: int) -> Config:
    """The same model in another width, depth and number of heads; its feed-forward is four times as wide."""
    sizes = {"d_model": d_model, "layers": layers, "encoder_layers": 0, "heads": heads, "key_value_heads": 0}
    automatic = dict.fromkeys(("head_dim", "value_head_dim", "d_ff", "encoder_heads", "encoder_d_ff"), 0)
    return config.replace(**sizes, **automatic, per_layer=PerLayerConfig())


def count_parameters(config: Config) -> int:
    """The parameters of the module that this config builds, on the meta device; a shared one counts once."""
    return sum(parameter.numel() for parameter in meta_model(config).parameters())
