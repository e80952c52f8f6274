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
from model.nn.attention_functions import ATTENTION_FUNCTIONS, hook_point_formula
from model.nn.masks import MASKS
from model.nn.patch_embedding import PatchEmbedding
from model.nn.positional_encodings import POSITIONAL_ENCODINGS


@dataclass(frozen=True)
class CodeSection:
    """A piece of the running program: its title, the formula where it has one, and its source."""

    title: str
    formula: str
    code: str


@lru_cache(maxsize=32)
def code_sections(config: Config) -> tuple[CodeSection, ...]:
    """The parts that make attention in a model with this config."""
    kernel, position = ATTENTION_FUNCTIONS[config.attention_function], POSITIONAL_ENCODINGS[config.positional_encoding]
    kernel_class = kernel if inspect.isclass(kernel) else type(kernel)
    sections = [
        CodeSection("Attention", hook_point_formula("weights", config), source_of(Attention.forward)),
        CodeSection(
            f"Attention function: {config.attention_function}",
            hook_point_formula("scores", config),
            source_of(kernel_class),
        ),
        CodeSection(f"Positional encoding: {config.positional_encoding}", position.formula, source_of(position)),
    ]
    if config.image.channels:
        sections.append(CodeSection("Patches", "", source_of(PatchEmbedding)))
    for mask in config.masks:
        name = mask.partition(":")[0]
        sections.append(CodeSection(f"Mask: {name}", MASKS[name].formula, source_of(MASKS[name].allowed)))
    return tuple(sections)


def source_of(function_or_class: Callable[..., Any] | type) -> str:
    """The source of a class or function as it runs here."""
    return dedent(inspect.getsource(function_or_class))
