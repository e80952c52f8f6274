"""Shows the very code of the part in use."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from textwrap import dedent
from typing import Any

from model.config import Config
from model.nn.attention import Attention
from model.nn.attention_functions import KERNELS
from model.nn.masks import MASKS
from model.nn.patch_embedding import Patches
from model.nn.positional_encodings import POSITIONS
from model.nn.sites import SITES


@dataclass(frozen=True)
class Part:
    """A piece of the running program: its title, the formula where it has one, and its source."""

    title: str
    formula: str
    code: str


@lru_cache(maxsize=32)
def parts(config: Config) -> tuple[Part, ...]:
    """The parts that make attention in a model with this config."""
    kernel, position = KERNELS[config.kernel], POSITIONS[config.position]
    kind = kernel if inspect.isclass(kernel) else type(kernel)
    found = [
        Part("Attention", SITES["weights"].formula, code(Attention.forward)),
        Part(f"Kernel: {config.kernel}", SITES["scores"].formula, code(kind)),
        Part(f"Positions: {config.position}", "", code(position)),
    ]
    if config.picture.channels:
        found.append(Part("Patches", "", code(Patches)))
    for mask in config.masks:
        name = mask.partition(":")[0]
        found.append(Part(f"Mask: {name}", SITES["mask"].formula, code(MASKS[name])))
    return tuple(found)


def code(part: Callable[..., Any] | type) -> str:
    """The source of a class or function as it runs here."""
    return dedent(inspect.getsource(part))
