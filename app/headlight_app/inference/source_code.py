"""The source code and formulas of a model's parts, read from the running program."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from textwrap import dedent
from typing import Any

from headlight.config import Config
from headlight.nn.attention import Attention
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS, AttentionFunction, score_formula
from headlight.nn.layers import PatchEmbedding
from headlight.nn.masks import MASKS
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.nn.sound import SoundEmbedding
from headlight.sound.spectrogram import log_mel_spectrogram
from headlight_app.contract.parts import CodeSection


@lru_cache(maxsize=32)
def code_sections(config: Config) -> tuple[CodeSection, ...]:
    """The parts that compute the attention of a model with this config."""
    attention_function = ATTENTION_FUNCTIONS[config.attention_function]
    sections = [
        CodeSection("Attention", attention_function.formula, source_of(Attention.forward)),
        CodeSection(
            f"Attention function: {attention_function.title}",
            score_formula(config),
            f"{source_of(type(attention_function))}\n\n{source_of(AttentionFunction)}",
        ),
        positional_encoding_section(config.positional_encoding),
    ]
    if config.reads_image:
        sections.append(CodeSection("Patches", "", source_of(PatchEmbedding)))
    if config.reads_sound:
        sections.append(CodeSection("Spectrogram", "", source_of(log_mel_spectrogram)))
        sections.append(CodeSection("Frames", "", source_of(SoundEmbedding)))
    for mask in config.masks:
        name = mask.partition(":")[0]
        sections.append(CodeSection(f"Mask: {MASKS[name].title}", MASKS[name].formula, source_of(MASKS[name].allowed)))
    return tuple(sections)


def positional_encoding_section(name: str) -> CodeSection:
    """A positional encoding by its name. Raises UnknownNameError if there is none."""
    encoding = POSITIONAL_ENCODINGS[name]
    return CodeSection(f"Positional encoding: {encoding.title}", encoding.formula, source_of(encoding))


def source_of(function_or_class: Callable[..., Any] | type) -> str:
    """The source of a class or function."""
    return dedent(inspect.getsource(function_or_class))
