"""Tops: language heads, classifiers with every pooling; padding takes no part."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from model import ConfigError, Transformer
from model.config import POOLINGS
from model.config_groups import OutputHeadConfig
from model.nn.output_heads import OUTPUT_HEADS
from model.nn.transformer import require_output_head
from tests.model import toys

LABELS = ("glad", "sad", "neither")


def encoder(**choices: Any) -> Transformer:
    """An encoder with labels."""
    return toys.model(architecture="encoder", masks=(), labels=LABELS, tied_embeddings=False, **choices)


def answer(model: Transformer, ids: Tensor, real: Tensor | None = None) -> Tensor:
    """The logits."""
    logits = model(ids, padding_mask=real)
    assert isinstance(logits, Tensor)
    return logits


@pytest.mark.parametrize(
    ("top", "shape"),
    [
        ("language-model", (2, 6, 300)),
        ("masked-language-model", (2, 6, 300)),
        ("token-classifier", (2, 6, 3)),
        ("sequence-classifier", (2, 3)),
    ],
)
def test_each_top_answers_in_its_own_shape(top: str, shape: tuple[int, ...]) -> None:
    assert answer(encoder(output_head=top), toys.numbers(2, 6)).shape == shape


def test_a_model_without_a_top_answers_nothing() -> None:
    assert encoder(output_head="none")(toys.numbers(2, 6)) is None


@pytest.mark.parametrize("pooling", POOLINGS)
def test_padding_changes_nothing_for_a_sequence_classifier(pooling: str) -> None:
    model = encoder(output_head="sequence-classifier", pooling=pooling)
    short = toys.numbers(1, 4)
    padded = torch.cat((short, toys.numbers(1, 5, seed=2)), dim=1)
    real = (torch.arange(9) < 4)[None]
    torch.testing.assert_close(answer(model, padded, real), answer(model, short))


def test_poolings_take_the_first_the_mean_the_maximum_and_the_last() -> None:
    hidden = torch.tensor([[[1.0, -5.0], [3.0, -1.0], [100.0, 100.0]]])
    real = torch.tensor([[True, True, False]])
    pooled = {name: pool(name, hidden, real) for name in POOLINGS}
    assert pooled == {"first": [1.0, -5.0], "mean": [2.0, -3.0], "max": [3.0, -1.0], "last": [3.0, -1.0]}


def pool(name: str, hidden: Tensor, real: Tensor) -> list[float]:
    """What a sequence classifier of two channels and two labels reads, with its projection the identity."""
    top = OUTPUT_HEADS["sequence-classifier"](toys.config(d_model=2, heads=1, labels=("a", "b"), pooling=name))
    top.projection.weight.data = torch.eye(2)  # type: ignore[union-attr]
    top.projection.bias.data = torch.zeros(2)  # type: ignore[union-attr]
    numbers: list[float] = top(hidden, real)[0].tolist()
    return numbers


@pytest.mark.parametrize("top", ["sequence-classifier", "token-classifier"])
def test_a_classifier_without_labels_is_refused(top: str) -> None:
    with pytest.raises(ConfigError, match="labels"):
        Transformer(toys.config(architecture="encoder", output_head=top))


@pytest.mark.parametrize("top", ["language-model", "masked-language-model"])
def test_a_tied_head_is_the_embedding_and_an_untied_one_is_not(top: str) -> None:
    tied, untied = (Transformer(toys.config(output_head=top, tied_embeddings=tied)) for tied in (True, False))
    assert tied.output_head.projection.weight is tied.embedding.weight  # type: ignore[union-attr]
    assert untied.output_head.projection.weight is not untied.embedding.weight  # type: ignore[union-attr]


def test_the_wrong_top_gets_a_sentence() -> None:
    require_output_head(encoder(output_head="none"), "language-model", "none")
    with pytest.raises(ConfigError, match="'none'; this needs language-model or masked-language-model"):
        require_output_head(encoder(output_head="none"), "language-model", "masked-language-model")


def test_a_token_that_is_passed_over_gives_no_answer_but_is_read() -> None:
    model = toys.decoder(
        output_head="sequence-classifier",
        pooling="last",
        labels=("a", "b"),
        output_head_config=OutputHeadConfig(pad_token_id=7),
        vocabulary_size=9,
    )
    plain, ended = torch.tensor([[1, 2, 7, 3]]), torch.tensor([[1, 2, 7, 3, 7, 7]])
    torch.testing.assert_close(answer(model, ended), answer(model, plain))
    assert not torch.allclose(answer(model, plain), answer(model, plain[:, [0, 1, 3]]))
    real = torch.tensor([[True, True, True, False]])
    torch.testing.assert_close(answer(model, plain, real), answer(model, plain[:, :2]))
