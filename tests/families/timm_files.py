"""Folders as timm writes them to the Hub, made of a reference's tensors under timm's names."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from tests.families.reference import Case

Tensors = dict[str, Tensor]
FILTERS = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")
# The references' names of a block's modules: ViT's and BEiT's, DINOv2's.
MODULES = {
    "norm1": ("layernorm_before", "norm1"),
    "attn.proj": ("attention.output.dense", "attention.output.dense"),
    "norm2": ("layernorm_after", "norm2"),
    "mlp.fc1": ("intermediate.dense", "mlp.fc1"),
    "mlp.fc2": ("output.dense", "mlp.fc2"),
    "ls1.gamma": ("lambda_1", "layer_scale1.lambda1"),
    "ls2.gamma": ("lambda_2", "layer_scale2.lambda1"),
}


def write_timm(folder: Path, case: Case) -> None:
    """Write the tensors of a saved ViT, BEiT or DINOv2 again, with timm's names and config."""
    stored = {
        name.removeprefix("vit.").removeprefix("beit."): tensor.float()
        for path in folder.glob("*.safetensors")
        for name, tensor in load_file(path).items()
    }
    config = json.loads((folder / "config.json").read_text())
    for path in folder.iterdir():
        if path.suffix in (".json", ".safetensors"):
            path.unlink()
    save_file(timm_tensors(stored), folder / "model.safetensors", metadata={"format": "pt"})
    has_head = "classifier.weight" in stored
    written = timm_config(case, config, has_head, "embeddings.register_tokens" in stored)
    (folder / "config.json").write_text(json.dumps(written))


def timm_config(case: Case, config: dict[str, Any], has_head: bool, has_registers: bool) -> dict[str, Any]:
    """The config.json of timm for a case: `model_args` give the odd sizes, `pretrained_cfg` the preparation."""
    side, size = config["image_size"], case.prepare["size"]
    arguments = {
        "embed_dim": config["hidden_size"],
        "depth": config["num_hidden_layers"],
        "num_heads": config["num_attention_heads"],
        "mlp_ratio": config.get("mlp_ratio", config.get("intermediate_size", 0) / config["hidden_size"]),
        "patch_size": config["patch_size"],
    }
    if has_registers:
        arguments["reg_tokens"] = config["num_register_tokens"]
    prepared = {
        "input_size": [3, side, side],
        "interpolation": FILTERS[case.prepare["resample"]],
        "crop_pct": side / (size.get("shortest_edge", size.get("height")) + 0.5),
        "crop_mode": "center" if "shortest_edge" in size else "squash",
        "mean": case.prepare["image_mean"],
        "std": case.prepare["image_std"],
    }
    labels = [config["id2label"][str(number)] for number in range(len(config["id2label"]))] if has_head else []
    pooling = {"global_pool": "avg"} if config["model_type"] == "beit" else {"global_pool": "token"} if labels else {}
    named = {"label_names": labels} if labels else {}
    return {
        "architecture": "vit_base_patch16_224", "num_classes": len(labels), **pooling, **named,
        "pretrained_cfg": prepared, "model_args": arguments,
    }  # fmt: skip


def timm_tensors(stored: Tensors) -> Tensors:
    """The tensors under timm's names; DINOv2's as a model whose class token has no position (no_embed_class)."""
    found = {
        "cls_token": stored["embeddings.cls_token"],
        "pos_embed": stored["embeddings.position_embeddings"],
        **_pair("patch_embed.proj", stored, "embeddings.patch_embeddings.projection"),
        **_pair("norm", stored, "layernorm"),
        **_pair("fc_norm", stored, "pooler.layernorm"),
        **_pair("head", stored, "classifier"),
    }
    if "embeddings.register_tokens" in stored:
        found["cls_token"] = found["cls_token"] + found["pos_embed"][:, :1]
        found |= {"pos_embed": found["pos_embed"][:, 1:].clone(), "reg_token": stored["embeddings.register_tokens"]}
    layers = {name.split(".")[2] for name in stored if name.startswith("encoder.layer.")}
    for layer in layers:
        theirs, ours = f"encoder.layer.{layer}", f"blocks.{layer}"
        for kind in ("weight", "bias"):
            parts = [stored.get(f"{theirs}.attention.attention.{name}.{kind}") for name in ("query", "key", "value")]
            if parts[0] is not None:
                found[f"{ours}.attn.qkv.{kind}"] = torch.cat(
                    [parts[0] * 0 if part is None else part for part in parts]  # BEiT's keys have no bias
                )
        for name, options in MODULES.items():
            for option in options:
                found |= _pair(f"{ours}.{name}", stored, f"{theirs}.{option}")
    return {name: tensor.contiguous() for name, tensor in found.items()}


def _pair(ours: str, stored: Tensors, theirs: str) -> Tensors:
    """A module's weight and bias, or a single tensor."""
    return {ours + kind: stored[theirs + kind] for kind in (".weight", ".bias", "") if theirs + kind in stored}
