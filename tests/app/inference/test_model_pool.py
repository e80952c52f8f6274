"""Open models stay within the memory limit, whatever models are requested."""

import gc
from pathlib import Path

import pytest

from headlight.checkpoints import Checkpoint
from headlight.errors import CheckpointError
from headlight.nn.transformer import Transformer, variant
from headlight_app.contract.question import Variant
from headlight_app.inference.model_pool import ModelPool, PooledModel
from tests.model import toys

SIZE = 100


def key(name: str) -> tuple[Path, int, str]:
    return Path(name), 1, "cpu"


def fresh() -> Checkpoint:
    return Checkpoint(toys.decoder(), toys.causal(), "")


def open_model(models: ModelPool, name: str) -> PooledModel:
    return models.get(key(name), SIZE, fresh)


def held(models: ModelPool) -> int:
    gc.collect()
    return models.reserved_bytes


def test_a_model_is_opened_once() -> None:
    models = ModelPool(3 * SIZE)
    assert open_model(models, "a") is open_model(models, "a")


def test_the_least_recently_used_goes_first() -> None:
    models = ModelPool(2 * SIZE)
    for name in ("a", "b", "a", "c"):
        open_model(models, name)
    assert set(models.models) == {key("a"), key("c")}
    assert held(models) == 2 * SIZE


def test_a_model_larger_than_all_may_be_is_refused_before_it_is_open_model() -> None:
    def never() -> Checkpoint:
        raise AssertionError("opened")

    models = ModelPool(SIZE)
    kept = open_model(models, "a")
    with pytest.raises(CheckpointError, match="allowed here"):
        models.get(key("b"), SIZE + 1, never)
    assert open_model(models, "a") is kept, "no open model was dropped for it"


def test_what_is_in_use_counts_after_it_was_given_away() -> None:
    models = ModelPool(SIZE)
    used = open_model(models, "a").checkpoint.model
    with pytest.raises(CheckpointError, match="in use"):
        open_model(models, "b")
    assert held(models) == SIZE
    del used
    open_model(models, "b")
    assert held(models) == SIZE


def test_another_wiring_in_use_holds_the_weights_it_shares() -> None:
    models = ModelPool(SIZE)
    first = open_model(models, "a")

    def make() -> Transformer:
        return variant(first.checkpoint.model, positional_encoding="alibi")

    used = models.variant(first, Variant(positional_encoding="alibi"), make)
    assert models.variant(first, Variant(positional_encoding="alibi"), make) is used
    del first
    with pytest.raises(CheckpointError, match="in use"):
        open_model(models, "b")
    del used
    assert open_model(models, "b")


def test_room_is_made_of_what_nothing_uses_any_more_though_it_refers_to_itself() -> None:
    models = ModelPool(SIZE)
    circle = [open_model(models, "a").checkpoint.model]
    circle.append(circle)  # type: ignore[arg-type]
    del circle
    assert open_model(models, "b")


def test_a_failed_opening_leaves_nothing_behind() -> None:
    def broken() -> Checkpoint:
        raise CheckpointError("broken")

    models = ModelPool(SIZE)
    for _ in range(3):
        with pytest.raises(CheckpointError, match="broken"):
            models.get(key("a"), SIZE, broken)
    assert held(models) == 0
    assert open_model(models, "a")


def test_thirty_visitors_with_models_of_their_own_stay_within_the_budget() -> None:
    models, most = ModelPool(4 * SIZE), 0

    def load() -> Checkpoint:
        nonlocal most
        most = max(most, models.reserved_bytes + SIZE)
        return fresh()

    for turn in range(3):
        for number in range(30):
            models.get(key(f"{number} {turn}"), SIZE, load)
    assert most == 4 * SIZE
