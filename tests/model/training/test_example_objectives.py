"""Batches of examples: inputs, targets, and positions without targets."""

import numpy as np
import pytest
import torch

from headlight.config import ImageConfig
from headlight.data.examples import Example
from headlight.data.generated import GENERATED_TASKS
from headlight.errors import DataError
from headlight.training.objectives.batch import IGNORE_INDEX, Batch
from headlight.training.objectives.examples import Completion, SequenceToSequence, TokenClassification
from headlight.vision.image import process_image


def test_a_completion_has_the_answer_alone_as_targets() -> None:
    task = GENERATED_TASKS["induction"]
    tokenizer = task.make_tokenizer()
    batch = Completion(tokenizer, task).make_batch(
        [Example("sun key cat sun", "key cat"), Example("map sun", "map sun moon")]
    )
    assert tokenizer.decode(batch.ids[0].tolist()) == "sun key cat sun key"
    assert batch.ids[0, 0] == tokenizer.start_id
    targets = [[number for number in row if number != IGNORE_INDEX] for row in batch.targets.tolist()]
    assert list(map(tokenizer.decode, targets)) == ["key cat", "map sun moon"]
    asked = batch.targets != IGNORE_INDEX
    assert torch.equal(asked.nonzero()[:, 0], batch.target_rows)
    assert asked[0].tolist() == [False] * 4 + [True, True]
    assert tokenizer.decode(batch.ids[0, asked[0]].tolist()) == "sun key"  # the tokens before the targets


def test_each_number_is_labelled_with_the_one_that_belongs_there() -> None:
    task = GENERATED_TASKS["sort"]
    batch = TokenClassification(task.make_tokenizer(), task).make_batch(
        [Example("17 4 99 4", "4 4 17 99"), Example("2 1", "1 2")]
    )
    assert batch.targets.tolist() == [[4, 4, 17, 99], [1, 2, IGNORE_INDEX, IGNORE_INDEX]]
    assert batch.padding_mask is not None
    assert batch.padding_mask.tolist() == [[True] * 4, [True, True, False, False]]


def test_an_answer_is_written_behind_the_start_token_and_ends() -> None:
    task = GENERATED_TASKS["dates"]
    tokenizer = task.make_tokenizer()
    batch = SequenceToSequence(tokenizer, task).make_batch([Example("third of March 2021", "2021-03-03")])
    assert tokenizer.backend.id_to_token(0) == "<s>" and int(batch.ids[0, 0]) == 0
    assert tokenizer.decode(batch.ids[0].tolist()) == "2021-03-03"
    assert batch.targets[0].tolist() == [*batch.ids[0, 1:].tolist(), tokenizer.end_id]
    assert batch.source is not None and tokenizer.decode(batch.source[0].tolist()) == "third of March 2021"
    assert int(batch.source[0, -1]) == tokenizer.end_id  # as for a typed source


def test_a_drawing_is_read_as_the_model_reads_images() -> None:
    task, image = (
        GENERATED_TASKS["caption"],
        ImageConfig(channels=3, height=24, width=24, patch_height=6, patch_width=6),
    )
    examples = task.training_examples(1, 3)
    batch = SequenceToSequence(task.make_tokenizer(), task, image=image).make_batch(examples)
    assert batch.source is None and batch.signal is not None and batch.signal.shape == (3, 3, 24, 24)
    for pixels, example in zip(batch.signal, examples, strict=True):
        assert example.drawing is not None
        np.testing.assert_array_equal(pixels, process_image(example.drawing.render(), image).pixel_values)


def parts_of(batch: Batch) -> list[torch.Tensor | None]:
    return [batch.ids, batch.targets, *batch.inputs.values()]


def test_a_split_batch_is_the_batch() -> None:
    image = ImageConfig(channels=3, height=24, width=24, patch_height=6, patch_width=6)
    objectives = (("sort", TokenClassification), ("dates", SequenceToSequence), ("caption", SequenceToSequence))
    for name, objective in objectives:
        task = GENERATED_TASKS[name]
        batch = objective(task.make_tokenizer(), task, image=image).make_batch(task.training_examples(1, 5))
        for whole, first, second, third in zip(
            parts_of(batch), *(parts_of(part) for part in batch.split(2)), strict=True
        ):
            pieces = [piece for piece in (first, second, third) if piece is not None]
            assert (whole is None) == (not pieces)
            assert whole is None or torch.equal(torch.cat(pieces), whole)


def test_labels_that_are_no_tokens_are_an_error() -> None:
    task = GENERATED_TASKS["sort"]
    with pytest.raises(DataError, match="does not have one label for each word"):
        TokenClassification(task.make_tokenizer(), task).make_batch([Example("1 2 3", "1 2")])


@pytest.mark.parametrize("name", ["sort", "dates"])
def test_an_example_longer_than_the_context_is_an_error(name: str) -> None:
    task = GENERATED_TASKS[name]
    objective = {"sort": TokenClassification, "dates": SequenceToSequence}[name](task.make_tokenizer(), task)
    assert len(objective.batch(np.random.default_rng(1), 50, 64).ids) == 50
    with pytest.raises(DataError, match=f"An example of {name} has .* tokens; the model has a context of 5"):
        objective.batch(np.random.default_rng(1), 50, 5)
