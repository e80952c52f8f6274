"""GGUF files of small models of `transformers`, written as llama.cpp's converter writes them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
import transformers
from gguf.constants import GGML_QUANT_SIZES, MODEL_ARCH_NAMES, GGMLQuantizationType

from tests.families.reference import WORDS

FILE = "model.gguf"
Model = tuple[str, str, dict[str, Any]]  # architecture, class and config
SIZES: dict[str, Any] = {
    "vocab_size": 52, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 48, "head_dim": 16, "bos_token_id": 1, "eos_token_id": 2,
    "pad_token_id": None,
}  # fmt: skip
# Offsets of the half-precision scales in a block of each K-quant.
_K_SCALES = {
    GGMLQuantizationType.Q2_K: (80, 82), GGMLQuantizationType.Q3_K: (108,), GGMLQuantizationType.Q4_K: (0, 2),
    GGMLQuantizationType.Q5_K: (0, 2), GGMLQuantizationType.Q6_K: (208,),
}  # fmt: skip


def small(model: Model) -> Any:
    """A random model that reveals a wrong channel order, norm or scale."""
    _, kind, config = model
    torch.manual_seed(0)
    cls = getattr(transformers, kind)
    made = cls._from_config(cls.config_class(**config), attn_implementation="eager").eval()
    with torch.no_grad():
        for weights in made.parameters():
            weights.copy_(torch.randn_like(weights) * (0.3 if weights.dim() == 1 else weights[0].numel() ** -0.5))
    return made


def write(model: Any, architecture: str, folder: Path, kind: str = "F32", **fields: Any) -> Path:
    """Write a model with matrices of one quantisation type and a vocabulary of WORDS; returns the file."""
    folder.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(str(folder / FILE), architecture)
    _write_config(writer, model.config, architecture)
    write_vocabulary(writer, fields)
    layers = model.config.num_hidden_layers
    code = next(code for code, name in MODEL_ARCH_NAMES.items() if name == architecture)
    names = gguf.get_tensor_name_map(code, layers)
    tied = model.config.tie_word_embeddings
    for name, tensor in model.state_dict().items():
        if not (tied and name == "lm_head.weight"):
            theirs = names.get_name(name, try_suffixes=(".weight", ".bias"))
            assert theirs is not None, name
            _add_tensor(writer, theirs, _as_in_files(theirs, tensor, model.config, architecture), kind)
    if model.config.rope_parameters and model.config.rope_parameters.get("rope_type") == "llama3":
        head = model.config.head_dim
        plain = model.config.rope_parameters["rope_theta"] ** (-torch.arange(0, head, 2) / head)
        _add_tensor(writer, "rope_freqs.weight", plain / model.model.rotary_emb.inv_freq, "F32")
    finish(writer)
    return folder / FILE


def finish(writer: gguf.GGUFWriter) -> None:
    """Write everything added to the writer."""
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _write_config(writer: gguf.GGUFWriter, config: Any, architecture: str) -> None:
    writer.add_name("tiny")
    writer.add_vocab_size(config.vocab_size)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_key_length(head)
    writer.add_value_length(head)
    writer.add_rope_dimension_count(head)
    rope = config.rope_parameters or {}
    rope = rope.get("full_attention", rope)
    writer.add_rope_freq_base(rope["rope_theta"])
    if rope.get("rope_type") in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(rope["rope_type"]))
        writer.add_rope_scaling_factor(rope["factor"])
        writer.add_rope_scaling_orig_ctx_len(rope.get("original_max_position_embeddings", 8))
    if architecture in ("gemma2", "gemma3"):
        writer.add_sliding_window(config.sliding_window)
    if architecture == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)


def write_vocabulary(writer: gguf.GGUFWriter, fields: Mapping[str, Any]) -> None:
    """Add WORDS and their letters as SentencePiece pieces; `fields` are added unchanged."""
    words = ["<unk>", "<s>", "</s>", *(f"▁{word}" for word in WORDS[3:])]
    pieces = words + sorted({letter for word in words[3:] for letter in word})
    writer.add_tokenizer_model("llama")
    writer.add_token_list(pieces)
    writer.add_token_scores([-float(number) for number in range(len(pieces))])
    writer.add_token_types([2, 3, 3] + [1] * (len(pieces) - 3))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    for name, value in fields.items():
        given = gguf.GGUFValue(value, gguf.GGUFValueType.get_type(value))
        writer.kv_data[0][name.replace("__", ".")] = given  # replaces an existing field


def _as_in_files(name: str, tensor: torch.Tensor, config: Any, architecture: str) -> torch.Tensor:
    """A tensor as llama.cpp's converter writes it: Llama's channel pairs adjacent, Gemma's norms around 1."""
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    part = name.split(".")[-2]
    if architecture == "llama" and part in heads:
        return tensor.reshape(heads[part], 2, -1, *tensor.shape[1:]).transpose(1, 2).reshape(tensor.shape)
    return tensor + 1 if architecture.startswith("gemma") and part.endswith("norm") else tensor


def _add_tensor(writer: gguf.GGUFWriter, name: str, tensor: torch.Tensor, kind: str) -> None:
    numbers, chosen = tensor.detach().float().numpy(), GGMLQuantizationType[kind]
    if numbers.ndim < 2 or chosen == GGMLQuantizationType.F32:
        writer.add_tensor(name, np.ascontiguousarray(numbers))
    elif chosen in _K_SCALES:
        writer.add_tensor(name, _random_blocks(numbers.shape, chosen), raw_dtype=chosen)
    else:
        writer.add_tensor(name, gguf.quants.quantize(numbers, chosen), raw_dtype=chosen)


def _random_blocks(shape: tuple[int, ...], kind: GGMLQuantizationType) -> np.ndarray:
    """Blocks of random bytes with scales that keep the numbers small: the package cannot quantise to K-quants."""
    values, size = GGML_QUANT_SIZES[kind]
    blocks = np.random.default_rng(shape[0]).integers(0, 256, (*shape[:-1], shape[-1] // values, size), dtype=np.uint8)
    for at in _K_SCALES[kind]:
        blocks[..., at : at + 2] = np.frombuffer(np.float16(2e-5).tobytes(), np.uint8)
    return blocks.reshape(*shape[:-1], -1)
