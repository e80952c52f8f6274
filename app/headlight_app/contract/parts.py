"""Parts of several answers: tokens, attention groups, patches of an image, predictions."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

Fields = dict[str, Any]  # JSON that a page passes on and does not read
Side = Literal["text", "source"]
LayerHead = tuple[int, int]
Metrics = dict[str, tuple[float | None, ...]]


class Token(Struct, frozen=True, kw_only=True):
    """A token as the model reads it; `end` is where it ends in its text, in units of UTF-16."""

    text: str
    id: int
    special: bool
    masked: bool
    end: int


class AttentionGroupAnswer(Struct, frozen=True, kw_only=True):
    """One kind of attention in one stack. The byte codes of its heads begin at `offset`, [layer head row column].

    `ablations` are the heads, as layer and head, that each edit of the question switches off. `metrics` are of each
    head, layer after layer: None where a text does not determine one, and as a whole while they are not measured. A
    text `has_segments` where it is a pair of sentences. The heads of a long text are `pending`: they are sent later. Of
    the heads that are off, those in `faded` have their codes as trained behind all others, from `faded_offset` on.
    `shows` says in words what the numbers are; it is empty where they are weights. The checkpoint says of the heads in
    `aligned` that they follow the source from token to token.
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
    """Where the patches of an image lie, and whether it stands for the text or the source.

    `first_token` is the position of the first patch: class tokens come before it. `region` is left, top, right, bottom
    as shares of the image's sides.
    """

    side: Side
    rows: int
    columns: int
    first_token: int
    region: tuple[float, float, float, float]


class Sound(Struct, frozen=True, kw_only=True):
    """When the frames of a sound begin, and its spectrogram; `side` says whether it stands for the text or the source.

    Of a recording of `seconds` a model hears the beginning: `frames_read`, `frame_seconds` apart; silence follows. The
    spectrogram, [bin step], covers these frames, low frequencies first: one byte each, deflated, in base64.
    """

    side: Side
    frames_read: int
    frame_seconds: float
    seconds: float
    bins: int
    steps: int
    bytes: str


class Candidate(Struct, frozen=True, kw_only=True):
    """A possible token (or label): its text with white space, and its probability before and after all changes."""

    text: str
    id: int
    before: float
    after: float


class Prediction(Struct, frozen=True, kw_only=True):
    """The prediction at one position; the page writes `title`, `preposition`, and the token there.

    There is no token where the answer is about the whole text.
    """

    position: int
    title: str
    preposition: str
    token_text: str | None
    candidates: tuple[Candidate, ...]


class ExampleAnswer(Struct, frozen=True, kw_only=True):
    """An example: its texts, one line on what to look at, the order of heads that suits it, a query and a key."""

    text: str
    source: str = ""
    hint: str = ""
    sort: str = "layer"
    query: str = ""
    key: str = ""


class QuantityRow(Struct, frozen=True, kw_only=True):
    """A quantity of a head, such as its weights or scores; an additive one may be summed over cells."""

    name: str
    title: str
    description: str
    scale: Literal["probability", "sqrt", "linear"]
    additive: bool


class HeadOrderRow(Struct, frozen=True, kw_only=True):
    """An order of heads that is no metric's; `title` has {query} and {key} for tokens."""

    name: str
    title: str
    lesson: str


class MetricRow(Struct, frozen=True, kw_only=True):
    """A metric of heads, and whether it is of heads that read a text (or the frames of a sound), or an image."""

    reads: Literal["text", "image"]
    name: str
    title: str
    description: str
    unit: str


class PlotRow(Struct, frozen=True, kw_only=True):
    """A way to draw a head; `reads` is what the model must read for it, or empty."""

    name: str
    title: str
    description: str
    reads: Literal["", "text", "image", "sound"]


class ColourRangeRow(Struct, frozen=True, kw_only=True):
    """Colours end at this quantile of the weights shown; None: at 1."""

    name: str
    title: str
    description: str
    quantile: float | None


class EditOperationRow(Struct, frozen=True, kw_only=True):
    """An operation of edits.

    `title` stands in a menu in front of the number; `description` completes a sentence about the value, with {number},
    or {signed} for a number with its sign. It applies to `hook_points` alone; none for all.
    """

    name: str
    title: str
    description: str
    takes_number: bool
    hook_points: tuple[str, ...]


class EditSentenceRow(Struct, frozen=True, kw_only=True):
    """How an edit reads."""

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
    """A part of a model that can be replaced: its title, and the title of each choice by its name."""

    title: str
    names: dict[str, str]


class MaskArgument(Struct, frozen=True, kw_only=True):
    """The argument behind the colon of a mask: its title, how it begins, its control, and the limits of a number."""

    title: str
    default: str
    control: Literal["number", "cells"]
    limits: tuple[int, int]


class CodeSection(Struct, frozen=True):
    """A part of the program: its title, its formula in LaTeX where it has one, and its source."""

    title: str
    formula: str
    code: str
