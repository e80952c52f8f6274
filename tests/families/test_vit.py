"""Image preprocessing settings: read as in transformers in every form, or refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from headlight.checkpoints import load
from headlight.checkpoints.file_rules import IMAGE_PROCESSOR
from headlight.cli.main import main
from headlight.errors import CheckpointError, HeadlightError
from headlight.vision.image import process_image
from tests.families.cases import CASES
from tests.families.image_models import LABELS, NORMED, VIT
from tests.families.reference import PHOTO, Case, build, build_pickle, change_config, outputs, photo, processor
from tests.sampling import examples

SIZE = {"size": {"height": 24, "width": 24}}
PREPARED: list[dict[str, Any]] = [
    {},
    *(SIZE | {"resample": number} for number in range(6)),
    {"size": 24, "feature_extractor_type": "ViTFeatureExtractor", "resample": 2, **NORMED},
    {"size": [24, 24], "image_processor_type": "ViTImageProcessor", "do_convert_rgb": None},
    SIZE | {"do_normalize": False},
    SIZE | {"do_rescale": False},
    SIZE | {"do_rescale": False, "do_normalize": False},
    SIZE | {"rescale_factor": 1 / 127.5, "image_mean": [1, 1, 1], "image_std": [1, 1, 1]},
    SIZE | {"image_mean": 0.25, "image_std": 0.75},
    {"size": {"shortest_edge": 30}, "do_center_crop": True, "crop_size": {"height": 24, "width": 24}, **NORMED},
    {"size": {"height": 20, "width": 31}, "do_center_crop": True, "crop_size": 24},
    SIZE | {"do_center_crop": None, "unknown_field": 3, "do_pad": False},
    SIZE | {"do_normalize": None},
    SIZE | {"do_rescale": None},
]
PHOTOS = [(24, 24), (7, 31), (90, 41)]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vit")
    build(Case("ViTForImageClassification", VIT | LABELS, image=(24, 24)), folder)
    return folder


def prepared(folder: Path, case: Case) -> np.ndarray:
    (folder / IMAGE_PROCESSOR).write_text(json.dumps(case.prepare))
    return process_image(np.asarray(photo(case)), load(folder).model.config.image).pixel_values


@pytest.mark.parametrize("prepare", PREPARED, ids=str)
def test_images_are_processed_as_in_transformers(checkpoint: Path, prepare: dict[str, Any]) -> None:
    for size in PHOTOS:
        case = Case("ViTModel", VIT, image=size, prepare=prepare)
        wanted = processor(case)(photo(case), return_tensors="np")["pixel_values"][0]
        np.testing.assert_allclose(prepared(checkpoint, case), wanted, atol=1e-5, rtol=0)


def test_what_has_another_size_than_the_model_reads_is_resized_to_it(checkpoint: Path) -> None:
    alone = {"do_resize": False, "do_normalize": False}
    found = prepared(checkpoint, Case("ViTModel", VIT, image=(90, 41), prepare=alone))
    image = photo(Case("ViTModel", VIT, image=(90, 41))).resize((24, 24), Image.Resampling.BILINEAR)
    np.testing.assert_allclose(found, np.asarray(image).transpose(2, 0, 1) / 255, atol=1e-6)


@pytest.mark.parametrize(
    ("prepare", "told"),
    [
        ({"do_pad": True}, "do_pad, which changes images"),
        ({"do_flip_channel_order": True}, "do_flip_channel_order"),
        ({"resample": 9}, r"resample is 9; known are 0 \(nearest\)"),
        ({"size": {"longest_edge": 30}}, "it names longest_edge"),
        ({"size": {"height": 30}}, "it names height"),
        ({"size": {}}, "it names nothing"),
        ({"size": -3}, "size is '-3'"),
        ({"size": 10**5}, r"image\.processor\.height is 100000"),
        ({"size": "large"}, "size is 'large'"),
        ({"image_mean": [0.5, 0.5]}, "mean has 2 numbers for 3 channels"),
        ({"image_std": [0, 0, 0]}, "its std 1e-6 to 1e6"),
        ({"image_std": "one"}, "image_std is 'one'"),
        ({"rescale_factor": "half"}, "rescale_factor is 'half'"),
        ({"do_rescale": "yes"}, "do_rescale is 'yes'"),
    ],
)
def test_what_acts_and_is_not_supported_is_refused_by_name(
    checkpoint: Path, prepare: dict[str, Any], told: str
) -> None:
    (checkpoint / IMAGE_PROCESSOR).write_text(json.dumps(prepare))
    with pytest.raises(CheckpointError, match=told) as refused:
        load(checkpoint)
    assert str(checkpoint) not in str(refused.value), "no local path"


FULL: dict[str, Any] = {
    "do_resize": True, "size": {"height": 20, "width": 22}, "resample": 3, "do_center_crop": True,
    "crop_size": {"height": 18, "width": 17}, "do_rescale": True, "rescale_factor": 0.01, "do_normalize": True,
    **NORMED,
}  # fmt: skip
OTHER: dict[str, Any] = {
    "do_resize": False, "size": {"height": 30, "width": 31}, "resample": 0, "do_center_crop": False,
    "crop_size": {"height": 10, "width": 11}, "do_rescale": False, "rescale_factor": 0.02, "do_normalize": False,
    "image_mean": [0.1, 0.2, 0.3], "image_std": [1.0, 2.0, 3.0],
}  # fmt: skip


@pytest.mark.parametrize("name", FULL)
def test_every_field_of_the_preparation_acts(checkpoint: Path, name: str) -> None:
    plain = prepared(checkpoint, Case("ViTModel", VIT, image=(50, 41), prepare=FULL))
    other = prepared(checkpoint, Case("ViTModel", VIT, image=(50, 41), prepare=FULL | {name: OTHER[name]}))
    assert np.abs(plain - other).max() > 1e-3


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["height", "width", "x"]), inner),
    max_leaves=4,
)


@examples(100)
@given(name=st.sampled_from(sorted(FULL)), value=JSON, cut=st.integers(0, 3_000))
def test_a_damaged_file_is_refused_or_read(checkpoint: Path, name: str, value: Any, cut: int) -> None:
    (checkpoint / IMAGE_PROCESSOR).write_text(json.dumps(FULL | {name: value})[: cut or None])
    try:
        opened = load(checkpoint)
        looked = process_image(np.zeros((5, 7, 3), np.uint8), opened.model.config.image)
    except HeadlightError as error:
        assert str(error).strip() and "\n" not in str(error), "one sentence"
    else:
        assert looked.pixel_values.shape == (3, 24, 24)


def traced(folder: Path) -> dict[str, np.ndarray]:
    out = folder / "out.npz"
    assert main(["trace", "--image", str(folder / PHOTO), "--model", str(folder), "--out", str(out)]) == 0
    with np.load(out) as found:
        return dict(found)


@pytest.mark.parametrize("number", [0, 1])
def test_weights_under_the_names_that_programs_have_open_too(number: int, tmp_path: Path) -> None:
    case = CASES["vit"][number]
    model = build_pickle(case, tmp_path)
    found = traced(tmp_path)
    for name, array in outputs(model, case).items():
        np.testing.assert_allclose(found[name], array, atol=1e-4, rtol=0, err_msg=name)


@pytest.mark.parametrize("number", [0, 1])
def test_a_config_that_names_no_class_is_told_by_its_weights(number: int, tmp_path: Path) -> None:
    case = CASES["vit"][number]
    model = build(case, tmp_path)
    change_config(tmp_path, architectures=None)
    assert ("logits" in traced(tmp_path)) == ("logits" in outputs(model, case))


def test_labels_are_the_files_own(checkpoint: Path) -> None:
    (checkpoint / IMAGE_PROCESSOR).unlink(missing_ok=True)
    opened = load(checkpoint)
    assert opened.model.config.labels == ("cat", "house", "chess board")
    assert not any("not loaded" in note for note in opened.notes)


def test_a_model_that_fills_pictures_in_opens_without_its_head(tmp_path: Path) -> None:
    case = Case("ViTForMaskedImageModeling", VIT | {"encoder_stride": 8}, image=(24, 24))
    model = build(case, tmp_path)
    assert any("ViTForMaskedImageModeling is not supported" in note for note in load(tmp_path).notes)
    found = traced(tmp_path)
    prepared = processor(case)(photo(case), return_tensors="pt")
    with torch.no_grad():
        hidden = model.vit(**prepared).last_hidden_state[0]
    np.testing.assert_allclose(found["last_hidden"], hidden, atol=1e-4, rtol=0)
