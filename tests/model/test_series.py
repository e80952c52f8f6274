"""The shipped series of positional encodings and of the ladder agree with their recipes and cards."""

import os
import re
from math import sqrt
from pathlib import Path

import pytest

from headlight.checkpoints import load
from headlight.checkpoints.catalog import card_series, read_metadata
from headlight.data.corpus import expand_path
from headlight.evaluation.report import evaluate_model
from headlight.paths import assets_dir
from headlight.training.recipe import load_recipe

FOLDERS = sorted((assets_dir() / "models").glob("positions-*"))
LADDER = sorted((assets_dir() / "models").glob("ladder-*"))
SMALL_TEXTS = ("storybooks", "captions")  # held-out texts small enough to measure again


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_model_is_what_its_recipe_makes_and_differs_in_its_encoding_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_DATA", "wherever the texts are")  # a recipe names them; they are not read here
    metadata = read_metadata(folder)
    assert metadata.config is not None and metadata.series == f"positions-{metadata.config.architecture}"
    assert folder.name == f"{metadata.series}-{metadata.config.positional_encoding}"
    recipe = load_recipe(folder / "recipe.toml")
    assert recipe.config(metadata.config.vocabulary_size) == metadata.config
    first = load_recipe(next(path for path in FOLDERS if path.name.startswith(metadata.series)) / "recipe.toml")
    assert {**first.model, "positional_encoding": ""} == {**recipe.model, "positional_encoding": ""}
    assert (first.texts, first.training, first.tokenizer) == (recipe.texts, recipe.training, recipe.tokenizer)


@pytest.mark.skipif("HEADLIGHT_DATA" not in os.environ, reason="needs the held-out texts")
@pytest.mark.parametrize("folder", [*FOLDERS, *LADDER], ids=lambda folder: folder.name)
def test_a_model_is_as_good_as_its_card_says(folder: Path) -> None:
    checkpoint = load(folder)
    measured = checkpoint.card.partition("## Measured")[2].partition("## ")[0]
    header, *lines = (line.split(" | ") for line in re.findall(r"^\| (.+) \|$", measured, re.MULTILINE))
    claims = {line[0]: dict(zip(header, line, strict=True)) for line in lines}
    names = SMALL_TEXTS if folder in FOLDERS else tuple(claims)
    paths = [expand_path(f"$HEADLIGHT_DATA/text/{name}.valid.txt.xz") for name in names]
    report = evaluate_model(checkpoint, folder.name, paths, (), lambda line: None)
    for name in names:
        claim, found = claims[name], report.texts[f"{name}.valid"]
        if "bits per byte" in claim:
            assert found["bits per byte"] == pytest.approx(float(claim["bits per byte"]), abs=0.001)
        else:
            rate = float(claim["top-1"].rstrip("%")) / 100
            assert abs(found["top-1"] - rate) <= 3 * sqrt(rate * (1 - rate) / found["masked tokens"])


def test_the_cards_name_two_series() -> None:
    assert {card_series((folder / "README.md").read_text(encoding="utf-8")) for folder in FOLDERS} == {
        "positions-decoder",
        "positions-encoder",
    }
