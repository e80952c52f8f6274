"""Requests of Compare: two runs side by side, and the first view of the page."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from headlight_app.contract.difference import Difference
from headlight_app.contract.parts import (
    AttentionGroupAnswer,
    ExampleAnswer,
    Fields,
    LayerHead,
    MaskArgument,
    PartChoices,
    Token,
)
from headlight_app.contract.question import Name, NumberOrUnset, Question, Variant
from headlight_app.contract.request import Answer, OpenedRequest, Request
from headlight_app.contract.state import Label

PositionPair = tuple[int, int]
NamePairs = Annotated[tuple[tuple[Name, Name], ...], Meta(max_length=10_000)]


class SideAnswer(Struct, frozen=True, kw_only=True):
    """One of the two runs. Its notes are caveats about the run."""

    tokens: tuple[Token, ...]
    source_tokens: tuple[Token, ...] | None
    attention_groups: tuple[AttentionGroupAnswer, ...]
    notes: tuple[str, ...]


class ComparedAttention(Struct, frozen=True, kw_only=True):
    """Two attentions by their names in A and B, and the head (layer, head) that differs most.

    Of the two rows of views, the first has the distance of each head, the second the heads that differ most.
    """

    left_name: str
    right_name: str
    title: str
    most_distant: LayerHead
    rows: tuple[Fields, ...]


class CompareAnswer(Answer, frozen=True, kw_only=True):
    """Both sides, and the corresponding positions of their texts, and of their sources if both have one.

    `rows` are views of the predictions of both sides at each pair of `positions`. The numbers are the byte codes of all
    heads, those of A before those of B.
    """

    sides: tuple[SideAnswer, SideAnswer]
    alignment: str
    alignments: dict[str, tuple[PositionPair, ...]]
    attentions: tuple[ComparedAttention, ...]
    positions: tuple[PositionPair, ...]
    rows: tuple[Fields, ...]
    milliseconds: float


class CompareRequest(Request[CompareAnswer], frozen=True, kw_only=True):
    """Two questions to compare; without an `alignment`, the one that suits the texts is used.

    `query` is a position in A.
    """

    route: ClassVar[str] = "compare"

    sides: tuple[Question, Question]
    alignment: Label = ""
    query: NumberOrUnset = -1

    def questions(self) -> tuple[Question, ...]:
        """Both."""
        return self.sides


class Preset(Struct, frozen=True, kw_only=True):
    """A suggested comparison: its title, the text of side A (None: the current text), and the difference of B."""

    title: str
    text: str | None = None
    side_b: Difference = Difference()


class ModelRow(Struct, frozen=True, kw_only=True):
    """A model to choose for side B: `kind` is the task of its type of model, `purpose` that of this model.

    `trained` are the parts it was trained with; a model that `has_source` has an encoder with a text of its own.
    `trained_models` maps positional encodings to otherwise identical models trained with them.
    """

    name: str
    title: str
    kind: str
    purpose: str
    trained: Variant
    has_source: bool
    trained_models: dict[str, str]


class ComparePageAnswer(Answer, frozen=True, kw_only=True):
    """The page before the first answer. `parts` are the replaceable parts, by the fields of a Variant.

    `example` is side A's text until the visitor types, and `default_side_b` is B's difference until one is chosen.
    `alignments` are titles by name. A model that `reads_chat` has a chat template.
    """

    reads_chat: bool
    example: ExampleAnswer
    default_side_b: Difference
    presets: tuple[Preset, ...]
    parts: dict[str, PartChoices]
    alignments: dict[str, str]
    mask_arguments: dict[str, MaskArgument]


class ComparePageRequest(OpenedRequest[ComparePageAnswer], frozen=True, kw_only=True):
    """Everything that Compare shows before the first answer.

    `others` are names and titles of models to compare with the open model. `trained_models` are positional encodings,
    each with the name of a model trained with it and otherwise identical to the open model.
    """

    route: ClassVar[str] = "compare_page"

    others: NamePairs = ()
    trained_models: NamePairs = ()
