"""Output heads: language models, and classifiers with every pooling, which ignores padding."""

from typing import Any

import pytest
import torch
from torch import Tensor

from headlight import ConfigError, Transformer, UnknownNameError
from headlight.config import EmbeddingConfig, OutputHeadConfig
from headlight.nn.output_heads import OUTPUT_HEADS, POOLINGS, SequenceClassifier
from tests.model import toys

LABELS = ("glad", "sad", "neither")


def encoder(**choices: Any) -> Transformer:
    """An encoder with labels."""
    return toys.model(architecture="encoder", masks=(), labels=LABELS, embedding=EmbeddingConfig(tied=False), **choices)


def answer(model: Transformer, ids: Tensor, padding_mask: Tensor | None = None) -> Tensor:
    """The logits."""
    logits = model(ids, padding_mask=padding_mask)
    assert isinstance(logits, Tensor)
    return logits


@pytest.mark.parametrize(
    ("head", "shape"),
    [
        ("language-model", (2, 6, 300)),
        ("masked-language-model", (2, 6, 300)),
        ("token-classifier", (2, 6, 3)),
        ("sequence-classifier", (2, 3)),
    ],
)
def test_each_head_gives_logits_of_its_own_shape(head: str, shape: tuple[int, ...]) -> None:
    assert answer(encoder(output_head=head), toys.numbers(2, 6)).shape == shape


def test_a_model_without_a_head_gives_no_logits() -> None:
    assert encoder(output_head="none")(toys.numbers(2, 6)) is None


@pytest.mark.parametrize("pooling", sorted(POOLINGS))
def test_padding_changes_nothing_for_a_sequence_classifier(pooling: str) -> None:
    model = encoder(output_head="sequence-classifier", pooling=pooling)
    short = toys.numbers(1, 4)
    padded = torch.cat((short, toys.numbers(1, 5, seed=2)), dim=1)
    padding_mask = (torch.arange(9) < 4)[None]
    torch.testing.assert_close(answer(model, padded, padding_mask), answer(model, short))


def test_poolings_take_the_first_the_mean_the_maximum_and_the_last() -> None:
    hidden = torch.tensor([[[1.0, -5.0], [3.0, -1.0], [100.0, 100.0]]])
    padding_mask = torch.tensor([[True, True, False]])
    pooled = {name: pool(name, hidden, padding_mask) for name in POOLINGS}
    last = [3.0, -1.0]
    wanted = {"first": [1.0, -5.0], "mean": [2.0, -3.0], "mean-but-first": last, "max": last, "last": last}
    assert pooled == wanted | {"second": last}


def test_a_head_reads_two_poolings_beside_each_other_and_skips_registers() -> None:
    answer = OutputHeadConfig(second_pooling="mean-but-first", skipped_tokens=1)
    config = toys.config(d_model=2, heads=1, labels=tuple("abcd"), pooling="first", output_head_config=answer)
    head = SequenceClassifier(config.replace(output_head="sequence-classifier"))
    hidden = torch.tensor([[[1.0, -5.0], [9.0, 9.0], [3.0, -1.0], [5.0, 0.0]]])
    pooled = head.pool(hidden, torch.ones(1, 4, dtype=torch.bool))
    assert pooled.tolist() == [[1.0, -5.0, 4.0, -0.5]]
    assert head.pool(hidden[:, :1], torch.ones(1, 1, dtype=torch.bool)).tolist() == [[1.0, -5.0, 1.0, -5.0]]


def pool(name: str, hidden: Tensor, padding_mask: Tensor) -> list[float]:
    """The pooled input of a sequence classifier of two channels and two labels, by an identity projection."""
    head = OUTPUT_HEADS["sequence-classifier"](toys.config(d_model=2, heads=1, labels=("a", "b"), pooling=name))
    head.projection.weight.data = torch.eye(2)  # type: ignore[union-attr]
    head.projection.bias.data = torch.zeros(2)  # type: ignore[union-attr]
    numbers: list[float] = head(hidden, padding_mask)[0].tolist()
    return numbers


@pytest.mark.parametrize("head", ["sequence-classifier", "token-classifier"])
def test_a_classifier_without_labels_is_refused(head: str) -> None:
    with pytest.raises(ConfigError, match="labels"):
        Transformer(toys.config(architecture="encoder", output_head=head))


@pytest.mark.parametrize("head", ["language-model", "masked-language-model"])
def test_a_tied_head_is_the_embedding_and_an_untied_one_is_not(head: str) -> None:
    tied, untied = (
        Transformer(toys.config(output_head=head, embedding=EmbeddingConfig(tied=tied))) for tied in (True, False)
    )
    assert tied.output_head.projection.weight is tied.embedding.weight  # type: ignore[union-attr]
    assert untied.output_head.projection.weight is not untied.embedding.weight  # type: ignore[union-attr]


@pytest.mark.parametrize("head", sorted(OUTPUT_HEADS))
def test_an_unknown_pooling_is_refused_whatever_the_head(head: str) -> None:
    with pytest.raises(UnknownNameError, match=r"no pooling 'middle'\. Known: first, last, max, mean"):
        encoder(output_head=head, pooling="middle")


def test_a_padding_token_is_never_the_last_token_but_is_attended_to() -> None:
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
    padding_mask = torch.tensor([[True, True, True, False]])
    torch.testing.assert_close(answer(model, plain, padding_mask), answer(model, plain[:, :2]))
