"""Recipes from files, flags, and both; nothing unknown is accepted."""

import argparse
from dataclasses import fields
from pathlib import Path

import pytest

from headlight.cli.train import add_arguments, recipe_from_options
from headlight.config.flat_names import FLAT_NAMES
from headlight.errors import ConfigError, DataError, HeadlightError, UnknownNameError
from headlight.paths import assets_dir
from headlight.training.recipe import MODEL_FIELDS, Recipe, TokenizerOptions, TrainingOptions, load_recipe, parse_recipe

SORT = ["--task", "sort", "--objective", "token-classification"]
RECIPE = """
objective = "masked"
validation = ["v.txt"]
[texts]
"a.txt" = 3
"b.txt.xz" = 0.5
[tokenizer]
vocabulary_size = 500
[model]
layers = 2
[training]
steps = 10
learning_rate = 1
"""


def parsed(*flags: str) -> Recipe:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return recipe_from_options(parser.parse_args([*flags, "--out", "out"]))


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE)
    return str(path)


def test_a_recipe_file_is_read(file: str) -> None:
    recipe = load_recipe(Path(file))
    assert [(source.name, source.epochs) for source in recipe.texts] == [("a", 3.0), ("b", 0.5)]
    assert recipe.objective == "masked" and recipe.tokenizer.vocabulary_size == 500
    assert recipe.training.steps == 10 and recipe.training.learning_rate == 1.0
    config = recipe.config(vocabulary_size=500)
    assert (config.layers, config.architecture, config.output_head, config.masks) == (
        2,
        "encoder",
        "masked-language-model",
        (),
    )


def test_flags_override_the_file(file: str) -> None:
    recipe = parsed(
        file, "--layers", "5", "--steps", "7", "--vocabulary-size", "900", "--text", "c.txt=2", "--no-tied-embeddings"
    )
    assert recipe.training.steps == 7 and recipe.training.learning_rate == 1.0
    assert (
        recipe.tokenizer.vocabulary_size == 900
        and recipe.model["layers"] == 5
        and recipe.model["embedding"] == {"tied": False}
    )
    assert [(str(source.path), source.epochs) for source in recipe.texts] == [("c.txt", 2.0)]


def test_flags_are_enough() -> None:
    recipe = parsed("--text", "a.txt", "--minutes", "3", "--objective", "causal", "--optimizer", "muon")
    assert recipe.training.minutes == 3.0 and recipe.training.optimizer == "muon"


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"speed": 3}, r"Unknown recipe fields: speed\. Known: examples, model, objective, task, texts"),
        ({"training": {"rate": 3}}, r"Unknown training fields: rate\. Known: batch_size"),
        ({"model": {"depth": 3}}, r"Unknown model fields: depth\. Known: context_length"),
        ({"model": {"architecture": "decoder"}}, r"Unknown model fields: architecture"),
        ({"tokenizer": {"length": 3}}, r"Unknown tokenizer fields: length"),
        ({"training": {"batch_size": "many"}}, "batch_size is 'many'; expected a whole number"),
        ({"training": {"batch_size": 1.5}}, "batch_size is 1.5; expected a whole number"),
        ({"texts": ["a.txt"]}, r"texts is \['a.txt'\]; expected a table of fields"),
    ],
)
def test_unknown_fields_and_wrong_types_are_errors(table: dict[str, object], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        parse_recipe(table)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"objective": ["causal"]}, r"objective is \['causal'\]; expected a text"),
        ({"tokenizer": "bpe"}, "tokenizer is 'bpe'; expected a table of fields"),
        ({"texts": {"t.txt": "many"}}, "texts.* expected a number"),
    ],
)
def test_sections_of_the_wrong_type_are_errors(table: dict[str, object], sentence: str) -> None:
    with pytest.raises(HeadlightError, match=sentence):
        parse_recipe(table)


