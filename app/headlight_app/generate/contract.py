"""Requests of Generate: one step of a growing text, and the first view of the page."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from headlight_app.contract.parts import AttentionGroupAnswer, Candidate, ExampleAnswer, LayerHead, Token
from headlight_app.contract.question import Name, Position, Positions, Text
from headlight_app.contract.request import Answer, Lane, OpenedRequest, QuestionRequest
from headlight_app.contract.sampling import GeneratedTokens, Sampling


class TextToken(Token, frozen=True, kw_only=True):
    """A token of the text as it is read; `space_before`: there is a space before it that its text does not have."""

    space_before: bool


class ReadTokens(Struct, frozen=True, kw_only=True):
    """The tokens that the model has read."""

    text: tuple[TextToken, ...]
    source: tuple[TextToken, ...] | None


class CachedLayer(Struct, frozen=True, kw_only=True):
    """The cache of one layer for each token: a key and a value in each of its key/value heads; sizes are in bytes."""

    tokens: int
    key_value_heads: int
    key_dim: int
    value_dim: int
    element_size: int
    bytes: int


class KvCache(Struct, frozen=True, kw_only=True):
    """The key/value cache, and how many query heads there are. Without layers, `reason` says why nothing is kept.

    `layers` are those with keys and values of their own, of `model_layers`.
    """

    layers: tuple[CachedLayer, ...]
    model_layers: int
    heads: int
    reason: str


class StepAnswer(Struct, frozen=True, kw_only=True):
    """One step: candidates before and after the sampling settings, and the one that was `chosen`, of this `rank`.

    The settings leave `kept_count` tokens of the vocabulary, and the `random_number` chose among them; `entropy` is
    that of the model's probabilities, in bits. `tokens_read` were read anew. The `end_token` ends a text.
    """

    position: int
    chosen: int
    candidates: tuple[Candidate, ...]
    kept_count: int
    vocabulary: int
    rank: int
    random_number: float
    entropy: float
    attention_groups: tuple[AttentionGroupAnswer, ...]
    cache: KvCache
    tokens_read: int
    length: int
    context: int
    end_token: int | None
    notes: tuple[str, ...]
    milliseconds: float = 0.0


class GenerateAnswer(Answer, frozen=True, kw_only=True):
    """The next step, or None once all masks are filled; and the tokens of the text, where they were asked for.

    The numbers are float32: for each attention group, from its `offset` on, the weights of the query that was asked,
    [layer head key].
    """

    step: StepAnswer | None
    tokens: ReadTokens | None


class GenerateRequest(QuestionRequest[GenerateAnswer], frozen=True, kw_only=True):
    """The step after those in `generated`; `use_cache` reads only what has not been read before."""

    route: ClassVar[str] = "generate"

    sampling: Sampling = Sampling()
    generated: GeneratedTokens = ()
    use_cache: bool = True
    with_tokens: bool = False


class CopyingHead(Struct, frozen=True, kw_only=True):
    """What a head takes from one earlier occurrence of a token: its weight, and what it adds to the token's logit."""

    path: str
    head: int
    key: int
    weight: float
    logit: float


class PassageAnswer(Struct, frozen=True, kw_only=True):
    """A passage of the prompt: its text, the prompt `without` it, and what is `copied` and `moved` from it (logits)."""

    text: str
    without: str
    copied: float
    moved: float


class CopyingAnswer(Answer, frozen=True, kw_only=True):
    """Where a token comes from: the heads that took it from its earlier `occurrences`, and the prompt's passages.

    `source` is the passage from which most is copied, None where nothing is; `rest` is what no passage adds.
    """

    text: str
    occurrences: tuple[int, ...]
    heads: tuple[CopyingHead, ...]
    passages: tuple[PassageAnswer, ...]
    source: int | None
    rest: float


class CopyingRequest(QuestionRequest[CopyingAnswer], frozen=True, kw_only=True):
    """Where the `token` that follows those in `generated` comes from; it stands at `position`."""

    route: ClassVar[str] = "copying"
    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0

    generated: GeneratedTokens = ()
    position: Position
    token: Position


class GenerateReport(Struct, frozen=True, kw_only=True):
    """The component's report of its text: generated tokens belong to it alone, or to what is written of an image."""

    text: Text
    source: Text
    image: Name = ""
    masked_positions: Positions
    sampling: Sampling
    generated: GeneratedTokens


class GeneratePageAnswer(Answer, frozen=True, kw_only=True):
    """Examples, the first of which stands there until the person types, and the head to begin with.

    `languages` are the tokens of a translator's languages, with one of which a text may begin. `images` are the names
    of the pictures or recordings that a model may write of.
    """

    examples: tuple[ExampleAnswer, ...]
    default_head: LayerHead
    languages: tuple[str, ...]
    images: tuple[str, ...]
    writes_pdf: bool


class GeneratePageRequest(OpenedRequest[GeneratePageAnswer], frozen=True, kw_only=True):
    """All that Generate shows before the first answer."""

    route: ClassVar[str] = "generate_page"
