"""Models that differ only in the positional encoding they were trained with."""

from headlight_app.engine.models import AvailableModel, trained_with
from tests.model import toys


def named(name: str, series: str, **choices: str) -> AvailableModel:
    return AvailableModel(name, name, "", "", toys.config(**choices), series)


def test_models_of_a_series_are_known_by_their_encoding() -> None:
    rope, alibi = (named(encoding, "s", positional_encoding=encoding) for encoding in ("rope", "alibi"))
    entries = (
        rope,
        alibi,
        named("of another series", "t", positional_encoding="learned"),
        named("of none", "", positional_encoding="sinusoidal"),
        named("with another norm", "s", positional_encoding="none", norm="layernorm"),
    )
    assert trained_with(rope, entries) == {"alibi": "alibi"}
    assert trained_with(alibi, entries) == {"rope": "rope"}
    assert trained_with(entries[3], entries) == {}, "models without a series have no series in common"