def test_unknown_names_are_errors_before_any_text_is_read() -> None:
    wrong = {
        "--optimizer": "sgd",
        "--schedule": "zigzag",
        "--tokenizer-kind": "syllable",
        "--attention-function": "sieve",
    }
    for flag, name in wrong.items():
        with pytest.raises(UnknownNameError, match=name):
            parsed("--text", "nowhere.txt", "--steps", "3", flag, name)


def test_unknown_objectives_and_wrong_sizes_are_errors() -> None:
    with pytest.raises(UnknownNameError, match=r"no objective 'guess'.*causal, completion, masked"):
        parse_recipe({"objective": "guess"})
    with pytest.raises(ConfigError, match="does not divide"):
        parse_recipe({"model": {"d_model": 10, "heads": 3}}).config(100)


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--steps", "3"], "no text to train on"),
        (["--text", "a.txt"], "Training needs a limit"),
        (["--text", "a.txt", "--steps", "3", "--batch-size", "0"], "batch_size is 0"),
        (["--text", "a.txt", "--steps", "3", "--mask-rate", "1.5"], "mask_rate is 1.5"),
        (["--text", "a.txt", "--steps", "3", "--final-mask-rate", "-0.1"], "final_mask_rate is -0.1"),
        (["--text", "a.txt", "--steps", "3", "--learning-rate", "-1"], "learning_rate is -1.0"),
        (["--text", "a.txt", "--minutes", "nan", "--steps", "3"], "minutes is nan"),
        (SORT, "Training needs a limit"),
        ([*SORT, "--text", "a.txt"], "has its own examples"),
        (["--text", "a.txt", "--steps", "3", "--label-smoothing", "1"], "label_smoothing is 1.0"),
        (["--text", "a.txt", "--steps", "3", "--batch-size", "1000000000"], "batch_size is 1000000000; .* most 65,536"),
        (["--text", "a.txt", "--steps", "3", "--threads", "10000"], "threads is 10000; it must be at most 1,024"),
        (["--text", "a.txt", "--steps", "3", "--vocabulary-size", "-3"], "vocabulary_size is -3; .* at least 1"),
        (["--text", "a.txt", "--steps", "3", "--tokenizer", "f", "--vocabulary-size", "9"], "the one in f is used"),
        ([*SORT, "--steps", "3", "--vocabulary-size", "9"], "that of the task sort is used; leave out"),
        (["absent.toml"], "cannot be read"),
    ],
)
def test_missing_texts_limits_and_numbers_out_of_range_are_errors(flags: list[str], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        parsed(*flags)


def test_a_task_and_its_objective_go_together() -> None:
    recipe = parsed("--task", "sort", "--objective", "token-classification", "--steps", "3")
    config = recipe.config(102)
    assert (config.architecture, config.output_head, len(config.labels)) == ("encoder", "token-classifier", 100)
    assert "task" in recipe.fingerprint() and "task" not in parsed("--text", "a.txt", "--steps", "3").fingerprint()
    with pytest.raises(UnknownNameError, match=r"no objective on examples 'causal'.*completion"):
        parsed("--task", "sort", "--steps", "3")
    with pytest.raises(UnknownNameError, match=r"no objective on texts 'completion'.*causal"):
        parsed("--text", "a.txt", "--objective", "completion", "--steps", "3")
    with pytest.raises(UnknownNameError, match="no task 'juggle'"):
        parse_recipe({"task": "juggle", "objective": "completion", "training": {"steps": 3}}).check()


def test_no_flag_sets_fields_of_two_sections() -> None:
    sections = [
        (*MODEL_FIELDS, *FLAT_NAMES),
        *(tuple(field.name for field in fields(part)) for part in (TokenizerOptions, TrainingOptions)),
    ]
    names = [name for section in sections for name in section]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ["stories-causal", "stories-masked"])
def test_the_shipped_recipes_can_be_read_and_are_small(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_DATA", "/texts")
    recipe = load_recipe(assets_dir() / "models" / name / "recipe.toml").check()
    config = recipe.config(recipe.tokenizer.vocabulary_size)
    assert config.context_length >= 256 and config.layers >= 4 and config.heads >= 4
    assert not {source.path for source in recipe.texts} & set(recipe.validation)
