"""Tiny encoder-decoders of two models, and the places of their tokenizers."""

import shutil
from pathlib import Path
from typing import Any

from tests.families.decoders import GPT2, NEOX, UNTIED
from tests.families.encoders import DISTIL, ROBERTA
from tests.families.image_models import DINO, NORMED, VIT
from tests.families.reference import VOCABULARY, Case

SMALL = {"hidden_size": 20, "num_attention_heads": 5, "num_hidden_layers": 3, "intermediate_size": 31}
TROCR: dict[str, Any] = {
    "d_model": 24, "decoder_layers": 2, "decoder_attention_heads": 3, "decoder_ffn_dim": 38,
    "max_position_embeddings": 20, "pad_token_id": 25,
}  # fmt: skip
READS = {"add_cross_attention": True, "is_decoder": True}


def pair(encoder: str, of_encoder: dict[str, Any], decoder: str, of_decoder: dict[str, Any], **whole: Any) -> Any:
    """The config of an encoder-decoder of two families."""
    return {
        "encoder": {"model_type": encoder, **of_encoder},
        "decoder": {"model_type": decoder, "vocab_size": VOCABULARY, **READS, **of_decoder},
        "decoder_start_token_id": 2,
        "pad_token_id": 25,
        "eos_token_id": 24,
        **whole,
    }


def two_tokenizers(folder: Path, case: Case) -> None:
    """Put the tokenizer into a folder for the encoder and one for the decoder."""
    for part in ("encoder", "decoder"):
        (folder / part).mkdir()
        shutil.copy(folder / "tokenizer.json", folder / part)
    (folder / "tokenizer.json").unlink()


def texts(encoder: str, of_encoder: dict[str, Any], *decoder: Any, **options: Any) -> Case:
    """A case that reads a text."""
    config = pair(encoder, {"vocab_size": VOCABULARY, **of_encoder}, *decoder)
    return Case("EncoderDecoderModel", config, special=True, **options)


def images(*config: Any, **options: Any) -> Case:
    """A case that reads an image."""
    return Case("VisionEncoderDecoderModel", pair(*config), **{"image": (40, 31), **options})


LARGER = {"vocab_size": VOCABULARY + 2}
SINUSOIDS = {
    "use_learned_position_embeddings": False, "layernorm_embedding": False, "scale_embedding": True,
    "cross_attention_hidden_size": 20, "activation_function": "relu", "d_model": 21,
}  # fmt: skip

TWO_MODELS: dict[str, list[Case]] = {
    "encoder-decoder": [
        texts("bert", NEOX, "bert", NEOX | {"layer_norm_eps": 0.1, "type_vocab_size": 3}),
        texts("bert", NEOX | {"hidden_act": "relu"}, "bert", NEOX | SMALL | UNTIED),
        texts("bert", NEOX, "gpt2", GPT2 | LARGER, rewrite=two_tokenizers),
        texts("roberta", ROBERTA, "gpt2", GPT2 | {"scale_attn_by_inverse_layer_idx": True, "n_embd": 20, "n_head": 4},
              rewrite=two_tokenizers),
        texts("roberta", ROBERTA, "roberta", ROBERTA | SMALL),
        texts("xlm-roberta", ROBERTA, "xlm-roberta", ROBERTA | {"max_position_embeddings": 50}),
        texts("camembert", ROBERTA | SMALL, "camembert", ROBERTA),
        texts("distilbert", DISTIL, "bert", NEOX, rewrite=two_tokenizers),
        texts("electra", NEOX | {"embedding_size": 10}, "roberta", ROBERTA, rewrite=two_tokenizers),
    ],
    "vision-encoder-decoder": [
        images("vit", VIT, "trocr", TROCR),
        images("vit", VIT | SMALL | {"qkv_bias": False}, "trocr", TROCR | SINUSOIDS,
               prepare={"size": 24, "resample": 2, **NORMED}),
        images("deit", VIT, "trocr", TROCR | UNTIED | {"decoder_attention_heads": 4, "d_model": 20}),
        images("beit", VIT | {"use_relative_position_bias": True}, "trocr", TROCR, image=(50, 60)),
        images("beit", VIT | {"use_absolute_position_embeddings": True, "use_mean_pooling": False}, "gpt2", GPT2),
        images("vit", VIT | {"image_size": [16, 40], "patch_size": [4, 10]}, "gpt2", GPT2 | {"n_embd": 20, "n_head": 4},
               prepare={"size": {"height": 16, "width": 40}}),
        images("deit", VIT, "bert", NEOX | SMALL),
        images("vit", VIT, "roberta", ROBERTA),
        images("dinov2", DINO, "gpt2", GPT2, prepare={"size": {"height": 40, "width": 40}}),
    ],
}  # fmt: skip
