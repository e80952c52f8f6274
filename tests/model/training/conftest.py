"""A small training set-up: one text of a few words, and a model that learns it in seconds."""

import random
from pathlib import Path

import pytest
import torch

torch.set_num_threads(1)  # for models this small, more threads only add waiting time

WHO = ["The cat", "The dog", "A bird", "My friend", "The old man", "A small girl"]
DOES = ["sat on", "ran to", "looked at", "slept near", "walked past"]
WHERE = ["the mat", "the tree", "the house", "the sea", "the garden"]


def story(seed: int, lines: int = 300) -> str:
    """Lines of a few patterns, five to a document."""
    draw = random.Random(seed)
    made = [f"{draw.choice(WHO)} {draw.choice(DOES)} {draw.choice(WHERE)}. It was good." for _ in range(lines)]
    return "\n<|endoftext|>\n".join("\n".join(made[at : at + 5]) for at in range(0, lines, 5)) + "\n"


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Path, Path]:
    """A training text and a validation text."""
    learn, valid = tmp_path / "learn.txt", tmp_path / "valid.txt"
    learn.write_text(story(1), encoding="utf-8")
    valid.write_text(story(2, lines=60), encoding="utf-8")
    return learn, valid


@pytest.fixture
def flags(texts: tuple[Path, Path], tmp_path: Path) -> list[str]:
    """The arguments of `headlight train` for a run of one second."""
    learn, valid = texts
    files = f"--text {learn}=2 --validation {valid} --out {tmp_path / 'out'} --vocabulary-size 300"
    sizes = "--layers 1 --d-model 32 --heads 2 --context-length 32 --batch-size 8 --warmup-steps 5"
    return f"{files} {sizes} --steps 20 --evaluate-every 10 --device cpu --precision float32".split()
