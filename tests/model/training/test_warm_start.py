"""A run may begin with the weights of a model that learned something else."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from model.checkpoints import load
from model.cli.train import train
from model.errors import DataError
from model.nn.transformer import Transformer
from model.training.warm_start import warm_start
from tests.model.training.test_trainer import begin


@pytest.fixture
def reader(flags: list[str], tmp_path: Path) -> Path:
    """A small decoder, trained for a moment."""
    folder = tmp_path / "reader"
    assert train([*flags, "--out", str(folder), "--steps", "5"]) == 0
    return folder


def test_a_masked_model_begins_with_what_a_decoder_has_learned(reader: Path, flags: list[str], tmp_path: Path) -> None:
    more = ["--objective", "masked", "--tokenizer-kind", "bpe", "--init-from", str(reader), "--steps", "1"]
    run = begin(flags, tmp_path / "filler", *more)
    model, words, read = run.train_state.model, run.run_folder.tokenizer, load(reader)
    query = "blocks.0.self_attention.query.weight"
    learned = read.model.get_parameter(f"decoder.{query}")
    assert torch.equal(model.get_parameter(f"encoder.{query}"), learned)
    known, there = words.backend.get_vocab(), read.tokenizer.backend.get_vocab()
    token = max(set(known) & set(there), key=len)
    assert torch.equal(model.embedding.weight[known[token]], read.model.embedding.weight[there[token]])
    assert torch.equal(model.embedding.weight[words.start_id], read.model.embedding.weight[read.tokenizer.start_id])


def test_a_run_that_has_begun_goes_on_with_its_own_weights(reader: Path, flags: list[str], tmp_path: Path) -> None:
    more = ["--init-from", str(reader), "--learning-rate", "0.05"]
    assert train([*flags, "--out", str(tmp_path / "again"), *more, "--steps", "2"]) == 0
    run = begin(flags, tmp_path / "again", *more, "--steps", "3")
    query = "decoder.blocks.0.self_attention.query.weight"
    assert not torch.equal(run.train_state.model.get_parameter(query), load(reader).model.get_parameter(query))


def test_a_model_of_another_size_is_refused(reader: Path) -> None:
    read = load(reader)
    other = Transformer(read.model.config.replace(d_model=2 * read.model.config.d_model, head_dim=0, d_ff=0))
    with pytest.raises(DataError, match="no weights that fit"):
        warm_start(reader, other, read.tokenizer, lambda text: None)
