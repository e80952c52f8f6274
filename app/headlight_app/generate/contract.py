"""Requests of Generate: one step of a growing text, and the first view of the page."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from headlight_app.contract.parts import AttentionGroupAnswer, ExampleAnswer, Fields, LayerHead, Token
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


class StepAnswer(Struct, frozen=True, kw_only=True):
    """One step: the `chosen` token, and rows of views as in `headlight.views`, passed on unchanged.

    `rows` are about the next token, `cache_rows` about the key/value cache, or why the step `caches`
    nothing. `tokens_read` counts the tokens read in this step. Each of the `end_tokens` ends a text.
    """

    position: int
    chosen: int
    chosen_text: str
    rows: tuple[Fields, ...]
    cache_rows: tuple[Fields, ...]
    caches: bool
    attention_groups: tuple[AttentionGroupAnswer, ...]
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


class CopyingAnswer(Answer, frozen=True, kw_only=True):
    """Where a token comes from: its text, and rows of views as in `headlight.views`, passed on unchanged."""

    text: str
    rows: tuple[Fields, ...]


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
