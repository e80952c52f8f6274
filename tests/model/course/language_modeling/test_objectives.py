"""Masked and next-token training on one sentence, compared with independently computed losses."""

from math import log

import pytest
import torch
from torch.nn.functional import cross_entropy

from headlight.checkpoints.load import Checkpoint
from headlight.course.language_modeling.objectives import (
    MASKING,
    SHIFTED_TARGETS,
    fate,
    learn_sentence,
    learned_here,
    masking,
    shifted_targets,
    token_losses,
)
from headlight.errors import InputError
from headlight.tracing.run import run
from headlight.views.kinds import TableView, TokensView
from tests.model import toys
from tests.model.course.shown import verdict, views

TEXT = toys.SENTENCE


def test_targets_are_the_tokens_moved_by_one(decoder: Checkpoint) -> None:
    answer = shifted_targets(decoder, TEXT)
    _, read, targets = views(answer, TokensView)
    assert read.tokens[1:] == targets.tokens[:-1] and len(read.tokens) == len(targets.tokens)
    trace = run(decoder.model, decoder.tokenizer, TEXT)
    losses = cross_entropy(torch.tensor(trace["logits"])[:-1], torch.tensor(trace.text.ids)[1:], reduction="none")
    assert [float(row[3]) for row in views(answer, TableView)[0].rows] == pytest.approx(losses.tolist(), rel=1e-4)
    told = verdict(answer).text
    assert f"{float(losses.mean()):.3f} nats" in told


@pytest.mark.full
@pytest.mark.parametrize(("given", "steps"), [(1, 120), (3, 2)])
def test_a_new_decoder_is_trained_until_it_completes_the_sentence(given: int, steps: int) -> None:
    words = ["my", "red", "kite", "is", "in", "the", "old", "tree", "and", "my", "dog", "is", "sad"]
    found = learn_sentence(words, given, steps, 1)
    is_complete = [line == " ".join(words[given:]) for line in found.written.values()]
    assert is_complete[-1] == (found.learned is not None) == (steps == 120) and not is_complete[0]
    for step, complete in zip(found.written, is_complete, strict=True):
        assert complete or found.learned is None or step < found.learned
    assert len(found.losses) == steps + 1 and max(found.written) == steps
    assert found.losses[0] == pytest.approx(log(len(set(words))), abs=0.6)
    with pytest.raises(InputError, match="it needs 4 to 24"):
        learned_here("too few words", 3, 1, 1)


def test_shares_are_those_that_were_asked_for(encoder: Checkpoint) -> None:
    answer = masking(encoder, TEXT, 50, "bert", 3)
    counts = {str(row[0]): int(row[1]) for row in views(answer, TableView)[1].rows}
    words = len(encoder.tokenizer.encode(TEXT).ids) - 2  # without [CLS] and [SEP]
    assert counts["tokens that may be targets"] == 20 * words and counts["targets"] == 10 * words
    assert counts["targets: [MASK]"] == round(0.8 * counts["targets"])
    # a random token may equal the original one
    assert counts["targets: random"] + counts["targets: kept"] == counts["targets"] - counts["targets: [MASK]"]


def test_the_loss_counts_the_targets_alone(encoder: Checkpoint) -> None:
    answer = masking(encoder, TEXT, 30, "bert", 1)
    losses = [float(row[3]) for row in views(answer, TableView)[0].rows]
    told = verdict(answer).text
    assert f"{len(losses)} targets: {sum(losses) / len(losses):.3f} nats" in told


def test_each_token_costs_its_cross_entropy(encoder: Checkpoint) -> None:
    trace = run(encoder.model, encoder.tokenizer, TEXT, masked_positions=(2,))
    original = torch.tensor(encoder.tokenizer.encode(TEXT).ids)
    expected = cross_entropy(torch.tensor(trace["logits"]), original, reduction="none")
    found = token_losses(encoder.model, torch.tensor(trace.text.ids).numpy(), original.numpy())
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_what_became_of_a_token() -> None:
    tokenizer = toys.masked()
    mask = tokenizer.mask_id or 0
    assert [fate(7, read, target, tokenizer) for read, target in ((7, -100), (mask, 7), (7, 7), (9, 7))] == [
        "", "[MASK]", "kept", "random",
    ]  # fmt: skip


def test_models_and_texts_that_do_not_fit_get_a_sentence(decoder: Checkpoint, encoder: Checkpoint) -> None:
    with pytest.raises(InputError, match="fills masks"):
        MASKING.model_controls["model"].require(decoder.model.config)
    with pytest.raises(InputError, match="continues texts"):
        SHIFTED_TARGETS.model_controls["model"].require(encoder.model.config)
