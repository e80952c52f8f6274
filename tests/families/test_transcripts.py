"""The transcript of a CTC head: equal to that of transformers' tokenizer, and printed by the command."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

from headlight import Checkpoint, load, process_sound, read_recording, run
from headlight.cli.main import main
from headlight.config import OutputHeadConfig
from headlight.generation.generate import transcript
from headlight.tracing.trace import Trace
from tests.families.cases import CASES
from tests.families.reference import SOUND, VOCABULARY, build
from tests.sampling import examples

CHARACTERS = ["<pad>", "<s>", "</s>", "<unk>", "|", *"ETAONIHSRDLUMWCFGYPB"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model whose only vocabulary file is a vocab.json, as these models are published."""
    build(CASES["wav2vec2"][0], tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    assert len(CHARACTERS) <= VOCABULARY
    (tmp_path / "vocab.json").write_text(json.dumps({token: number for number, token in enumerate(CHARACTERS)}))
    return tmp_path


def heard(folder: Path) -> tuple[Checkpoint, Trace]:
    opened = load(folder)
    sound = process_sound(read_recording(folder / SOUND), opened.model.config.sound)
    return opened, run(opened.model, opened.tokenizer, sound, keep=("logits",))


@given(ids=st.lists(st.integers(0, len(CHARACTERS) - 1), min_size=1, max_size=60))
@examples(50)
def test_a_transcript_is_that_of_the_reference(opened_folder: tuple[Path, Checkpoint, Trace], ids: list[int]) -> None:
    folder, opened, trace = opened_folder
    reference = transformers.Wav2Vec2CTCTokenizer(str(folder / "vocab.json"))  # type: ignore[no-untyped-call]
    said = replace(trace, values={"logits": np.eye(VOCABULARY, dtype=np.float32)[ids]})
    special = {"<s>", "</s>", "<unk>"} & {CHARACTERS[number] for number in ids}
    if not special:
        assert transcript(said, opened.tokenizer) == " ".join(reference.decode(ids).split(" ")).strip()
    config = opened.model.config.replace(output_head_config=OutputHeadConfig(bias=True, pad_token_id=6))
    assert "T" not in transcript(replace(said, config=config), opened.tokenizer), "T is now the blank"


@pytest.fixture
def opened_folder(folder: Path) -> tuple[Path, Checkpoint, Trace]:
    return folder, *heard(folder)


def test_the_command_prints_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    opened, trace = heard(folder)
    capsys.readouterr()
    assert main(["predict", "--audio", str(folder / SOUND), "--model", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"text": transcript(trace, opened.tokenizer)}


def test_a_model_without_a_head_needs_no_vocabulary(tmp_path: Path) -> None:
    build(CASES["wav2vec2"][1], tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    opened = load(tmp_path)
    sound = process_sound(read_recording(tmp_path / SOUND), opened.model.config.sound)
    trace = run(opened.model, opened.tokenizer, sound)
    frames = opened.model.config.sound.frame_count(trace["sound"].shape[1])
    assert trace.attention().shape == (2, 3, frames, frames) and len(trace.text.ids) == frames
