"""Losses at several lengths and for shuffled words: same targets everywhere, and results of each encoding."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight import save
from headlight.checkpoints import Checkpoint, load
from headlight.data.corpus import TextSource, TokenizedText, expand_path, tokenize_source
from headlight.errors import DataError
from headlight.evaluation.length_extrapolation import (
    FACTORS,
    ModelLosses,
    _WindowCutter,
    measure_losses,
    read_extrapolation,
)
from headlight.paths import assets_dir
from headlight.tasks import task_of
from headlight.text.tokenizer import Tokenizer
from headlight.training.objectives.batch import IGNORE_INDEX
from tests.model import toys
from tests.shell import Shell

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

TRAINED = 12
TEXT = "\n".join(toys.LINES[:16]) + "\n<|endoftext|>\nthe cat\n<|endoftext|>\n" + "\n".join(toys.LINES[:12]) + "\n"


def tokenized(tokenizer: Tokenizer, folder: Path, causal: bool) -> TokenizedText:
    path = folder / "tales.valid.txt"
    path.write_text(TEXT, encoding="utf-8")
    return tokenize_source(TextSource(path), tokenizer, tokenizer.start_id if causal else None)


@given(st.booleans(), st.integers(0, 40), st.booleans())
def test_every_length_has_the_same_targets(tmp_path: Path, causal: bool, which: int, shuffled: bool) -> None:
    tokenizer = toys.causal() if causal else toys.masked()
    text = tokenized(tokenizer, tmp_path, causal)
    cutter = _WindowCutter(tokenizer, TRAINED, causal)
    ends = cutter.ends(text, 100)
    end = int(ends[which % len(ends)])
    found = []
    for factor in FACTORS:
        read, targets = cutter.row(text.ids, end, factor * TRAINED, shuffled=False)
        assert len(read) == len(targets) == factor * TRAINED
        found.append(targets[targets != IGNORE_INDEX].tolist())
    assert found[0] == found[1] == found[2]
    read, targets = cutter.row(text.ids, end, TRAINED, shuffled=shuffled)
    plain, plain_targets = cutter.row(text.ids, end, TRAINED, shuffled=False)
    if not causal:  # masks and targets move with their words
        assert sorted(read) == sorted(plain) and sorted(targets) == sorted(plain_targets)


def test_no_window_crosses_two_documents(tmp_path: Path) -> None:
    text = tokenized(toys.causal(), tmp_path, causal=True)
    cutter = _WindowCutter(toys.causal(), TRAINED, causal=True)
    for end in cutter.ends(text, 100):
        read, _ = cutter.row(text.ids, int(end), FACTORS[-1] * TRAINED, shuffled=False)
        assert toys.causal().start_id not in read[1:]
    with pytest.raises(DataError, match="has no document of 4001 tokens"):
        _WindowCutter(toys.causal(), 1000, causal=True).ends(text, 100)


def measured(encoding: str, causal: bool, folder: Path) -> ModelLosses:
    tokenizer = toys.causal() if causal else toys.masked()
    build = toys.decoder if causal else toys.encoder
    choices = {} if causal else {"vocabulary_size": tokenizer.vocabulary_size}
    model = build(context_length=TRAINED, positional_encoding=encoding, **choices)
    return measure_losses(encoding, Checkpoint(model, tokenizer, ""), [tokenized(tokenizer, folder, causal)], 20)


def test_an_encoder_without_positions_loses_nothing_by_shuffled_words(tmp_path: Path) -> None:
    none, sinusoidal = (measured(encoding, False, tmp_path) for encoding in ("none", "sinusoidal"))
    assert none.losses[0] is not None and sinusoidal.losses[0] is not None
    assert none.shuffled.mean == pytest.approx(none.losses[0].mean, rel=1e-4)
    assert sinusoidal.shuffled.mean != pytest.approx(sinusoidal.losses[0].mean, rel=1e-4)


@pytest.mark.parametrize("encoding", ["none", "sinusoidal", "learned", "rope", "alibi", "relative"])
def test_a_learned_table_ends_and_all_else_goes_on(encoding: str, tmp_path: Path) -> None:
    found = measured(encoding, True, tmp_path)
    assert [loss is None for loss in found.losses] == [False, *[encoding == "learned"] * 2]
    assert all(loss.standard_error > 0 for loss in found.losses if loss)


def test_the_loss_is_that_of_one_forward(tmp_path: Path) -> None:
    model, text = toys.decoder(context_length=TRAINED), tokenized(toys.causal(), tmp_path, causal=True)
    cutter = _WindowCutter(toys.causal(), TRAINED, causal=True)
    read, targets = cutter.row(text.ids, int(cutter.ends(text, 1)[0]), TRAINED, shuffled=False)
    logits = model(torch.from_numpy(read)[None])
    assert logits is not None
    wanted = torch.nn.functional.cross_entropy(logits[0], torch.from_numpy(targets), ignore_index=IGNORE_INDEX).item()
    (loss, *_) = measure_losses("toy", Checkpoint(model, toys.causal(), ""), [text], 1).losses
    assert loss is not None and loss.mean == pytest.approx(wanted, rel=1e-5)


def test_the_command_writes_what_it_prints(tmp_path: Path, shell: Shell) -> None:
    text = tokenized(toys.causal(), tmp_path, causal=True)
    for name, encoding in (("first", "rope"), ("second", "learned"), ("again", "rope")):
        torch.manual_seed(len(name))
        model = toys.decoder(context_length=TRAINED, positional_encoding=encoding, seed=len(name))
        save(tmp_path / name, model, toys.causal())
    models = [str(tmp_path / name) for name in ("first", "second", "again")]
    arguments = [*models, "--text", str(tmp_path / "tales.valid.txt"), "--out", str(tmp_path / "out.json")]
    assert "undefined" in shell(["extrapolate", *arguments]) and len(text.ids)
    found = read_extrapolation(tmp_path / "out.json")
    assert found.command.startswith("headlight extrapolate ") and found.lengths == (12, 24, 48)
    assert ([one.name for one in found.models], [one.name for one in found.repeats]) == (["first", "second"], ["again"])
    first, again = found.models[0].losses[1], found.repeats[0].losses[1]
    assert first and again and found.seed_spread[1] == pytest.approx(abs(first.mean - again.mean))
    said = shell.refused(["extrapolate", str(tmp_path / "first"), "stories-masked", *arguments[3:]])
    assert "differ in more than their positional encoding" in said


SHIPPED = sorted((assets_dir() / "positions").glob("*.json"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_shipped_tables_are_of_shipped_models(path: Path) -> None:
    for one in read_extrapolation(path).models:
        config = load(assets_dir() / "models" / one.name).model.config
        assert config.positional_encoding == one.positional_encoding
        assert read_extrapolation(path).lengths == tuple(factor * config.context_length for factor in FACTORS)


@pytest.mark.skipif("HEADLIGHT_DATA" not in os.environ, reason="needs the held-out texts")
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_small_part_measured_again_says_what_the_shipped_table_says(path: Path) -> None:
    names = [one.name for one in read_extrapolation(path).models]
    opened = {name: load(assets_dir() / "models" / name) for name in names}
    first = opened[names[0]]  # all models of a series share a tokenizer
    separator = first.tokenizer.start_id if task_of(first.model.config).continues_text else None
    texts = [expand_path(found) for found in re.findall(r"--text '?([^ ']+)", read_extrapolation(path).command)]
    tokens = [tokenize_source(TextSource(text), first.tokenizer, separator) for text in texts]
    for one in read_extrapolation(path).models:
        again = measure_losses(one.name, opened[one.name], tokens, 12)
        for claimed, found in zip((*one.losses, one.shuffled), (*again.losses, again.shuffled), strict=True):
            assert (claimed is None) == (found is None)
            if claimed and found:
                assert abs(claimed.mean - found.mean) <= 3 * np.hypot(claimed.standard_error, found.standard_error)
