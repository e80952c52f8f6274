"""The key/value cache in words: its size, and what shared heads save."""

from __future__ import annotations

from dataclasses import replace

from headlight import Config
from headlight.generation.generate import CacheSize
from headlight_app.generate.answers.cache import cell_count, describe_cache
from tests.model import toys

LAYER = CacheSize("decoder.0.self", key_value_heads=2, tokens=10, key_dim=8, value_dim=8, element_size=4)


def config(**changes: int) -> Config:
    return toys.config(**{"heads": 6, "d_model": 48, "context_length": 256} | changes)


def test_the_strips_double_in_length_up_to_the_context() -> None:
    assert [cell_count(length, 150) for length in (1, 32, 33, 100, 200)] == [32, 32, 64, 128, 150]


def test_the_numbers_are_counted_and_the_savings_of_shared_heads() -> None:
    told = describe_cache(config(), [LAYER, LAYER])
    assert "2 layers × 2 heads × (8 + 8) = 64 numbers of 4 bytes, 256 bytes" in told
    assert "Cached for 10 tokens: 2.56 kB; for 256, the model's maximum, 65.5 kB" in told
    assert "6 query heads share 2 key/value heads: " in told and told.endswith("7.68 kB, 3 times as much.")
    assert "share" not in describe_cache(config(heads=2), [LAYER, LAYER])


def test_unlike_layers_are_told_apart() -> None:
    wide = replace(LAYER, key_value_heads=1, key_dim=16, value_dim=16)
    told = describe_cache(config(layers=5), [LAYER, LAYER, wide])
    assert "in every head of 3 of 5 layers (the others share them)" in told
    assert "2 layers × 2 heads × (8 + 8) + 1 layer × 1 head × (16 + 16) = 96 numbers of 4 bytes, 384 bytes" in told
    assert "6 query heads share 2 or 1 key/value heads: " in told and told.endswith("15.4 kB, 4 times as much.")
