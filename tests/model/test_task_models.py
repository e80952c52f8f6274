"""The shipped models of generated tasks do what their cards claim, on new examples."""

import re
from functools import lru_cache
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from headlight.analysis.head_metrics import head_metrics
from headlight.array_types import Float
from headlight.checkpoints import Checkpoint, load
from headlight.checkpoints.catalog import read_examples
from headlight.checkpoints.load import kept_steps, load_step
from headlight.data.generated import GENERATED_TASKS
from headlight.evaluation.example_accuracy import ExampleAccuracy, example_accuracy, link_agreement
from headlight.paths import assets_dir
from headlight.tracing.run import run
from headlight.training.recipe import load_recipe

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

MODELS = assets_dir() / "models"
FRESH_SEED, FRESH_EXAMPLES = 20_261_122, 300


def models_of_tasks() -> list[str]:
    """The shipped models whose recipe names a generated task."""
    return sorted(path.parent.name for path in MODELS.glob("*/recipe.toml") if task_of_recipe(path) in GENERATED_TASKS)


def task_of_recipe(path: Path) -> str:
    """The task that a recipe names; empty for a language model."""
    named = re.search(r'^task = "(.*)"', path.read_text(encoding="utf-8"), re.MULTILINE)
    return named[1] if named else ""


@lru_cache
def measured(name: str) -> tuple[Checkpoint, ExampleAccuracy]:
    task = GENERATED_TASKS[load_recipe(MODELS / name / "recipe.toml").check().task]
    checkpoint = load(MODELS / name)
    return checkpoint, example_accuracy(checkpoint, task, FRESH_EXAMPLES, FRESH_SEED)


def standard_error(rate: float) -> float:
    """Standard error of a rate over FRESH_EXAMPLES; 4 added ones, 2 of them right, keep it above 0 (Agresti-Coull)."""
    softened = (rate * FRESH_EXAMPLES + 2) / (FRESH_EXAMPLES + 4)
    return sqrt(softened * (1 - softened) / FRESH_EXAMPLES)


@pytest.mark.full
@pytest.mark.parametrize("name", models_of_tasks())
def test_a_model_answers_as_well_as_its_card_says(name: str) -> None:
    checkpoint, accuracy = measured(name)
    found = re.search(
        r"of the answers are right \(([\d.]+)%\), and [\d,]+\s+whole answers \(([\d.]+)%\)", checkpoint.card
    )
    assert found, "the card states no accuracy"
    tokens, exact = (float(number) / 100 for number in found.groups())
    assert abs(accuracy.token_accuracy - tokens) <= 3 * standard_error(tokens)
    assert abs(accuracy.exact_accuracy - exact) <= 3 * standard_error(exact)


@pytest.mark.parametrize("name", models_of_tasks())
def test_the_examples_of_a_model_are_of_its_vocabulary(name: str) -> None:
    examples, tokenizer = read_examples(MODELS / name), measured(name)[0].tokenizer
    assert examples
    for example in examples:
        ids = tokenizer.encode(example.text or example.source).ids
        assert tokenizer.unknown_id is None or tokenizer.unknown_id not in ids


def head_shares(checkpoint: Checkpoint, metric: str, task: str = "induction") -> Float[np.ndarray, "layer head"]:
    """The mean of a head metric over new texts of the task, each with its answer."""
    examples = GENERATED_TASKS[task].held_out_examples(FRESH_SEED, 30)
    traces = (run(checkpoint.model, checkpoint.tokenizer, f"{one.text} {one.answer}") for one in examples)
    shares: np.ndarray = np.mean([head_metrics(trace)[metric] for trace in traces], 0)
    return shares


def test_two_layers_find_the_word_that_came_next_and_one_layer_does_not() -> None:
    checkpoint, accuracy = measured("induction")
    assert accuracy.token_accuracy >= 0.95
    assert head_shares(checkpoint, "previous")[0].max() > 0.8
    induction = head_shares(checkpoint, "induction")
    assert induction[1].max() > 0.8 > 0.2 > induction[0].max()
    control, guessed = measured("induction-one-layer")
    assert guessed.token_accuracy < 0.25
    assert head_shares(control, "induction").max() < 0.3


def test_the_heads_form_between_the_kept_steps() -> None:
    steps = kept_steps(MODELS / "induction")
    assert len(steps) >= 20
    first, last = (load_step(MODELS / "induction", step) for step in (steps[0], steps[-1]))
    for metric in ("previous", "induction"):
        assert head_shares(first, metric).max() < 0.2 < 0.8 < head_shares(last, metric).max()
    files = (MODELS / "induction").rglob("*.safetensors")
    assert sum(path.stat().st_size for path in files) < 4_000_000


def test_at_a_fixed_offset_the_heads_take_a_short_cut() -> None:
    """The induction metric is high without any look-up: the head looks a fixed number of words back."""
    checkpoint, accuracy = measured("induction-fixed-offset")
    assert accuracy.token_accuracy >= 0.95
    shares = {metric: head_shares(checkpoint, metric, "induction-fixed-offset") for metric in ("previous", "induction")}
    assert shares["induction"].max() > 0.9
    assert shares["previous"].max() < 0.3
    other = example_accuracy(checkpoint, GENERATED_TASKS["induction"], FRESH_EXAMPLES, FRESH_SEED)
    assert other.token_accuracy < 0.5


def test_numbers_are_sorted_by_heads_that_look_for_the_number_of_their_place() -> None:
    _, accuracy = measured("sort")
    assert accuracy.token_accuracy >= 0.99
    assert accuracy.link_agreement.max() > 0.5


@pytest.mark.full
def test_a_caption_is_right_for_pairs_of_things_that_were_never_drawn_together() -> None:
    checkpoint, accuracy = measured("caption")
    assert accuracy.exact_accuracy >= 0.95 > 0.6 > accuracy.guessed / accuracy.tokens
    stated = re.search(r"attends most to that part in\s+([\d.]+)%", checkpoint.card)
    assert stated
    rate = float(stated[1]) / 100
    agreement = link_agreement(checkpoint, GENERATED_TASKS["caption"].held_out_examples(FRESH_SEED, FRESH_EXAMPLES))
    assert abs(agreement.max() - rate) <= 3 * standard_error(rate)


@pytest.mark.full
def test_cross_attention_reads_the_part_of_a_date_that_is_being_written() -> None:
    checkpoint, accuracy = measured("dates")
    assert accuracy.exact_accuracy >= 0.99
    stated = re.search(r"attends most to that part in\s+([\d.]+)%", checkpoint.card)
    assert stated and float(stated[1]) >= 90
    agreement = link_agreement(checkpoint, GENERATED_TASKS["dates"].held_out_examples(FRESH_SEED, FRESH_EXAMPLES)).max()
    assert abs(agreement - float(stated[1]) / 100) <= 3 * standard_error(float(stated[1]) / 100)
