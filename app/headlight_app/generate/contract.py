"""Requests of Generate: one step of a growing text, and the first view of the page."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from headlight_app.contract.parts import AttentionGroupAnswer, Candidate, ExampleAnswer, LayerHead, Token
from headlight_app.contract.question import Flag, Name, Position, Positions, Text
from headlight_app.contract.request import Answer, Lane, OpenedRequest, QuestionRequest
from headlight_app.contract.sampling import GeneratedTokens, Sampling


class TextToken(Token, frozen=True, kw_only=True):
    """A token of the text as read; `space_before`: a space precedes it that is not in the token's text."""

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
    """The key/value cache, and the number of query heads. Without layers, `reason` says why nothing is cached.

    `layers` are the layers with keys and values of their own, out of `model_layers`.
    """

    layers: tuple[CachedLayer, ...]
    model_layers: int
    heads: int
    reason: str


class StepAnswer(Struct, frozen=True, kw_only=True):
    """One step: candidates before and after the sampling settings, and the `chosen` token with its `rank`.

    The settings leave `kept_count` tokens of the vocabulary, and the `random_number` chose among them. `entropy` is the
    entropy of the model's probabilities in bits. `tokens_read` counts the tokens read in this step. Each of the
    `end_tokens` ends a text.
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
    end_tokens: tuple[int, ...]
    notes: tuple[str, ...]
    milliseconds: float = 0.0


class GenerateAnswer(Answer, frozen=True, kw_only=True):
    """The next step, or None once all masks are filled; and the tokens of the text if requested.

    The numbers are float32: for each attention group, from its `offset` on, the weights of the step's query, [layer
    head key].
    """

    step: StepAnswer | None
    tokens: ReadTokens | None


class GenerateRequest(QuestionRequest[GenerateAnswer], frozen=True, kw_only=True):
    """The step after those in `generated`; with `use_cache`, only tokens that are not cached are read."""

    route: ClassVar[str] = "generate"

    sampling: Sampling = Sampling()
    generated: GeneratedTokens = ()
    use_cache: bool = True
    with_tokens: bool = False


class CopyingHead(Struct, frozen=True, kw_only=True):
    """A head that copies from an earlier occurrence of a token: its weight, and its addition to the token's logit."""

    path: str
    head: int
    key: int
    weight: float
    logit: float


class PassageAnswer(Struct, frozen=True, kw_only=True):
    """A passage of the prompt: its text, the prompt `without` it, and the logits `copied` and `moved` from it.

    A passage of a chat is of the text that its template made, so there is no prompt without it.
    """

    text: str
    without: str | None
    copied: float
    moved: float


class CopyingAnswer(Answer, frozen=True, kw_only=True):
    """Where a token comes from: the heads that copied it from its earlier `occurrences`, and the prompt's passages.

    `source` is the most copied passage, None if nothing is copied; `rest` is the contribution from outside the
    passages.
    """

    text: str
    occurrences: tuple[int, ...]
    heads: tuple[CopyingHead, ...]
    passages: tuple[PassageAnswer, ...]
    source: int | None
    rest: float


class CopyingRequest(QuestionRequest[CopyingAnswer], frozen=True, kw_only=True):
    """Where the `token` at `position`, which follows those in `generated`, comes from."""

    route: ClassVar[str] = "copying"
    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0

    generated: GeneratedTokens = ()
    position: Position
    token: Position


class GenerateReport(Struct, frozen=True, kw_only=True):
    """The component's report of its text; the generated tokens belong to this text and image only."""

    text: Text
    source: Text
    image: Name = ""
    chat: Flag = ""
    masked_positions: Positions
    sampling: Sampling
    generated: GeneratedTokens


class GeneratePageAnswer(Answer, frozen=True, kw_only=True):
    """Examples, the first of which is shown until the visitor types, and the default head.

    `languages` are the language tokens of a translator; a text may begin with one of them. `images` are the names of
    the images or recordings that a model can describe or transcribe. One that `reads_chat` has a chat template.
    """

    examples: tuple[ExampleAnswer, ...]
    default_head: LayerHead
    languages: tuple[str, ...]
    images: tuple[str, ...]
    reads_chat: bool


class GeneratePageRequest(OpenedRequest[GeneratePageAnswer], frozen=True, kw_only=True):
    """Everything that Generate shows before the first answer."""

    route: ClassVar[str] = "generate_page"
