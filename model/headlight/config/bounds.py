"""Maximum sizes, far above any real model: a hostile file can neither overflow a product nor cause an endless loop."""

from __future__ import annotations

from collections.abc import Mapping

from headlight.errors import ConfigError

MAX_TOKENS = 2**31  # of a vocabulary or a text
MAX_LAYERS = 2**10
MAX_WIDTH = 2**20  # channels, neurons or heads
LARGEST_LIMIT = 1e30  # for float32, whose largest number is below 3.5e38


def check_sizes(group: object, largest: Mapping[str, int], path: str = "") -> None:
    """Raise ConfigError unless these fields are whole numbers from 0 to `largest`; `path` precedes their names."""
    for name, most in largest.items():
        size = getattr(group, name)
        if type(size) is not int or not 0 <= size <= most:
            raise ConfigError(f"{path}{name} is {size!r}; it must be a whole number, at most {most:,}.")
