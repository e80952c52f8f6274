"""Encoder-decoders that rewrite letters: the counts of right answers agree with the networks' outputs."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from headlight.cancellation import Cancelled, cancellable
from headlight.course.block.recurrence.attention_alone import (
    LETTERS,
    NETWORKS,
    START,
    TASKS,
    accuracy,
    attention_alone,
    draw_examples,
    parse_letters,
    train,
    write,
)
from headlight.course.fitting import parameter_count
from headlight.errors import InputError
from headlight.views.kinds import TableView
from headlight.views.rows import as_rows


@given(st.text(LETTERS, min_size=2, max_size=23), st.sampled_from(sorted(TASKS)))
def test_the_answers_of_the_tasks(letters: str, task: str) -> None:
    ids = parse_letters(f" {letters.upper()} ")
    wanted = {"reverse": letters[::-1], "copy": letters, "sort": "".join(sorted(letters))}
    assert "".join(LETTERS[each] for each in TASKS[task][1](ids)[0]) == wanted[task]


@pytest.mark.parametrize("text", ["a", "cab!", "zebra", "a" * 24, "b <b>"])
def test_other_letters_get_a_sentence(text: str) -> None:
    with pytest.raises(InputError, match=r"letters.*\.$"):
        parse_letters(text)


def test_the_networks_are_about_as_large() -> None:
    sizes = [parameter_count(make()) for make in NETWORKS.values()]
    assert max(sizes) < 1.05 * min(sizes)


@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_a_letter_does_not_depend_on_later_ones_and_weights_add_up(name: str) -> None:
    torch.manual_seed(0)
    network = NETWORKS[name]()
    source, _, written = draw_examples("reverse", 2, 5, torch.Generator().manual_seed(1))
    whole, cut = network(source, written), network(source, written[:, :3])
    torch.testing.assert_close(whole[:, :3], cut, atol=1e-5, rtol=1e-4)
    weights = network.look(source, written)
    assert (weights is None) == (name == "recurrence")
    if weights is not None:
        torch.testing.assert_close(weights.sum(-1), torch.ones(2, 5))


@pytest.mark.full
def test_what_is_counted_right_is_what_is_written() -> None:
    torch.manual_seed(0)
    network = NETWORKS["attention alone"]()
    train(network, "copy", 3, 40, 1)
    source, answer, written = draw_examples("copy", 200, 3, torch.Generator().manual_seed(1_000_001))
    assert written[:, 0].eq(START).all() and functional.pad(answer[:, :-1], (1, 0), value=START).equal(written)
    asked = network(source, written).argmax(-1)
    for each, right, counted in zip(source[:40], answer, asked, strict=False):
        assert write(network, each[None]).equal(right) == counted.equal(right)
    assert accuracy(network, "copy", 3, 1) == pytest.approx(float((asked == answer).all(1).float().mean()))


def test_a_seed_gives_the_same_answer_and_nobody_waits_in_vain() -> None:
    def learned(seed: int) -> TableView:
        picture = as_rows(attention_alone("reverse", 3, 20, "cab", seed))[3].views[0]
        assert isinstance(picture, TableView)
        return picture

    assert learned(1) == learned(1)
    with cancellable(lambda: True), pytest.raises(Cancelled):
        attention_alone("reverse", 3, 20, "cab", 1)
