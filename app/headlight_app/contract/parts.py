"""Parts that several answers share: tokens, attention groups, image patches, predictions."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

Fields = dict[str, Any]  # JSON that a page passes on without reading it
Side = Literal["text", "source"]
LayerHead = tuple[int, int]
Metrics = dict[str, tuple[float | None, ...]]


class Token(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A token as the model reads it; `end` is the offset of its end in the text, in UTF-16 code units.

    `role` says whose message of a chat it is of, or that it is of the chat's template; empty if the text is no chat.
    """

    text: str
    id: int
    special: bool
    masked: bool
    end: int
    role: Literal["", "template", "system", "user", "assistant"] = ""


class AttentionGroupAnswer(Struct, frozen=True, kw_only=True):
    """One kind of attention in one stack. The byte codes of its heads begin at `offset`, [layer head row column].

    `ablations` maps each edit of the question to the heads (layer, head) that it switches off. `metrics` has one value
    per head, layer after layer: None if the text does not determine it; the whole field is None until measured. A text
    `has_segments` if it is a pair of sentences. The heads of a long text are `pending`: they are sent later. The codes
    that the disabled heads in `faded` have as trained follow all other codes, from `faded_offset`. `shows` describes
    the numbers in words; it is empty for weights. The checkpoint lists the heads in `aligned` as following the source
    token by token.
    """

    name: str
    stack: str
    kind: str
    title: str
    layers: int
    heads: int
    queries: Side
    keys: Side
    rows: int
    columns: int
    pooled_shape: tuple[int, int]
    offset: int
    ablations: dict[str, tuple[LayerHead, ...]]
    metrics: Metrics | None = None
    has_segments: bool = False
    pending: bool = False
    faded: tuple[LayerHead, ...] = ()
    aligned: tuple[LayerHead, ...] = ()
    faded_offset: int = 0
    shows: str = ""


class Patches(Struct, frozen=True, kw_only=True):
    """The patches of an image; `side` says whether the image is the text or the source.

    `first_token` is the position of the first patch, after any class tokens. `region` is left, top, right and bottom,
    as fractions of the image's width and height.
    """

    side: Side
    rows: int
    columns: int
    first_token: int
    region: tuple[float, float, float, float]


class Sound(Struct, frozen=True, kw_only=True):
    """The frames of a sound, and its spectrogram; `side` says whether the sound is the text or the source.

    Of a recording of `seconds`, the model reads the first `frames_read` frames, `frame_seconds` apart; silence follows.
    The spectrogram, [bin step], covers these frames, low frequencies first: one byte per value, deflated, in base64.
    """

    side: Side
    frames_read: int
    frame_seconds: float
    seconds: float
    bins: int
    steps: int
    bytes: str


class Candidate(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A candidate token (or label): its text with white space, and its number before and after the changes.

    The number is a probability or a score, as the `problem_type` beside it says; `score` is the logit after the
    changes of a label with a probability of its own.
    """

    text: str
    id: int
    before: float
    after: float
    score: float | None = None


# What the numbers of answers mean: the names of `headlight.problem_types`, whose rows have the lessons.
ProblemTypeName = Literal["single-label", "multi-label", "regression"]


class Prediction(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The prediction at one position; the page shows `title`, `preposition` and the token at the position.

    `token_text` is None if the prediction is about the whole text. `lesson` says what its numbers mean.
    """

    position: int
    title: str
    preposition: str
    token_text: str | None
    candidates: tuple[Candidate, ...]
    problem_type: ProblemTypeName = "single-label"
    lesson: str = ""


class ExampleAnswer(Struct, frozen=True, kw_only=True):
    """An example: its texts, a hint on what to look at, a suitable order of heads, a query and a key."""

    text: str
    source: str = ""
    hint: str = ""
    sort: str = "layer"
    query: str = ""
    key: str = ""


class QuantityRow(Struct, frozen=True, kw_only=True):
    """A quantity of a head, such as its weights or scores; an additive one can be summed over cells."""

    name: str
    title: str
    description: str
    scale: Literal["probability", "sqrt", "linear"]
    additive: bool


class HeadOrderRow(Struct, frozen=True, kw_only=True):
    """An order of heads that is not a metric; `title` has the placeholders {query} and {key} for tokens."""

    name: str
    title: str
    lesson: str


class MetricRow(Struct, frozen=True, kw_only=True):
    """A metric of heads; `reads` is "text" for heads that read a text or sound frames, or "image".

    `elsewhere` is a sentence on a paper that defines it in another way, or empty.
    """

    reads: Literal["text", "image"]
    name: str
    title: str
    description: str
    unit: str
    elsewhere: str


class PlotRow(Struct, frozen=True, kw_only=True):
    """A way to draw a head; `reads` is the input that the model must have for it, or empty."""

    name: str
    title: str
    description: str
    reads: Literal["", "text", "image", "sound"]


class ColourRangeRow(Struct, frozen=True, kw_only=True):
    """The colour scale ends at this quantile of the shown weights; None: at 1."""

    name: str
    title: str
    description: str
    quantile: float | None


class EditOperationRow(Struct, frozen=True, kw_only=True):
    """An operation of edits.

    In a menu, `title` precedes the number; `description` completes a sentence about the value, with {number}, or
    {signed} for a number with its sign. The operation applies only to `hook_points`; if empty, to all.
    """

    name: str
    title: str
    description: str
    takes_number: bool
    hook_points: tuple[str, ...]


class EditSentenceRow(Struct, frozen=True, kw_only=True):
    """An edit in words."""

    text: str
    operation: str
    indices: tuple[str, ...]
    number: float | None


class HookPointRow(Struct, frozen=True, kw_only=True):
    """A value of the network that edits can change."""

    axes: tuple[str, ...]
    title: str
    edited_in: tuple[Literal["stack", "layer", "attention", "feed_forward"], ...]
    edit_sentences: tuple[EditSentenceRow, ...]


class Catalogue(Struct, frozen=True, kw_only=True):
    """The choices of the registries."""

    quantities: tuple[QuantityRow, ...] = ()
    head_orders: tuple[HeadOrderRow, ...]
    metrics: tuple[MetricRow, ...]
    plots: tuple[PlotRow, ...]
    colour_ranges: tuple[ColourRangeRow, ...]
    operations: tuple[EditOperationRow, ...]
    hook_points: dict[str, HookPointRow]


class PartChoices(Struct, frozen=True, kw_only=True):
    """A replaceable part of a model: its title, and the titles of its choices by name."""

    title: str
    names: dict[str, str]


class MaskArgument(Struct, frozen=True, kw_only=True):
    """A mask's argument after the colon: its title, its default, its control, and the limits of a number."""

    title: str
    default: str
    control: Literal["number", "cells"]
    limits: tuple[int, int]


class VariantChoices(Struct, frozen=True, kw_only=True):
    """What can be replaced in any model: the parts by field of Variant, and the masks that only a link can select."""

    parts: dict[str, PartChoices]
    unlisted_masks: dict[str, str]
    mask_arguments: dict[str, MaskArgument]


class CodeSection(Struct, frozen=True):
    """A part of the program: its title, its LaTeX formula (may be empty), and its source."""

    title: str
    formula: str
    code: str
