"""Three checkpoints of `transformers`, tiny and random, read by hand: GPT-2, Llama with grouped heads, BERT."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from tests.numerics.network import Network, read_tensors

LAYERS, HEADS = 3, 4
BASE: dict[str, Any] = {"hidden_size": 48, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2": ("GPT2LMHeadModel", {"n_embd": 48, "n_layer": LAYERS, "n_head": HEADS, "n_positions": 64}),
    "llama": ("LlamaForCausalLM", {**BASE, "intermediate_size": 80, "num_key_value_heads": 2}),
    "bert": ("BertForMaskedLM", {**BASE, "intermediate_size": 96, "max_position_embeddings": 64}),
}
Renamed = dict[str, np.ndarray]


def build(name: str, folder: Path) -> Network:
    """Save a foreign model as a folder and read it."""
    from tests.families.reference import Case
    from tests.families.reference import build as save  # imports transformers

    kind, config = CONFIGS[name]
    save(Case(kind, config, special=name == "bert"), folder)
    return READERS[name](folder)


def _renamed(tensors: Mapping[str, np.ndarray], prefix: str, names: Mapping[str, str]) -> Renamed:
    """The tensors inside layers (`prefix` and a number) and outside, under our names."""
    found = {}
    for name, tensor in tensors.items():
        number, _, inner = name.removeprefix(prefix).partition(".")
        if name.startswith(prefix) and number.isdecimal():
            ours = f"STACK.blocks.{number}.{_replaced(inner, names)}"
        else:
            ours = _replaced(name, names)
        found[ours] = tensor
    return found


def _replaced(name: str, names: Mapping[str, str]) -> str:
    stem, _, part = name.rpartition(".")
    return f"{names[stem]}.{part}" if stem in names else name


def _network(folder: Path, weights: Renamed, stack: str, **fields: Any) -> Network:
    named = {name.replace("STACK", stack): tensor for name, tensor in weights.items()}
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    defaults: dict[str, Any] = {"key_value_heads": HEADS, "causal": stack == "decoder", "context_length": 64}
    return Network(named, tokenizer, (stack,), {stack: LAYERS}, heads=HEADS, **{**defaults, **fields})


def _gpt2(folder: Path) -> Network:
    weights = _renamed(
        read_tensors(folder / "model.safetensors"),
        "transformer.h.",
        {
            "ln_1": "self_attention_residual.norm", "ln_2": "feed_forward_residual.norm",
            "attn.c_proj": "self_attention.output", "mlp.c_fc": "feed_forward.up", "mlp.c_proj": "feed_forward.down",
            "transformer.wte": "embedding", "transformer.wpe": "STACK.positional_encoding.table",
            "transformer.ln_f": "STACK.final_norm",
        },
    )  # fmt: skip
    for name in [name for name in weights if name.endswith(("output.weight", "up.weight", "down.weight"))]:
        weights[name] = weights[name].T  # Conv1D stores its matrix transposed
    for name in [name for name in weights if ".attn.c_attn." in name]:
        block, part = name.split(".attn.c_attn.")
        for which, third in zip(("query", "key", "value"), np.split(weights.pop(name), 3, axis=-1), strict=True):
            weights[f"{block}.self_attention.{which}.{part}"] = third.T
    return _network(
        folder, weights, "decoder", norm="layernorm", epsilon=1e-5, placement="pre", feed_forward="gelu-tanh",
        positions="learned", output="language-model",
    )  # fmt: skip


def _llama(folder: Path) -> Network:
    config = json.loads((folder / "config.json").read_text())
    weights = _renamed(
        read_tensors(folder / "model.safetensors"),
        "model.layers.",
        {
            "input_layernorm": "self_attention_residual.norm", "post_attention_layernorm": "feed_forward_residual.norm",
            **{f"self_attn.{name[0]}_proj": f"self_attention.{name}" for name in ("query", "key", "value", "output")},
            **{f"mlp.{name}_proj": f"feed_forward.{name}" for name in ("gate", "up", "down")},
            "model.embed_tokens": "embedding", "model.norm": "STACK.final_norm", "lm_head": "output_head.projection",
        },
    )  # fmt: skip
    return _network(
        folder, weights, "decoder", key_value_heads=2, norm="rmsnorm", epsilon=config["rms_norm_eps"], placement="pre",
        feed_forward="swiglu", positions="rope", output="language-model", context_length=2048,
    )  # fmt: skip


def _bert(folder: Path) -> Network:
    weights = _renamed(
        read_tensors(folder / "model.safetensors"),
        "bert.encoder.layer.",
        {
            **{f"attention.self.{name}": f"self_attention.{name}" for name in ("query", "key", "value")},
            "attention.output.dense": "self_attention.output",
            "attention.output.LayerNorm": "self_attention_residual.norm",
            "intermediate.dense": "feed_forward.up", "output.dense": "feed_forward.down",
            "output.LayerNorm": "feed_forward_residual.norm", "bert.embeddings.word_embeddings": "embedding",
            "bert.embeddings.position_embeddings": "STACK.positional_encoding.table",
            "bert.embeddings.token_type_embeddings": "segment_embedding",
            "bert.embeddings.LayerNorm": "STACK.embedding_norm", "cls.predictions": "output_head.projection",
            "cls.predictions.transform.dense": "output_head.transform",
            "cls.predictions.transform.LayerNorm": "output_head.norm",
        },
    )  # fmt: skip
    return _network(
        folder, weights, "encoder", norm="layernorm", epsilon=1e-12, placement="post", feed_forward="gelu",
        positions="learned", output="masked-language-model",
    )  # fmt: skip


READERS: Mapping[str, Callable[[Path], Network]] = {"gpt2": _gpt2, "llama": _llama, "bert": _bert}
