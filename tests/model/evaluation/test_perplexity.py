"""Bits per byte: every token counts once, with enough context; for short texts as in one forward pass."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight.data.corpus import TextSource, TokenizedText, tokenize_source
from headlight.errors import DataError
from headlight.evaluation.language_modeling import sliding_windows, text_likelihood
from headlight.training.objectives.batch import IGNORE_INDEX
from tests.model import toys

TEXT = "the cat sat on the mat\nthe dog saw the cat\n<|endoftext|>\nwe ran to the sea and swam\n<|endoftext|>\n"


@pytest.fixture
def text(tmp_path: Path) -> TokenizedText:
    path = tmp_path / "short.txt"
    path.write_text(TEXT * 3, encoding="utf-8")
    return tokenize_source(TextSource(path), toys.causal(), toys.causal().start_id)


@given(st.integers(2, 90), st.integers(1, 20), st.integers(1, 5))
def test_each_token_but_the_first_is_a_target_once(length: int, context: int, rows: int) -> None:
    ids = np.arange(length)
    asked: list[int] = []
    for batch in sliding_windows(ids, context, rows):
        before = batch.ids.numpy()
        assert before.shape[1] <= context
        assert np.array_equal(before[:, 1:], before[:, :-1] + 1)
        for row, targets in zip(before, batch.targets.numpy(), strict=True):
            for place in np.flatnonzero(targets != IGNORE_INDEX):
                asked.append(int(targets[place]))
                assert targets[place] == row[place] + 1
                assert place + 1 >= min(context // 2, targets[place])  # length of the visible context
    assert sorted(asked) == list(range(1, length))


def test_a_text_within_the_context_is_one_forward(text: TokenizedText) -> None:
    model = toys.decoder(context_length=200)
    measured = text_likelihood(model, text)
    ids = torch.tensor(text.ids.astype(np.int64))
    logits = model(ids[None, :-1])
    assert logits is not None
    nats = torch.nn.functional.cross_entropy(logits[0], ids[1:], reduction="sum").item()
    assert measured.negative_log_likelihood == pytest.approx(nats, rel=1e-5)
    assert measured.token_count == len(ids) - 1
    assert measured.bits_per_token == pytest.approx(nats / math.log(2) / (len(ids) - 1))


def test_bytes_are_those_of_the_documents_alone(text: TokenizedText) -> None:
    size = 3 * len("the cat sat on the mat\nthe dog saw the cat" + "we ran to the sea and swam")
    measured = text_likelihood(toys.decoder(), text)
    assert measured.byte_count == size
    assert measured.bits_per_byte == pytest.approx(measured.negative_log_likelihood / math.log(2) / size)


def test_the_context_length_changes_only_the_likelihood(text: TokenizedText) -> None:
    short, long = (
        text_likelihood(toys.decoder(context_length=8), text),
        text_likelihood(toys.decoder(context_length=24), text),
    )
    assert short.token_count == long.token_count
    assert short.negative_log_likelihood != long.negative_log_likelihood


def test_a_single_token_is_an_error() -> None:
    nothing = np.zeros(1, dtype=np.int64)
    with pytest.raises(DataError, match="at least 2"):
        text_likelihood(toys.decoder(), TokenizedText("empty", 1.0, nothing, nothing, nothing, 0))
