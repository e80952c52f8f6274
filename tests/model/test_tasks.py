"""Every output head has a task, which defines the possible requests."""

import pytest
import torch

from headlight import ConfigError, Tokenizer, Transformer
from headlight.nn.output_heads import OUTPUT_HEADS
from headlight.tasks import TASKS, require_token_task, task_of
from tests.model import toys

CHOICES = {"labels": ("a", "b"), "embedding.tied": False}


def test_every_output_head_has_a_task() -> None:
    assert set(TASKS) == set(OUTPUT_HEADS)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_logits_have_the_shape_that_the_task_says(name: str) -> None:
    config = toys.config(output_head=name, **CHOICES)
    logits, task = Transformer(config).eval()(torch.zeros(1, 5, dtype=torch.long)), task_of(config)
    assert (logits is not None) == task.predicts
    if logits is not None:
        assert logits.shape[-1] == (config.vocabulary_size if task.predicts_tokens else len(config.labels))
        assert logits.shape[1:-1] == (() if task.whole_text else (5,))


@pytest.mark.parametrize("name", sorted(TASKS))
def test_a_model_without_a_vocabulary_to_predict_gets_a_sentence(name: str) -> None:
    config = toys.config(output_head=name, **CHOICES)
    if TASKS[name].predicts_tokens:
        require_token_task(config)
        return
    with pytest.raises(ConfigError, match="predicts no tokens: it ") as caught:
        require_token_task(config)
    assert name == "none" or name not in str(caught.value)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_every_task_has_its_words(name: str) -> None:
    task = TASKS[name]
    assert task.title
    assert task.examples
    assert bool(task.prediction_title) == task.predicts == (not task.no_prediction)
    assert bool(task.no_generation) == (not task.generates)


def test_a_masked_model_is_asked_at_its_masks_and_others_at_the_last_token() -> None:
    tokenizer: Tokenizer = toys.masked()
    ids = tokenizer.encode("the [MASK] saw the [MASK]").ids
    masks = tuple(place for place, token in enumerate(ids) if token == tokenizer.mask_id)
    assert len(masks) == 2
    assert TASKS["masked-language-model"].prediction_positions(ids, tokenizer.mask_id) == masks
    assert TASKS["language-model"].prediction_positions(ids, tokenizer.mask_id) == (len(ids) - 1,)
