"""Screens that train and count on the spot. Measured times are shown but never asserted."""

import pytest
import torch

from headlight.cancellation import Cancelled, cancellable
from headlight.course.block.parameters import CALCULATOR, counted_multiplications, counted_parameters
from headlight.course.block.recurrence.path_length import (
    KERNEL,
    NETWORKS,
    SYMBOLS,
    accuracy,
    influence,
    multiplications,
    reach,
    recall_batch,
    sequential_steps,
)
from headlight.course.block.recurrence.path_length import train as train_recall
from headlight.course.block.switch_off import CONDITIONS, character_ids, train
from headlight.errors import InputError
from headlight.nn.transformer import Transformer, meta_model
from headlight.views.kinds import Verdict
from tests.model import toys


def test_gradients_fade_without_residuals_and_norms() -> None:
    runs = {name: train("the cat sat on the mat", 6, 3, 1, *parts) for name, parts in CONDITIONS.items()}
    first = {name: training.gradients[0] for name, training in runs.items()}
    assert first["neither"] < 1e-3 * first["both"] and first["no norm"] > first["neither"]
    assert all(len(training.losses) == 3 and len(training.gradients) == 6 for training in runs.values())


def test_a_seed_gives_the_same_run() -> None:
    first, second, other = (train("abcab", 2, 4, seed, True, True).losses for seed in (1, 1, 2))
    assert first == second != other


def test_a_text_of_one_character_teaches_nothing() -> None:
    with pytest.raises(InputError, match="one kind of character"):
        character_ids("aaaa")
    assert sorted(set(character_ids("ab").tolist())) == [0, 1, 2]  # the space between repetitions is the third


def test_training_stops_where_nobody_waits() -> None:
    with cancellable(lambda: True), pytest.raises(Cancelled):
        train("abcab", 2, 4, 1, True, True)


def test_rows_hold_one_symbol_at_its_distance() -> None:
    distances = torch.tensor([3, 1, 5])
    ids, symbols = recall_batch(distances, torch.Generator().manual_seed(0))
    assert ids.shape == (3, 6) and ((ids < SYMBOLS).sum(1) == 1).all()
    assert ids[torch.arange(3), 5 - distances].tolist() == symbols.tolist()


def test_how_far_each_network_can_see() -> None:
    torch.manual_seed(0)
    reach = {name: influence(network.make(2), 12, 0) > 0 for name, network in NETWORKS.items()}
    assert reach["attention"].all() and reach["recurrent"].all()
    assert int(reach["convolution"].nonzero().max()) == 2 * (KERNEL - 1)


@pytest.mark.full
def test_attention_learns_what_a_convolution_cannot_reach() -> None:
    torch.manual_seed(0)
    learned = {}
    for name in ("attention", "convolution"):
        network = NETWORKS[name].make(2)
        train_recall(network, 10, 80, 0)
        learned[name] = accuracy(network, 10, 0)
    assert learned["attention"] > 0.9 and learned["convolution"] < 0.4


@pytest.mark.parametrize("feed_forward", ["none", "relu", "swiglu"])
@pytest.mark.parametrize("tied", ["yes", "no"])
def test_the_formulas_are_what_the_module_has(feed_forward: str, tied: str) -> None:
    values = CALCULATOR.parse({"layers": "2", "d_model": "64", "length": "64", "vocabulary": "100"})
    answer = CALCULATOR.rows(**{**values, "feed_forward": feed_forward, "tied": tied})
    assert all(p.good for row in answer for p in row.views if isinstance(p, Verdict))


def test_what_is_counted_is_what_a_real_module_has() -> None:
    model = toys.decoder()
    assert sum(counted_parameters(model).values()) == sum(p.numel() for p in model.parameters())
    assert counted_parameters(model) == counted_parameters(meta_model(model.config))
    deeper = Transformer(model.config.replace(layers=3))
    block = sum(p.numel() for p in deeper.stack("decoder").blocks[0].parameters())
    assert sum(counted_parameters(deeper).values()) - sum(counted_parameters(model).values()) == block
    assert counted_multiplications(meta_model(deeper.config)) > counted_multiplications(meta_model(model.config))


def test_a_width_that_heads_do_not_divide_gets_a_sentence() -> None:
    with pytest.raises(InputError, match="does not divide into 7 equal heads"):
        CALCULATOR.rows(**CALCULATOR.parse({"heads": "7"}))


def test_only_a_recurrent_network_has_to_wait() -> None:
    steps = {name: [network.steps_in_a_row(n, 2) for n in (8, 16)] for name, network in NETWORKS.items()}
    recurrent = {"recurrent": [9, 17], "recurrent with gates": [9, 17]}
    assert steps == {"attention": [2, 2], "convolution": [2, 2]} | recurrent
    network = NETWORKS["recurrent"].make(1)  # 32 x 64 and 64 x 64 within, 64 x 16 to the vocabulary
    assert multiplications(network, 10) == 10 * (32 * 64 + 64 * 64 + 64 * 16)
    assert len(sequential_steps("128", 1)) == 3


def test_influence_is_lost_step_by_step_and_not_layer_by_layer() -> None:
    one, four = reach(1, 16, seed=1), reach(4, 16, seed=1)
    assert float(one[2] / one[16]) > 1_000 > float(one[2] / four[2])
