"""A run may start from the weights of a model with another objective."""

from pathlib import Path

import pytest
import torch

from headlight.checkpoints import load
from headlight.cli.train import train
from headlight.errors import DataError
from headlight.nn.transformer import Transformer
from headlight.training.trainer import warm_start
from tests.model.training.test_trainer import start_run


@pytest.fixture
def pretrained(flags: list[str], tmp_path: Path) -> Path:
    """A small decoder after a few training steps."""
    folder = tmp_path / "pretrained"
    assert train([*flags, "--out", str(folder), "--steps", "5"]) == 0
    return folder


def test_a_masked_model_starts_from_the_weights_of_a_decoder(
    pretrained: Path, flags: list[str], tmp_path: Path
) -> None:
    more = ["--objective", "masked", "--tokenizer-kind", "bpe", "--init-from", str(pretrained), "--steps", "1"]
    run = start_run(flags, tmp_path / "masked", *more)
    model, tokenizer, source = run.train_state.model, run.run_folder.tokenizer, load(pretrained)
    query = "blocks.0.self_attention.query.weight"
    learned = source.model.get_parameter(f"decoder.{query}")
    assert torch.equal(model.get_parameter(f"encoder.{query}"), learned)
    known, there = tokenizer.backend.get_vocab(), source.tokenizer.backend.get_vocab()
    token = max(set(known) & set(there), key=len)
    assert torch.equal(model.embedding.weight[known[token]], source.model.embedding.weight[there[token]])
    assert torch.equal(
        model.embedding.weight[tokenizer.start_id], source.model.embedding.weight[source.tokenizer.start_id]
    )


def test_a_resumed_run_keeps_its_own_weights(pretrained: Path, flags: list[str], tmp_path: Path) -> None:
    more = ["--init-from", str(pretrained), "--learning-rate", "0.05"]
    assert train([*flags, "--out", str(tmp_path / "again"), *more, "--steps", "2"]) == 0
    run = start_run(flags, tmp_path / "again", *more, "--steps", "3")
    query = "decoder.blocks.0.self_attention.query.weight"
    assert not torch.equal(run.train_state.model.get_parameter(query), load(pretrained).model.get_parameter(query))


def test_a_model_of_another_size_is_refused(pretrained: Path) -> None:
    source = load(pretrained)
    other = Transformer(source.model.config.replace(d_model=2 * source.model.config.d_model, head_dim=0, d_ff=0))
    with pytest.raises(DataError, match="no weights that fit"):
        warm_start(pretrained, other, source.tokenizer, lambda text: None)


def test_norms_of_embeddings_are_copied_although_token_embeddings_go_by_token(flags: list[str], tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("[model]\nembedding.norm = true\n")
    folder = tmp_path / "pretrained"
    assert train([str(recipe), *flags, "--out", str(folder), "--steps", "3", "--learning-rate", "0.05"]) == 0
    run = start_run([str(recipe), *flags], tmp_path / "next", "--init-from", str(folder), "--steps", "1")
    name = "decoder.embedding_norm.weight"
    assert torch.equal(run.train_state.model.get_parameter(name), load(folder).model.get_parameter(name))
