"""Masked tokens are reproducible and of the right number; ranks are counted correctly."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from headlight.data.corpus import TextSource, TokenizedText, tokenize_source
from headlight.errors import DataError
from headlight.evaluation.language_modeling import (
    MaskedBatch,
    ModelPredictor,
    masked_batches,
    top_k_accuracy,
    typed_sequences,
)
from headlight.tracing.run import run
from tests.model import toys

TEXT = "\n".join(toys.LINES[:4] * 6) + "\n<|endoftext|>\n" + "\n".join(toys.LINES[:3])


@pytest.fixture
def text(tmp_path: Path) -> TokenizedText:
    path = tmp_path / "short.txt"
    path.write_text(TEXT, encoding="utf-8")
    return tokenize_source(TextSource(path), toys.masked(), None)


@dataclass(frozen=True)
class Fixed:
    """Always the same scores."""

    row: np.ndarray

    def token_scores(self, batch: MaskedBatch) -> np.ndarray:
        return np.tile(self.row, (batch.target_count, 1))


def test_sequences_cover_the_text_and_never_cross_a_document(text: TokenizedText) -> None:
    rows = list(typed_sequences(text, np.random.default_rng(0)))
    assert np.array_equal(np.concatenate(rows), text.ids)
    starts = np.cumsum([len(row) for row in rows])
    assert int(text.document_starts[1]) in starts
    lines = set(np.append(text.line_starts, len(text.ids)).tolist())
    assert lines.issuperset(starts.tolist())


def test_batches_are_the_same_every_time(text: TokenizedText) -> None:
    first, second = (masked_batches(text, toys.masked(), 24) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(one.ids, other.ids)
        assert np.array_equal(one.targets, other.targets)


def test_about_fifteen_percent_of_the_tokens_are_masked(text: TokenizedText) -> None:
    tokenizer = toys.masked()
    batches = masked_batches(text, tokenizer, 24)
    asked = sum(batch.target_count for batch in batches)
    ordinary = sum(int((batch.ids >= 0).sum() - 2 * len(batch.ids)) for batch in batches)
    assert 0.1 < asked / ordinary < 0.2
    for batch in batches:
        is_masked = batch.targets >= 0
        assert batch.ids.shape[1] <= 24
        assert is_masked.any(1).all()
        assert np.all(batch.ids[is_masked] == tokenizer.mask_id)
        assert np.all((batch.ids == tokenizer.mask_id) == is_masked)
        assert not np.isin(batch.targets[is_masked], list(tokenizer.special_ids)).any()
        assert np.all(batch.ids[:, 0] == tokenizer.start_id)


def test_padding_changes_no_answer(text: TokenizedText) -> None:
    model, tokenizer = toys.encoder(), toys.masked()
    lines = [toys.LINES[0], toys.LINES[3][:9]]
    ids = [tokenizer.encode(line).ids for line in lines]
    padded = np.full((2, len(ids[0])), -1)
    targets = padded.copy()
    for row, tokens in enumerate(ids):
        padded[row, : len(tokens)] = tokens
        padded[row, 1] = tokenizer.mask_id
        targets[row, 1] = tokens[1]
    scores = ModelPredictor(model).token_scores(MaskedBatch(padded, targets))
    for row, line in enumerate(lines):
        alone = run(model, tokenizer, line, masked_positions=(1,))["logits"][1]
        assert scores[row] == pytest.approx(alone, abs=1e-4)


def test_hits_are_counted_by_rank() -> None:
    ids = np.array([[0, 1, 2, 3, 4, 5]])
    asked = [MaskedBatch(ids, ids)]  # each token from 0 to 5 is a target once
    assert top_k_accuracy(Fixed(np.array([9.0, 8, 7, 6, 5, 4])), asked).top5_hits == 5
    counted = top_k_accuracy(Fixed(np.array([0.0, 0, 0, 0, 0, 9])), asked)  # 5 ranks first; ties go to the lower id
    assert (counted.target_count, counted.top1_hits, counted.top5_hits) == (6, 1, 5)
    assert counted.top1 == pytest.approx(1 / 6)


def test_a_tokenizer_without_a_mask_token_is_an_error(text: TokenizedText) -> None:
    with pytest.raises(DataError, match=r"\[MASK\]"):
        masked_batches(text, toys.causal(), 24)
