"""Requests of Tasks beside those of Explore: labels of tokens, the support of a label, and the beams of a search."""

from __future__ import annotations

from typing import Annotated, ClassVar, Generic

from msgspec import Meta, Struct

from headlight_app.contract.parts import Candidate
from headlight_app.contract.question import NumberOrUnset, Text
from headlight_app.contract.request import Answer, Lane, OpenedRequest, QuestionRequest
from headlight_app.contract.state import MAX_BEAMS, Label
from headlight_app.explore.contract import A_co, ExplorePageAnswer


class PoolingRow(Struct, frozen=True, kw_only=True):
    """A way to make one vector of all tokens."""

    name: str
    title: str


class TasksPageAnswer(ExplorePageAnswer, frozen=True, kw_only=True):
    """Explore's own data, the ways to pool, and the one that the model was trained with."""

    poolings: tuple[PoolingRow, ...]
    trained_pooling: str


class TasksPageRequest(OpenedRequest[TasksPageAnswer], frozen=True, kw_only=True):
    """All that Tasks shows before the first answer."""

    route: ClassVar[str] = "tasks_page"

    task: Label


class TokenLabelsAnswer(Answer, frozen=True, kw_only=True):
    """The likeliest labels of each token, and which was the likeliest `as_trained`; `names` are those of all labels."""

    labels: tuple[tuple[Candidate, ...], ...]
    as_trained: tuple[str, ...]
    changed: bool
    names: tuple[str, ...]


class TokenLabelsRequest(QuestionRequest[TokenLabelsAnswer], frozen=True, kw_only=True):
    """The likeliest labels of each token; `every_label` asks for all."""

    route: ClassVar[str] = "token_labels"

    every_label: bool = False


class LabelEffectsAnswer(Answer, frozen=True, kw_only=True):
    """A label, and the `positions` of the tokens that were left out.

    Its log-odds follow as float32: with all, without each token, and without each head, [layer head].
    """

    label: int
    text: str
    positions: tuple[int, ...]
    layers: int
    heads: int


class LabelEffectsRequest(QuestionRequest[LabelEffectsAnswer], frozen=True, kw_only=True):
    """The tokens that support a label of the whole text; a `token` of -1 is the likeliest label."""

    route: ClassVar[str] = "label_effects"
    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0

    token: NumberOrUnset = -1


class SimilarityRequest(QuestionRequest[A_co], Generic[A_co], frozen=True, kw_only=True):
    """A request about two sentences: the text of the question, and another one, read with the same edits."""

    other_text: Text

    def texts(self) -> tuple[str, ...]:
        """Both."""
        return *QuestionRequest.texts(self), self.other_text


class SentenceSimilarityAnswer(Answer, frozen=True, kw_only=True):
    """The tokens of both sentences, and the cosine of their vectors; float32 numbers follow that sum to it.

    They are what each pair of tokens adds, [token, token of the other]. Vectors are pooled as the model's `1_Pooling`
    says; it `is_told` where there is such a file, else the mean is taken of a model that was trained otherwise.
    """

    tokens: tuple[str, ...]
    other_tokens: tuple[str, ...]
    cosine: float
    pooling: str
    normalized: bool
    is_told: bool


class SentenceSimilarityRequest(SimilarityRequest[SentenceSimilarityAnswer], frozen=True, kw_only=True):
    """How similar two sentences are, and which pairs of tokens make them so."""

    route: ClassVar[str] = "sentence_similarity"


class SimilarityHeadsAnswer(Answer, frozen=True, kw_only=True):
    """The cosine with all heads; float32 numbers follow, [layer head]: that without each head, in both sentences."""

    cosine: float
    layers: int
    heads: int


class SimilarityHeadsRequest(SimilarityRequest[SimilarityHeadsAnswer], frozen=True, kw_only=True):
    """How similar two sentences are without each head."""

    route: ClassVar[str] = "similarity_heads"
    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0


class Beam(Struct, frozen=True, kw_only=True):
    """A beam: the number of the beam before it that it continues, and by which token; one that rests has none."""

    parent: int
    token: str
    log_probability: float
    score: float
    finished: bool


class BeamSearchAnswer(Answer, frozen=True, kw_only=True):
    """The beams that are kept after each step, and the texts of the last ones, the best first."""

    steps: tuple[tuple[Beam, ...], ...]
    texts: tuple[str, ...]
    length_penalty: float


class BeamSearchRequest(QuestionRequest[BeamSearchAnswer], frozen=True, kw_only=True):
    """A beam search for the source of a question, whose text is written anew."""

    route: ClassVar[str] = "beam_search"
    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0

    beam_width: Annotated[int, Meta(ge=1, le=MAX_BEAMS, description=f"a number from 1 to {MAX_BEAMS}")] = 1
