"""Screens of the chapters on tokens, positions and heads: defaults run, and bad values get a message."""

import pytest

from headlight import find_checkpoint, load
from headlight.checkpoints import Checkpoint
from headlight.course.chapters import CHAPTERS
from headlight.course.screen import ScreenRows
from headlight.errors import HeadlightError
from headlight.views.encoding import plain
from tests.model.course.shown import sentences

MODELS = (
    "stories-causal",
    "stories-masked",
    "dates",
    "positions-encoder-sinusoidal",
    "positions-encoder-learned",
    "positions-decoder-none",
)


@pytest.fixture(scope="module")
def opened() -> dict[str, Checkpoint]:
    """The shipped models, each opened once."""
    return {name: load(find_checkpoint(name)) for name in MODELS}


def answer(opened: dict[str, Checkpoint], chapter: str, screen: str, **inputs: str) -> ScreenRows:
    """The answer of a screen."""
    row = CHAPTERS[chapter].screens[screen]
    values = row.parse(inputs)
    for name in row.model_controls:
        values[name] = opened[values[name]]
    return row.rows(**values)


@pytest.mark.parametrize(
    ("chapter", "screen", "inputs", "sentence"),
    [
        ("tokens", "merges", {"word": " "}, "empty"),
        ("tokens", "merges", {"vocabulary_size": "many"}, "takes a number"),
        ("tokens", "lookup", {"ids": "1, 100"}, "no row 100"),
        ("tokens", "one-hot", {"words": "king"}, "single token"),
        ("tokens", "sentences", {"texts": "one line"}, "Give 2 to 24"),
        ("tokens", "ngrams", {"shortest": "5", "longest": "4"}, "smaller"),
        ("tokens", "next-word", {"text": "one"}, "needs 3 or more"),
        ("tokens", "next-word", {"followed": "walrus", "steps": "1"}, "None of the words"),
        ("tokens", "context", {"word": "cat"}, "does not contain the word 'cat'"),
        ("tokens", "sum", {"text": "1 " * 300}, "at most"),
        ("positions", "waves", {"base": "NaN"}, "takes a number"),
        ("positions", "rotation", {"pair": "60"}, "no pair 60"),
        ("positions", "bands", {"position": "99"}, "no position 99"),
        ("positions", "rope", {"pair": "9"}, "no pair 9"),
        ("positions", "alibi", {"head": "9"}, "no head 9"),
        ("positions", "buckets", {"max_distance": "8"}, "to be 9 or more"),
        ("positions", "order", {"other": "dog chased mouse"}, "same words"),
        ("positions", "order", {"one": "dog", "order": "drawn"}, "only one word"),
        ("heads", "cut", {"heads": "3"}, "does not divide"),
        ("heads", "join", {"layer": "6"}, "no layer 6 in this model: it has layers 0 to 5"),
        ("heads", "cost", {"heads": "7"}, "does not divide"),
    ],
)
def test_what_cannot_be_gets_a_sentence(
    opened: dict[str, Checkpoint], chapter: str, screen: str, inputs: dict[str, str], sentence: str
) -> None:
    with pytest.raises(HeadlightError, match=sentence):
        answer(opened, chapter, screen, **inputs)


@pytest.mark.parametrize("model", ["stories-causal", "stories-masked", "positions-decoder-none"])
def test_order_is_told_by_positions_or_by_a_mask(opened: dict[str, Checkpoint], model: str) -> None:
    said = sentences(answer(opened, "positions", "order", model=model))
    assert "equivariant" in said and "With a causal mask, the order is noticed even without positions" in said


def test_a_model_that_rotates_adds_nothing(opened: dict[str, Checkpoint]) -> None:
    assert "No positions are added here" in sentences(
        answer(opened, "tokens", "sum", model="stories-causal", text="a cat")
    )
    assert "adds no vectors" in sentences(answer(opened, "positions", "learned", model="stories-causal"))
    assert "computed, not learned" in sentences(answer(opened, "positions", "learned", model="dates"))


def test_two_channels_do_not_tell_positions_apart_for_long(opened: dict[str, Checkpoint]) -> None:
    said = sentences(answer(opened, "positions", "bands", dim="2", share="0", length="1024"))
    assert "15 and 725 are the nearest" in said


@pytest.mark.parametrize(
    ("chapter", "screen", "inputs", "told"),
    [
        ("tokens", "tokenizers", {"sentence": "The king"}, ("Words: 2 tokens", "Characters: 8 tokens")),
        ("positions", "waves", {"dim": "512"}, ("60,611 positions at base 10,000 and 617 at base 100",)),
        ("positions", "waves", {"other": "1000"}, ("at base 1,000: ",)),
        ("positions", "rotation", {"offset": "5"}, ("PE(7) becomes PE(12)",)),
    ],
)
def test_a_screen_tells_what_was_computed(
    opened: dict[str, Checkpoint], chapter: str, screen: str, inputs: dict[str, str], told: tuple[str, ...]
) -> None:
    shown = str(plain(answer(opened, chapter, screen, **inputs)))
    assert all(each in shown for each in told)
