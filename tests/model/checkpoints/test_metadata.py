"""Metadata of a checkpoint before it is loaded."""

import json
from pathlib import Path

import pytest
import torch

from headlight import save
from headlight.checkpoints import load
from headlight.checkpoints.catalog import card_licence, card_purpose, card_series, read_metadata, tokenizer_type
from tests.families.cases import CASES
from tests.families.reference import build
from tests.model import toys


@pytest.mark.parametrize("family", ["gpt2", "llama", "t5", "bert"])
def test_what_is_told_is_what_opens(family: str, tmp_path: Path) -> None:
    build(CASES[family][0], tmp_path / "model")
    told, opened = read_metadata(tmp_path / "model"), load(tmp_path / "model").model
    assert told.error == ""
    assert told.family == family
    assert told.config is not None
    assert told.config == opened.config.replace(generation=told.config.generation)  # which is read with the tokenizer
    assert told.parameter_count == sum(parameter.numel() for parameter in opened.parameters())
    assert told.memory_bytes == sum(parameter.nbytes for parameter in opened.parameters())
    assert told.tokenizer == "words"


def test_a_pickle_that_can_only_be_read_whole_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = build(CASES["bert"][0], tmp_path)
    (tmp_path / "model.safetensors").unlink()
    torch.save(built.state_dict(), tmp_path / "pytorch_model.bin", _use_new_zipfile_serialization=False)

    def read(*_: object, **__: object) -> None:
        raise AssertionError("the pickle was read")

    monkeypatch.setattr("torch.load", read)
    assert read_metadata(tmp_path).parameter_count > 0


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("{", "not JSON"),
        ('{"model_type": "mamba"}', "mamba"),
        ('{"model_type": "headlight"}', "lacks"),
        (
            '{"model_type": "headlight", "vocabulary_size": 99, "context_length": 9, "d_model": 9, "layers": 0, '
            '"heads": -1}',
            "",
        ),
    ],
)
def test_what_is_broken_says_so(config: str, said: str, tmp_path: Path) -> None:
    save(tmp_path, toys.decoder(), toys.causal())
    (tmp_path / "config.json").write_text(config)
    told = read_metadata(tmp_path)
    assert told.config is None
    assert said in told.error and told.error


def test_a_model_larger_than_any_memory_is_told_as_it_is(tmp_path: Path) -> None:
    save(tmp_path, toys.decoder(), toys.causal())
    values = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**values, "d_model": 2**16, "d_ff": 2**18, "layers": 100}))
    assert read_metadata(tmp_path).memory_bytes > 10**12


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"tokenizer.json": '{"normalizer": {"type": "BertNormalizer"}, "model": {"type": "WordPiece"}}'}, "WordPiece"),
        ({"tokenizer.json": '{"model":{"type":"BPE","vocab":{"model":1}}}'}, "byte pairs"),
        ({"tokenizer.json": "{}"}, "tokenizer.json"),
        ({"spiece.model": ""}, "SentencePiece"),
        ({"vocab.json": "", "merges.txt": ""}, "byte pairs"),
        ({"vocab.txt": ""}, "WordPiece"),
        ({}, ""),
    ],
)
def test_the_kind_of_tokenizer_is_told_by_its_files(files: dict[str, str], told: str, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert tokenizer_type(tmp_path) == told


@pytest.mark.parametrize(
    ("card", "licence"),
    [
        ("---\nlanguage: en\nlicense: apache-2.0\n---\n# A", "apache-2.0"),
        ('---\nlicense: "mit"\n---\n', "mit"),
        ("---\nlicense: [mit]\n---\n", "mit"),
        ("---\nlicense:\n- mit\n- cc-by-4.0\ntags:\n- x\n---\n", "mit, cc-by-4.0"),
        ("# A\nlicense: mit", ""),
        ("---\nlicense:\n---\n", ""),
        ("", ""),
    ],
)
def test_the_licence_stands_in_the_head_of_the_card(card: str, licence: str) -> None:
    assert card_licence(card) == licence


@pytest.mark.parametrize(
    ("card", "purpose"),
    [
        ("---\nlicense: mit\npurpose: Sorts numbers\n---\n# sort", "Sorts numbers"),
        ("---\npurpose:\nlicense: mit\n---\n", ""),
        ("---\nlicense: mit\n---\npurpose: not in front", ""),
        ("", ""),
    ],
)
def test_a_card_says_what_its_model_does(card: str, purpose: str) -> None:
    assert card_purpose(card) == purpose


def test_the_series_stands_in_the_head_of_the_card(tmp_path: Path) -> None:
    card = "---\nlicense: mit\nseries: positions-decoder\n---\n# A\nseries: other"
    assert card_series(card) == "positions-decoder"
    assert card_series("# A\nseries: other") == ""
    save(tmp_path / "one", toys.decoder(), toys.causal(), card=card)
    assert read_metadata(tmp_path / "one").series == "positions-decoder"
