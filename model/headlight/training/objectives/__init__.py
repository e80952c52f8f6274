"""Training objectives: the rows of tokens in a batch, and their targets.

Objectives on texts read running text; objectives on examples read a text and its answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from headlight.data.corpus import TokenizedText
from headlight.registry import Registry
from headlight.text.tokenizer import Tokenizer
from headlight.training.objectives.batch import Batch
from headlight.training.objectives.examples import (
    BagOfWordsDistillation,
    Completion,
    ExampleObjective,
    MaskedExamples,
    SequenceClassification,
    SequenceToSequence,
    TokenClassification,
)
from headlight.training.objectives.texts import CausalLanguageModeling, MaskedLanguageModeling, UnmaskedLanguageModeling


@runtime_checkable
class Objective(Protocol):
    """Batches of an objective; `config_values` are the Config fields that it sets."""

    config_values: ClassVar[dict[str, Any]]

    def batch(self, generator: np.random.Generator, rows: int, context: int, schedule_factor: float = 1.0) -> Batch:
        """A batch to train on.

        `schedule_factor` is the learning-rate schedule's value for the step, from 1 down to 0.
        """
        ...

    def validation_batch(self, source: Any, rows: int, context: int) -> Batch:
        """A batch to evaluate on, always the same, from a held-out text or a task's held-out examples."""
        ...


@runtime_checkable
class TextObjective(Objective, Protocol):
    """An objective on texts, sampled in proportion to epochs and length."""

    tokenizer_kind: ClassVar[str]
    special_tokens: ClassVar[tuple[str, ...]]
    separates_documents: ClassVar[bool]

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[TokenizedText], options: dict[str, float]) -> None: ...


TEXT_OBJECTIVES: Registry[type[TextObjective]] = Registry(
    "objective on texts",
    {"causal": CausalLanguageModeling, "unmasked": UnmaskedLanguageModeling, "masked": MaskedLanguageModeling},
)
EXAMPLE_OBJECTIVES: Registry[type[ExampleObjective]] = Registry(
    "objective on examples",
    {
        "completion": Completion,
        "masked-examples": MaskedExamples,
        "sequence-classification": SequenceClassification,
        "bag-of-words-distillation": BagOfWordsDistillation,
        "token-classification": TokenClassification,
        "sequence-to-sequence": SequenceToSequence,
    },
)
OBJECTIVES: Registry[type[Objective]] = Registry("objective", {**TEXT_OBJECTIVES, **EXAMPLE_OBJECTIVES})
