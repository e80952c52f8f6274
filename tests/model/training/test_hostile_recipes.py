"""Recipes and texts that ask for more than any machine has: one sentence, before anything is computed."""

import lzma
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from itertools import count
from pathlib import Path
from random import Random

import pytest

from headlight.config import Config
from headlight.data import corpus
from headlight.data.corpus import read_lines
from headlight.errors import DataError, HeadlightError
from headlight.text.tokenizer_training import train_tokenizer
from headlight.training.recipe import RANGES, Recipe, TokenizerOptions, TrainingOptions, load_recipe
from headlight.validation import MAX_TOML_BYTES
from tests.shell import Shell


def test_every_number_of_a_recipe_has_a_range_that_holds_its_default() -> None:
    for options in (TokenizerOptions(), TrainingOptions()):
        for part in fields(options):
            if str(part.type) in ("int", "float", "tuple[int, ...]"):
                least, most = RANGES[part.name]
                default = getattr(options, part.name)
                assert default == () or least <= default <= most < float("inf")


TEXT = 'texts = {"t.txt" = 1}\ntraining = {steps = 1}\n'
HOSTILE: dict[str, tuple[str, str]] = {
    "epochs": ('texts = {"t.txt" = 1e300}\n', "a positive number up to 1,000"),
    "a context": (TEXT + "[model]\ncontext_length = 1000000000\n", "context_length is 1000000000; .* most 1,048,576"),
    "rows and context": (
        'texts = {"t.txt" = 1}\nmodel.context_length = 1048576\n'
        'training = {steps = 1, batch_size = 65536, device = "cpu"}\n',
        "Training needs at least .* GB of memory .*micro_batch_size",
    ),
    "weights": (
        'texts = {"t.txt" = 1}\nmodel = {d_model = 65536, layers = 1024}\ntraining = {steps = 1, device = "cpu"}\n',
        "Training needs at least .* GB",
    ),
    "a long seed": (f"training = {{steps = 1, seed = {'9' * 900}}}\n" + 'texts = {"t.txt" = 1}', "seed is 9+ .* most"),
    "seeds": (
        "training = {steps = 1, seeds = [" + "1,\n" * 1001 + ']}\ntexts = {"t.txt" = 1}',
        "seeds has 1,001 numbers",
    ),
    "brackets": ("x = " + "[\n" * 20_000, "cannot be read"),
    "tables": ("model = " + "{a=" * 200 + "1" + "}" * 200, "nested too deeply"),
    "keys": ("model." + "a." * 400 + "a = 1", "nested too deeply"),
    "a key": ("a." * 20_000 + "a = 1", "a line of over 1,000"),
    "much": ("#\n" * MAX_TOML_BYTES, "far larger than any"),
    "a name": (f'texts = {{"{"x" * 900}" = 1}}\ntraining = {{steps = 1}}\n', "no file x+"),
    "a name of zeros": ('texts = {"\\u0000" = 1}\ntraining = {steps = 1}\n', "no file"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_meant_is_refused(
    name: str, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text, sentence = HOSTILE[name]
    Path("recipe.toml").write_text(text)
    Path("t.txt").write_text("a line of text\n" * 20)
    printed = shell.refused(["train", "recipe.toml", "--out", "out"])
    assert re.search(sentence, printed), printed


def test_a_packed_text_that_grows_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "t.txt.xz"
    file.write_bytes(lzma.compress(b"a line\n" * 40_000))
    assert len(list(read_lines(file))) == 40_000
    monkeypatch.setattr(corpus, "MAX_LINE", 10_000)
    read = 0
    with pytest.raises(DataError, match="unpacks to over 100 times its size"):
        for _ in read_lines(file):
            read += 1
    assert read < 15_000, "no more is unpacked"
    file.write_bytes(lzma.compress(b"x" * 20_000))
    with pytest.raises(DataError, match="a line of over 10,000 characters"):
        next(read_lines(file))
    assert file.write_bytes(b"\xfd7zXZ\0 broken")
    with pytest.raises(DataError, match="cannot be read"):
        next(read_lines(file))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows programs cannot send signals")
def test_a_signal_ends_the_training_of_a_tokenizer() -> None:
    def endless() -> Iterator[str]:
        for number in count():
            if number == 1_000:
                os.kill(os.getpid(), signal.SIGINT)
            yield "a text"

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            train_tokenizer("bpe", endless(), 100, ())
    finally:
        signal.signal(signal.SIGINT, handler)


VALUES = (
    *(
        "1e300",
        "nan",
        "-1",
        "0",
        "1",
        "3",
        "9" * 600,
        "true",
        '""',
        '"x"',
        '"\\u0000"',
        "[]",
        "[[[[1]]]]",
        "{}",
        "{a = 1}",
    ),
    *("1979-05-27", "0.5", "[1, 2, 2]", '"../../etc/passwd"', '"$NOWHERE/x"', '"causal"', "0xffffffffff", "[0.5]"),
)
SHIPPED = Path(__file__).parents[3] / "assets" / "models" / "induction" / "recipe.toml"
SECTIONS = {
    "": ("objective", "task", "validation", "texts", "examples", "model", "training", "x"),
    "[training]": tuple(part.name for part in fields(TrainingOptions)),
    "[tokenizer]": tuple(asdict(TokenizerOptions())),
    "[model]": tuple(part.name for part in fields(Config)),
    "[examples]": ("files", "text", "answer", "columns"),
    "[texts]": ('"t.txt"', '"\\u0000"', '"a=b"', '""'),
}


def made_up(random: Random) -> str:
    """A recipe of known fields, with values that are seldom right; or a shipped one, with some values changed."""
    if random.random() < 0.5:
        lines = SHIPPED.read_text(encoding="utf-8").splitlines()
        for number in random.sample(range(len(lines)), random.randrange(4)):
            name, equals, _ = lines[number].partition(" = ")
            lines[number] = f"{name} = {random.choice(VALUES)}" if equals else lines[number]
        return "\n".join(lines)
    parts = [(header, names) for header, names in SECTIONS.items() if not header or random.random() < 0.4]
    return "\n".join("\n".join((header, *_fields(names, random))) for header, names in parts)


def _fields(names: Sequence[str], random: Random) -> Iterator[str]:
    for name in random.sample(names, min(len(names), random.randrange(4))):
        yield f"{name} = {random.choice(VALUES)}"


@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(60, 500), marks=pytest.mark.full)])
def test_made_up_recipes_are_built_or_get_a_sentence(seeds: range, tmp_path: Path) -> None:
    refused = 0
    for seed in seeds:
        file = tmp_path / f"{seed}.toml"
        file.write_text(made_up(Random(seed)))
        try:
            assert isinstance(load_recipe(file).check(), Recipe)
        except HeadlightError as error:
            assert str(error).strip().endswith((".", "?")) and "\n" not in str(error), f"one sentence: {error}"
            refused += 1
    assert len(seeds) // 2 < refused < len(seeds), "some of each"
