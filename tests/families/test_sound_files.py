"""The preprocessor config and generation config of a sound model."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headlight import CheckpointError, Config, load
from headlight.cli.main import main
from tests.families.cases import CASES
from tests.families.reference import SOUND, build

OLD = {"forced_decoder_ids": [[1, 5], [2, 6], [3, 4]], "alignment_heads": [[1, 0], [0, 2]]}
NEW = {
    "lang_to_id": {"<|de|>": 7, "<|en|>": 5},
    "task_to_id": {"translate": 8, "transcribe": 6},
    "no_timestamps_token_id": 4,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whisper")
    build(CASES["whisper"][0], folder)
    return folder


def opened(folder: Path, file: str, said: dict[str, Any]) -> Config:
    (folder / file).write_text(json.dumps(said))
    try:
        return load(folder).model.config
    finally:
        (folder / file).unlink()


@pytest.mark.parametrize(
    ("said", "prompt"),
    [
        (OLD, (5, 6, 4)),
        (NEW, (5, 6, 4)),
        (NEW | {"forced_decoder_ids": [[1, None], [2, 6]]}, (5, 6, 4)),
        ({"no_timestamps_token_id": 4, "lang_to_id": None}, (4,)),
        (NEW | {"no_timestamps_token_id": 10**6}, (5, 6)),
        ({}, ()),
    ],
)
def test_the_prompt_is_what_the_file_forces_or_a_language_and_a_task(
    folder: Path, said: dict[str, Any], prompt: tuple[int, ...]
) -> None:
    assert opened(folder, "generation_config.json", said).decoder.prompt_token_ids == prompt


def test_alignment_heads_are_told_and_written_beside_the_attention(folder: Path, tmp_path: Path) -> None:
    (folder / "generation_config.json").write_text(json.dumps(OLD))
    notes = " ".join(load(folder).notes)
    assert "follow the sound (alignment heads): layer 1 head 0, layer 0 head 2." in notes
    assert "Its decoder begins with [SEP] sat on cat;" in notes
    out = tmp_path / "out.npz"
    assert main(["trace", "--audio", str(folder / SOUND), "--model", str(folder), "--out", str(out)]) == 0
    (folder / "generation_config.json").unlink()
    with np.load(out) as file:
        assert file["alignment_heads"].tolist() == OLD["alignment_heads"]
        assert file["target_ids"].tolist() == [2, 5, 6, 4], "the start token and the prompt"


@pytest.mark.parametrize(
    ("file", "said", "told"),
    [
        ("generation_config.json", {"alignment_heads": [[1]]}, "not pairs of a layer and a head"),
        ("generation_config.json", {"alignment_heads": [["a", 1]]}, "not pairs"),
        ("generation_config.json", {"alignment_heads": [[9, 1]]}, "head 1 of layer 9, which this model does not have"),
        ("generation_config.json", {"alignment_heads": 3}, "alignment_heads is '3'"),
        ("generation_config.json", {"forced_decoder_ids": 3}, "forced_decoder_ids is '3'"),
        ("generation_config.json", {"lang_to_id": [1]}, "lang_to_id is"),
        ("preprocessor_config.json", {"feature_size": 81}, "its feature_size is 81"),
        ("preprocessor_config.json", {"do_normalize": True}, "its do_normalize is true"),
        ("preprocessor_config.json", {"hop_length": 0}, r"sound\.hop is 0"),
        ("preprocessor_config.json", {"n_fft": 10**6}, r"sound\.window is 1000000"),
        ("preprocessor_config.json", {"sampling_rate": 7}, r"sound\.rate is 7"),
    ],
)
def test_what_no_model_can_have_is_refused_by_name(folder: Path, file: str, said: dict[str, Any], told: str) -> None:
    with pytest.raises(CheckpointError, match=told) as refused:
        opened(folder, file, said)
    assert str(folder) not in str(refused.value), "no local path"
