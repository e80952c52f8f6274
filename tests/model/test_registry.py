"""Registries: a known name passes, an unknown one is refused with the names that are possible."""

import pytest

from headlight.errors import UnknownNameError
from headlight.registry import Registry


def test_a_registry_requires_a_name_that_it_has() -> None:
    colours = Registry("colour", {"red": 1, "blue": 2})
    colours.require("blue")
    with pytest.raises(UnknownNameError, match=r"There is no colour 'rod'\. Did you mean 'red'\? Known: blue, red\."):
        colours.require("rod")
    with pytest.raises(UnknownNameError):
        Registry("colour", {}).require("red")
