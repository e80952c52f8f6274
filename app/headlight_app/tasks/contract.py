"""Requests of Tasks besides those of Explore: token labels, effects on a label, sentence similarity, beam search."""

from __future__ import annotations

from typing import Annotated, ClassVar, Generic

from msgspec import Meta, Struct

from headlight_app.contract.answer_numbers import AnswerNumbers
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
    """Explore's own data, the poolings, and the pooling that the model was trained with."""

    poolings: tuple[PoolingRow, ...]
    trained_pooling: str


class TasksPageRequest(OpenedRequest[TasksPageAnswer], frozen=True, kw_only=True):
    """All data that Tasks needs before the first answer."""

    route: ClassVar[str] = "tasks_page"

    task: Label


class TokenLabelsAnswer(AnswerNumbers, frozen=True, kw_only=True):
    """The likeliest labels of each token, the likeliest ones `as_trained`, and the names of all labels.

    A likeliest label `as_trained` is empty if labels do not exclude each other and none is likelier than not.
    """

    labels: tuple[tuple[Candidate, ...], ...]
    as_trained: tuple[str, ...]
    changed: bool
    names: tuple[str, ...]


class TokenLabelsRequest(QuestionRequest[TokenLabelsAnswer], frozen=True, kw_only=True):
    """The likeliest labels of each token; all labels if `every_label`."""

    route: ClassVar[str] = "token_labels"

    every_label: bool = False


class LabelEffectsAnswer(AnswerNumbers, frozen=True, kw_only=True):
    """A label, and the `positions` of the tokens that were left out.

    Its log-odds (or scores) follow as float32: with all, without each token, and without each head, [layer head].
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
        """Both sentences."""
        return *QuestionRequest.texts(self), self.other_text


class SentenceSimilarityAnswer(Answer, frozen=True, kw_only=True):
    """The tokens of both sentences, and the cosine of their vectors; float32 numbers follow, which sum to the cosine.

    They are the contributions of pairs of tokens, [token, token of the other]. `is_told`: whether the model's files
    specify the pooling (`1_Pooling`); if not, the model was not trained for sentence vectors, and the mean is taken.
    """

    tokens: tuple[str, ...]
    other_tokens: tuple[str, ...]
    cosine: float
    pooling: str
    normalized: bool
    is_told: bool


class SentenceSimilarityRequest(SimilarityRequest[SentenceSimilarityAnswer], frozen=True, kw_only=True):
    """The similarity of two sentences, and the contribution of each pair of tokens."""

    route: ClassVar[str] = "sentence_similarity"


class SimilarityHeadsAnswer(Answer, frozen=True, kw_only=True):
    """The cosine with all heads; float32 numbers follow, [layer head]: the cosine with a head off in both sentences."""

    cosine: float
    layers: int
    heads: int


class SimilarityHeadsRequest(SimilarityRequest[SimilarityHeadsAnswer], frozen=True, kw_only=True):
    """The similarity of two sentences without each head."""

    route: ClassVar[str] = "similarity_heads"
    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0


class Beam(Struct, frozen=True, kw_only=True):
    """A beam: the index of its parent in the previous step, and its new token; a finished beam adds no token."""

    parent: int
    token: str
    log_probability: float
    score: float
    finished: bool


class BeamSearchAnswer(Answer, frozen=True, kw_only=True):
    """The beams kept after each step, and the texts of the final ones, the best first."""

    steps: tuple[tuple[Beam, ...], ...]
    texts: tuple[str, ...]
    length_penalty: float


class BeamSearchRequest(QuestionRequest[BeamSearchAnswer], frozen=True, kw_only=True):
    """A beam search for the source of a question; it ignores the question's text."""

    route: ClassVar[str] = "beam_search"
    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0

    beam_width: Annotated[int, Meta(ge=1, le=MAX_BEAMS, description=f"a number from 1 to {MAX_BEAMS}")] = 1
