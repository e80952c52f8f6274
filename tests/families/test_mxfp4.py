"""Weights packed in MXFP4, as gpt-oss is published, equal those that transformers unpacks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

from headlight import catalog
from headlight.checkpoints import load
from headlight.cli.main import main
from headlight.errors import CheckpointError
from tests.families.decoders import LLAMA
from tests.families.reference import TEXT, Case, build, change_config, outputs

SIZES = {"hidden_size": 64, "intermediate_size": 32, "head_dim": 8, "num_local_experts": 3, "num_experts_per_tok": 2}
CASE = Case("GptOssForCausalLM", LLAMA | SIZES)
METHOD = {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}


def packed(folder: Path) -> Any:
    """Save CASE with packed expert weights; returns the model with the unpacked ones."""
    model = build(CASE, folder)
    tensors = load_file(folder / "model.safetensors")
    generator = torch.Generator().manual_seed(0)
    for name in [name for name in tensors if name.endswith(("gate_up_proj", "down_proj"))]:
        experts, inputs, outs = tensors.pop(name).shape
        blocks = torch.randint(256, (experts, outs, inputs // 32, 16), generator=generator, dtype=torch.uint8)
        scales = torch.randint(121, 126, blocks.shape[:-1], generator=generator, dtype=torch.uint8)
        tensors |= {f"{name}_blocks": blocks, f"{name}_scales": scales}
        model.get_parameter(name).data = convert_moe_packed_tensors(blocks, scales, dtype=torch.float32)
    save_file(tensors, folder / "model.safetensors")
    change_config(folder, quantization_config=METHOD)
    return model


def test_packed_weights_give_the_numbers_of_the_reference(tmp_path: Path) -> None:
    model = packed(tmp_path / "model")
    out = tmp_path / "out.npz"
    assert main(["trace", TEXT, "--model", str(tmp_path / "model"), "--out", str(out)]) == 0
    with np.load(out) as found:
        for name, expected in outputs(model, CASE).items():
            np.testing.assert_allclose(found[name], expected, atol=1e-4, rtol=0, err_msg=name)
    entry = next(entry for entry in catalog([tmp_path]) if entry.name == "model")
    assert entry.config == load(tmp_path / "model").model.config


def test_scales_of_another_shape_are_refused(tmp_path: Path) -> None:
    packed(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    name = "model.layers.0.mlp.experts.down_proj_scales"
    save_file(tensors | {name: tensors[name][:, 1:].contiguous()}, tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"the blocks and scales of .*down_proj do not match"):
        load(tmp_path)
