"""Batches follow their objective, and the same seed draws the same batch."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from headlight.data.corpus import TextSource, TokenizedText, tokenize_source
from headlight.errors import DataError
from headlight.text.tokenizer import Tokenizer
from headlight.text.tokenizer_training import MASKED_SPECIAL_TOKENS, train_tokenizer
from headlight.training.objectives.batch import IGNORE_INDEX
from headlight.training.objectives.texts import (
    CausalLanguageModeling,
    MaskedLanguageModeling,
    TokenMasker,
    _take_sentences,
    sampling_probabilities,
)
from headlight.training.train_step import cross_entropy
from tests.model.training.conftest import story

Causal = tuple[CausalLanguageModeling, Tokenizer, TokenizedText]
Masked = tuple[MaskedLanguageModeling, Tokenizer, TokenizedText]


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> Masked:
    path = tmp_path_factory.mktemp("masked") / "learn.txt"
    path.write_text(story(1))
    made = train_tokenizer("wordpiece", [story(1)], 200, MASKED_SPECIAL_TOKENS)
    text = tokenize_source(TextSource(path), made, None)
    return MaskedLanguageModeling(made, [text], {}), made, text


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> Causal:
    path = tmp_path_factory.mktemp("causal") / "learn.txt"
    path.write_text(story(1))
    made = train_tokenizer("bpe", [story(1)], 300)
    text = tokenize_source(TextSource(path), made, made.start_id)
    return CausalLanguageModeling(made, [text], {"line_start_probability": 0.5}), made, text


@pytest.mark.parametrize("name", ["causal", "masked"])
def test_the_same_seed_draws_the_same_batch(name: str, request: pytest.FixtureRequest) -> None:
    objective = request.getfixturevalue(name)[0]
    one, same, other = (objective.batch(generator(seed), 4, 32) for seed in (7, 7, 8))
    assert torch.equal(one.ids, same.ids) and torch.equal(one.targets, same.targets)
    assert not torch.equal(one.ids, other.ids)


@pytest.mark.parametrize("name", ["causal", "masked"])
def test_a_validation_batch_is_always_the_same(name: str, request: pytest.FixtureRequest) -> None:
    objective, _, text = request.getfixturevalue(name)
    one, again = objective.validation_batch(text, 8, 32), objective.validation_batch(text, 8, 32)
    assert torch.equal(one.ids, again.ids) and torch.equal(one.targets, again.targets)


def test_a_split_batch_is_the_batch(masked: Masked) -> None:
    batch = masked[0].batch(generator(), 5, 32)
    parts = list(batch.split(2))
    assert [len(part.ids) for part in parts] == [2, 2, 1]
    assert sum(part.target_count for part in parts) == batch.target_count
    assert batch.mask is not None
    assert torch.equal(torch.cat([part.mask for part in parts if part.mask is not None]), batch.mask)


def test_the_next_token_is_the_target_everywhere(causal: Causal) -> None:
    objective, made, text = causal
    batch = objective.batch(generator(), 40, 16)
    assert batch.ids.shape == (40, 16) and batch.mask is None
    assert torch.equal(batch.ids[:, 1:], batch.targets[:, :-1])
    typed = batch.ids[:, 0].eq(made.start_id or 0)
    assert 8 < int(typed.sum()) < 36  # about half begin like a typed text
    firsts = {int(text.ids[at]) for at in text.line_starts}
    assert {int(number) for number in batch.ids[typed, 1]} <= firsts


def test_validation_windows_are_adjacent(causal: Causal) -> None:
    objective, _, text = causal
    batch = objective.validation_batch(text, 10**6, 16)
    whole = (len(text.ids) - 1) // 16 * 16
    assert batch.ids.flatten().tolist() == text.ids[:whole].tolist()
    assert len(objective.validation_batch(text, 5, 16).ids) == 5
    assert objective.validation_batch(text, 5, 10**6).ids.shape == (1, len(text.ids) - 1)


def test_a_text_shorter_than_a_window_is_an_error(causal: Causal) -> None:
    objective, _, text = causal
    with pytest.raises(DataError, match=f"has {len(text.ids)} tokens; a window takes 100001"):
        objective.batch(generator(), 1, 100_000)


def test_fifteen_percent_are_targets_and_no_special_token(masked: Masked) -> None:
    objective, made, _ = masked
    batch = objective.batch(generator(), 64, 64)
    asked = batch.targets != IGNORE_INDEX
    real = np.isin(torch.where(asked, batch.targets, batch.ids), list(made.special_ids), invert=True)
    assert abs(batch.target_count / real.sum() - 0.15) < 0.01
    assert not set(batch.targets[asked].tolist()) & made.special_ids
    shown, wanted = batch.ids[asked], batch.targets[asked]
    masks, same = shown.eq(made.mask_id or 0).float().mean(), shown.eq(wanted).float().mean()
    assert abs(float(masks) - 0.9) < 0.01 and 0.04 < float(same) < 0.07
    assert not set(shown[shown != made.mask_id].tolist()) & made.special_ids


def test_the_mask_rate_falls_with_the_schedule(masked: Masked) -> None:
    _, made, text = masked
    objective = MaskedLanguageModeling(made, [text], {"mask_rate": 0.4, "final_mask_rate": 0.1})

    def asked(height: float) -> float:
        batch = objective.batch(generator(), 64, 64, height)
        able = batch.ids.ne(made.start_id or 0) & batch.ids.ne(made.end_id or 0)
        return batch.target_count / int(able.sum())

    assert [asked(height) for height in (1.0, 0.5, 0.0)] == pytest.approx([0.4, 0.25, 0.1], abs=0.02)
    assert (
        objective.validation_batch(text, 8, 32).target_count
        == MaskedLanguageModeling(made, [text], {"mask_rate": 0.4}).validation_batch(text, 8, 32).target_count
    )


def test_validation_replaces_every_target_by_the_mask_token(masked: Masked) -> None:
    objective, made, text = masked
    batch = objective.validation_batch(text, 8, 64)
    assert set(batch.ids[batch.targets != IGNORE_INDEX].tolist()) == {made.mask_id}


def test_rows_pack_segments_that_do_not_attend_to_each_other(masked: Masked) -> None:
    objective, made, _ = masked
    batch = objective.batch(generator(), 16, 64)
    assert batch.mask is not None
    for ids, mask in zip(batch.ids, batch.mask[:, 0], strict=True):
        starts = (ids == made.start_id).nonzero().flatten().tolist()
        ends = (ids == made.end_id).nonzero().flatten().tolist()
        assert starts[0] == 0 and len(starts) == len(ends)
        assert ids[ends[-1] + 1 :].tolist() == [made.pad_id] * (63 - ends[-1])
        for start, end in zip(starts, ends, strict=True):
            alone = torch.zeros(64, dtype=torch.bool)
            alone[start : end + 1] = True
            assert torch.equal(mask[start : end + 1], alone.expand(end + 1 - start, -1))


@pytest.mark.parametrize(
    ("position", "length", "most", "ends"),
    [(0.0, 9, 99, (0, 9)), (0.0, 13, 99, (0, 9)), (0.3, 9, 99, (5, 12)), (0.3, 2, 99, (5, 9)), (0.3, 9, 3, (5, 8)),
     (0.9, 1, 99, (14, 20))],
)  # fmt: skip
def test_a_segment_has_as_many_whole_sentences_of_its_document_as_fit(
    position: float, length: int, most: int, ends: tuple[int, int]
) -> None:
    text = TokenizedText("t", 1.0, np.arange(20), np.array([0]), np.array([0, 12]), 20)
    starts = np.array([0, 5, 9, 14])
    assert _take_sentences(text, starts, position, length, most).tolist() == [*range(*ends)]


def test_a_segment_begins_with_a_sentence_and_stays_in_its_document(masked: Masked) -> None:
    objective, made, text = masked
    ids, parts = objective._pack_segments([text], objective.segment_starts, np.ones(1), generator(), 64, 64)
    whole = story(1)
    documents = [" ".join(document.split()) for document in whole.split("<|endoftext|>")]
    for number in range(parts.max() + 1):
        words = made.decode(ids[parts == number].tolist()).replace(" ##", "")
        assert words[0].isupper()
        assert any(words in document for document in documents)


def test_sampling_is_in_proportion_to_tokens_and_epochs() -> None:
    nothing = np.zeros(0, np.int64)
    short = TokenizedText("short", 3.0, np.zeros(100, np.uint16), nothing, nothing, 0)
    long = TokenizedText("long", 1.0, np.zeros(600, np.uint16), nothing, nothing, 0)
    assert sampling_probabilities([short, long]).tolist() == pytest.approx([1 / 3, 2 / 3])


@pytest.mark.parametrize(
    ("objective", "special"), [(MaskedLanguageModeling, ("<|endoftext|>",)), (CausalLanguageModeling, ())]
)
def test_a_tokenizer_without_the_special_tokens_is_an_error(
    objective: type[CausalLanguageModeling], special: tuple[str, ...]
) -> None:
    made = train_tokenizer("bpe", ["a b c"], 300, special)
    with pytest.raises(DataError, match="objective needs"):
        objective(made, [], {})


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy_and_its_gradient_equal_those_of_torch(smoothing: float) -> None:
    torch.manual_seed(0)
    logits = torch.randn(600, 50, requires_grad=True)
    targets = torch.randint(50, (600,))
    ours = cross_entropy(logits, targets, smoothing)
    (gradient,) = torch.autograd.grad(3 * ours, logits)
    theirs = functional.cross_entropy(logits, targets, reduction="sum", label_smoothing=smoothing)
    (wanted,) = torch.autograd.grad(3 * theirs, logits)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradient, wanted)


def test_a_segment_begins_without_the_space_before_its_first_word(tmp_path: Path) -> None:
    tokenizer = train_tokenizer("bpe", ["A dog ran. A dog sat. A dog ran. A dog sat."], 300, MASKED_SPECIAL_TOKENS)
    path = tmp_path / "text.txt"
    path.write_text("A dog ran. A dog sat. A dog ran. A dog sat.\n" * 20)
    batch = MaskedLanguageModeling(
        tokenizer, [tokenize_source(TextSource(path), tokenizer, None)], {}
    ).validation_batch(tokenize_source(TextSource(path), tokenizer, None), 4, 32)
    ids = batch.ids.where(batch.targets == IGNORE_INDEX, batch.targets)
    firsts = {
        tokenizer.token_text(int(row[at + 1])) for row in ids for at in (row[:-1] == tokenizer.start_id).nonzero()
    }
    assert firsts == {"A"}


def test_without_a_final_rate_as_many_tokens_are_masked_to_the_end(masked: Masked) -> None:
    for options, rates in (({}, {0.15}), ({"mask_rate": 0.4}, {0.4}), ({"final_mask_rate": 0.0}, {0.15})):
        masker = TokenMasker.from_options(masked[1], options)
        assert {masker.rate(factor) for factor in (0.0, 0.5, 1.0)} == rates
