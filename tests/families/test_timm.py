"""Models as timm writes them: QK norm, the crop of an image, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from headlight import catalog
from headlight.checkpoints import load
from headlight.errors import CheckpointError
from headlight.tracing.run import run
from headlight.vision.image import process_image
from tests.families.cases import CASES
from tests.families.reference import Case, build, inputs, outputs, photo

WITH_HEAD, WITHOUT_HEAD = CASES["timm_wrapper"][:2]


def normed(projection: nn.Module, heads: int) -> nn.Sequential:
    """A projection whose heads are normed, as timm's `q_norm` does."""
    width = WITH_HEAD.config["hidden_size"]
    norm = nn.LayerNorm(width // heads, eps=1e-6)
    with torch.no_grad():
        norm.weight.normal_(1, 0.3)
        norm.bias.normal_(0, 0.3)
    return nn.Sequential(projection, nn.Unflatten(-1, (heads, width // heads)), norm, nn.Flatten(-2))


def test_queries_and_keys_are_normed(tmp_path: Path) -> None:
    model = build(WITHOUT_HEAD, tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    for number, layer in enumerate(model.layers):
        for name in ("q", "k"):
            changed = normed(getattr(layer.attention, f"{name}_proj"), model.config.num_attention_heads)
            setattr(layer.attention, f"{name}_proj", changed)
            for kind in ("weight", "bias"):
                tensors[f"blocks.{number}.attn.{name}_norm.{kind}"] = getattr(changed[2], kind).detach()
    save_file(tensors, tmp_path / "model.safetensors")
    opened = load(tmp_path)
    trace = run(opened.model, opened.tokenizer, **inputs(WITHOUT_HEAD, opened.model.config))
    expected = outputs(model, WITHOUT_HEAD)
    np.testing.assert_allclose(trace["encoder.final_residual"], expected["last_hidden"], atol=1e-4)


def test_the_files_that_transformers_saves_of_it_open_too(tmp_path: Path) -> None:
    """Its own saving needs timm, so its names are given by hand."""
    expected = outputs(build(WITH_HEAD, tmp_path), WITH_HEAD)
    inside = {f"timm_model.{name}": tensor for name, tensor in load_file(tmp_path / "model.safetensors").items()}
    save_file(inside, tmp_path / "model.safetensors")
    change(tmp_path, model_type="timm_wrapper", architectures=["TimmWrapperForImageClassification"], do_pooling=True)
    opened = load(tmp_path)
    trace = run(opened.model, opened.tokenizer, **inputs(WITH_HEAD, opened.model.config))
    np.testing.assert_allclose(trace["logits"], expected["logits"], atol=1e-4)


def test_labels_and_preparation_are_the_files_own(tmp_path: Path) -> None:
    build(WITH_HEAD, tmp_path / "seer")
    opened = load(tmp_path / "seer")
    entry = next(entry for entry in catalog([tmp_path]) if entry.name == "seer")
    assert opened.model.config.labels == ("cat", "house", "chess board")
    assert entry.config == opened.model.config
    assert opened.notes == ("32 tensors were loaded.",)


def test_a_crop_begins_where_torchvision_begins(tmp_path: Path) -> None:
    """torchvision rounds half of an odd margin to the even number: here 1.5 and 0.5 to 2 and 0."""
    build(WITHOUT_HEAD, tmp_path)
    change(tmp_path, pretrained_cfg={"input_size": [3, 24, 24], "crop_pct": 24 / 25.5, "interpolation": "bicubic"})
    picture = photo(Case("ViTModel", image=(25, 27)))
    image = load(tmp_path).model.config.image
    found = process_image(np.asarray(picture), image).rgb
    np.testing.assert_array_equal(found, np.asarray(picture.crop((2, 0, 26, 24))))
    assert image.processor.mean == (0.485, 0.456, 0.406), "ImageNet's where the file names none"


def change(folder: Path, **fields: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"architecture": "vit_base_patch16_siglip_224"}, "timm architecture is vit_base_patch16_siglip_224, whose"),
        ({"architecture": "eva02_base_patch14_224"}, "whose heads, activation or norms are not known"),
        ({"architecture": "resnet50"}, "timm architecture is resnet50"),
        ({"global_pool": "map"}, "global_pool is 'map' with 1 token before the patches, which"),
        ({"global_pool": ""}, "global_pool is '' with 1 token before the patches, which"),
        ({"model_args": {"act_layer": "relu"}}, "model_args set act_layer"),
        ({"model_args": {"reg_tokens": 65}}, "registers is 65; supported are up to 64"),
        ({"label_names": ["cat"]}, "1 label_names for 3 classes"),
        ({"pretrained_cfg": {"crop_mode": "border"}}, "crop_mode is 'border'"),
        ({"pretrained_cfg": {"crop_pct": 0}}, "crop_pct is 0 for 224 x 224 pixels"),
        ({"pretrained_cfg": {"input_size": [3, 24, 32]}}, "24 x 32 pixels, which is not supported"),
        ({"pretrained_cfg": {"interpolation": "random"}}, "interpolation is 'random'"),
    ],
)
def test_what_would_change_the_computation_is_refused(fields: dict[str, Any], told: str, tmp_path: Path) -> None:
    build(WITH_HEAD, tmp_path)
    change(tmp_path, **fields)
    with pytest.raises(CheckpointError, match=told):
        load(tmp_path)


def test_a_norm_in_the_head_of_a_class_token_is_named(tmp_path: Path) -> None:
    build(WITH_HEAD, tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    moved = {name.replace("norm.", "fc_norm.") if name.startswith("norm.") else name: tensors[name] for name in tensors}
    save_file(moved, tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"global_pool is 'token' .* and fc_norm in its head, which"):
        load(tmp_path)


@pytest.mark.parametrize("name", ["head_dist.weight", "attn_pool.q.weight", "norm_pre.weight", "pre_logits.fc.bias"])
def test_a_part_that_is_not_computed_is_refused(name: str, tmp_path: Path) -> None:
    build(WITH_HEAD, tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    save_file({**tensors, name: torch.ones(3)}, tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match=f"no supported part of a timm ViT uses {name}"):
        load(tmp_path)
