"""A cancelled run ends between two values and leaves nothing behind."""

import pytest

from headlight import run
from headlight.cancellation import Cancelled, cancellable
from tests.model import toys


def test_a_run_stops_when_it_is_cancelled() -> None:
    model, tokenizer = toys.decoder(), toys.causal()
    whole = run(model, tokenizer, "the cat sat")
    answers = iter([False] * 5 + [True] * 100)
    with pytest.raises(Cancelled), cancellable(lambda: next(answers)):
        run(model, tokenizer, "the cat sat")
    again = run(model, tokenizer, "the cat sat")
    assert all((again[path] == value).all() for path, value in whole.values.items())


def test_nothing_is_cancelled_outside_of_a_block() -> None:
    model, tokenizer = toys.decoder(), toys.causal()
    with cancellable(lambda: False):
        run(model, tokenizer, "the cat")
    run(model, tokenizer, "the cat")
