"""Requests of Explore: the heads of a text, details of one head, the layers, and export files."""

from __future__ import annotations

from typing import Annotated, ClassVar, Generic, Literal, TypeVar

from msgspec import Meta, Struct

from headlight_app.contract.arrays import ArraysAnswer
from headlight_app.contract.parts import (
    AttentionGroupAnswer,
    Catalogue,
    CodeSection,
    ExampleAnswer,
    Fields,
    LayerHead,
    Metrics,
    Patches,
    Prediction,
    Sound,
    Token,
    VariantChoices,
)
from headlight_app.contract.question import Index, NumberOrUnset, Position, Question
from headlight_app.contract.reply import FileAnswer
from headlight_app.contract.request import Answer, Lane, OpenedRequest, QuestionRequest
from headlight_app.contract.state import HeadChoice, Label, State
from headlight_app.contract.views import RowsRequest
from headlight_app.export.contract import ProgramAnswer

A_co = TypeVar("A_co", bound=Answer, covariant=True)

Path = Annotated[str, Meta(max_length=200, description="a path such as decoder.1.self.weights")]
Format = Annotated[str, Meta(max_length=20, description="the name of a file format")]
MAX_VIEW_KEY_LENGTH = 20_000  # characters of the key that selects the view in a saved page
MAX_FIGURE_LENGTH = 2 << 20  # characters of an SVG figure
MAX_LINE_LENGTH = 20_000
MAX_PROGRESS_LENGTH = 1_000_000  # characters: at least 60,000 numbers of a map


class QueryRequest(QuestionRequest[A_co], Generic[A_co], frozen=True, kw_only=True):
    """A request about a question at one position; -1 is the last."""

    query: NumberOrUnset = -1


class TargetRequest(QueryRequest[A_co], Generic[A_co], frozen=True, kw_only=True):
    """A request about one possible answer at a position, a token or a label; -1 is the likeliest."""

    token: NumberOrUnset = -1


# --- all heads -------------------------------------------------------------------------------------------------------


class PartDifference(Struct, frozen=True, kw_only=True):
    """A replaced part of the model: its Variant field, its title, and its names before and after."""

    field: str
    title: str
    was: str
    now: str


class TraceAnswer(Answer, frozen=True, kw_only=True):
    """Everything Explore paints after a keystroke; the numbers are the byte codes of each attention group in turn.

    `changed` says whether the run differs from the model as trained; `differences` lists the replaced parts. Tokens are
    `maskable` if the model has a mask token. `context` is the maximum number of tokens. The ends of tokens of a chat
    refer to `made_text`, which its template made; it is empty for other texts.
    """

    tokens: tuple[Token, ...]
    source_tokens: tuple[Token, ...] | None
    maskable: bool
    context: int
    patches: Patches | None
    sound: Sound | None
    attention_groups: tuple[AttentionGroupAnswer, ...]
    predictions: tuple[Prediction, ...]
    changed: bool
    differences: tuple[PartDifference, ...]
    no_prediction_reason: str
    notes: tuple[str, ...]
    question: Question
    query: int
    milliseconds: float = 0.0
    made_text: str = ""


class TraceRequest(QueryRequest[TraceAnswer], frozen=True, kw_only=True):
    """All heads as bytes, tokens and predictions. With `writes_target`, the model generates the target text itself."""

    route: ClassVar[str] = "trace"
    shares_runs: ClassVar[bool] = True

    writes_target: bool = False


class HeadMatrixAnswer(Answer, frozen=True, kw_only=True):
    """The shape of the float32 numbers of one head."""

    rows: int
    columns: int


class HeadMatrixRequest(QuestionRequest[HeadMatrixAnswer], frozen=True, kw_only=True):
    """The exact numbers of one head at one hook point of an attention, [query key], row by row."""

    route: ClassVar[str] = "head_matrix"

    path: Path
    head: Index = 0


class MatrixAxis(Struct, frozen=True, kw_only=True):
    """The rows or columns of a view: their labels, and the tokens that each covers."""

    labels: tuple[str, ...]
    tokens: tuple[tuple[int, ...], ...]


class HeadViewAnswer(Answer, frozen=True, kw_only=True):
    """How to draw a view, from `low` to `high`. Float32 numbers [row column], `per_head` heads and cell states follow.

    `rules` describe in words how the view was computed.
    """

    rows: MatrixAxis
    columns: MatrixAxis
    signed: bool
    scale: Literal["probability", "sqrt", "linear"]
    low: float
    high: float
    per_head: int
    rules: tuple[str, ...]


class ChoiceRequest(QuestionRequest[A_co], Generic[A_co], frozen=True, kw_only=True):
    """A request about the chosen heads."""

    choice: HeadChoice

    def images(self) -> tuple[str, ...]:
        """For a difference to another image, `other_text` is the name of that image."""
        return (*QuestionRequest.images(self), *filter(None, [self.choice.other_text]))

    def texts(self) -> tuple[str, ...]:
        """The texts of the question, and the other text of a difference."""
        return *QuestionRequest.texts(self), self.choice.other_text


class HeadViewRequest(ChoiceRequest[HeadViewAnswer], frozen=True, kw_only=True):
    """The view of the chosen heads; `per_head` also requests each head separately."""

    route: ClassVar[str] = "head_view"

    per_head: bool = False


class ThumbnailsAnswer(Answer, frozen=True, kw_only=True):
    """The layer, and how many cells the byte codes of each of its heads have."""

    layer: int
    pooled_shape: tuple[int, int]


class ThumbnailsRequest(QuestionRequest[ThumbnailsAnswer], frozen=True, kw_only=True):
    """The byte codes of all heads of one layer of a long text, [head row column]."""

    route: ClassVar[str] = "thumbnails"

    attention: Label = ""
    layer: Index = 0


class QkProjectionAnswer(Answer, frozen=True, kw_only=True):
    """The number of query points, and the share of the variance that each axis explains."""

    queries: int
    explained_variance: tuple[float, float]


class QkProjectionRequest(QuestionRequest[QkProjectionAnswer], frozen=True, kw_only=True):
    """Queries, then keys of a head projected to two dimensions, float32 [token axis]."""

    route: ClassVar[str] = "qk_projection"

    attention: Label = ""
    layer: Index = 0
    head: Index = 0


class HeadMetricsAnswer(Answer, frozen=True, kw_only=True):
    """Every metric of every head, layer after layer."""

    metrics: Metrics


class HeadMetricsRequest(QuestionRequest[HeadMetricsAnswer], frozen=True, kw_only=True):
    """The metrics of all heads of one attention, for texts too long to include them in every answer."""

    route: ClassVar[str] = "head_metrics"

    attention: Label = ""


class QueryKeyWeightsAnswer(Answer, frozen=True, kw_only=True):
    """The numbers are float32 [layer head], NaN if the mask forbids the key."""


class QueryKeyWeightsRequest(QuestionRequest[QueryKeyWeightsAnswer], frozen=True, kw_only=True):
    """The weight from one query to one key in all heads of one attention."""

    route: ClassVar[str] = "query_key_weights"

    attention: Label = ""
    query: Position
    key: Position


# --- step by step ----------------------------------------------------------------------------------------------------


class StepValueAnswer(Struct, frozen=True, kw_only=True):
    """A value of one step; its numbers follow those of the previous value."""

    symbol: str
    axis: str | None
    count: int


class StepShape(Struct, frozen=True, kw_only=True):
    """The axes of a recorded value, and their sizes."""

    hook_point: str
    axes: tuple[str, ...]
    sizes: tuple[int, ...]


class StepAnswer(Struct, frozen=True, kw_only=True):
    """One step of the chosen head, or of the prediction."""

    name: str
    title: str
    explanation: str
    part: Literal["head", "network", "prediction"]
    formula: str
    edited: bool
    shapes: tuple[StepShape, ...]
    values: tuple[StepValueAnswer, ...]


class NamedAnswer(Struct, frozen=True, kw_only=True):
    """A token or label: its id and its text."""

    id: int
    text: str


class WalkthroughAnswer(Answer, frozen=True, kw_only=True):
    """The steps, and the likeliest answers with the index of the chosen one: -1 if there is no prediction."""

    query: int
    key: int
    answer: int
    answers: tuple[NamedAnswer, ...]
    steps: tuple[StepAnswer, ...]


class WalkthroughRequest(TargetRequest[WalkthroughAnswer], frozen=True, kw_only=True):
    """The steps of one head between two tokens, then those of the prediction; a `key` of -1 is the most attended."""

    route: ClassVar[str] = "walkthrough"

    attention: Path = ""
    head: Index = 0
    key: NumberOrUnset = -1


class CodeExcerptAnswer(Struct, frozen=True, kw_only=True):
    """Lines of the executed program, and their location."""

    location: str
    code: str


class StepCodeAnswer(Answer, frozen=True, kw_only=True):
    """The lines of code of each step, by the step's name."""

    code: dict[str, tuple[CodeExcerptAnswer, ...]]


class StepCodeRequest(QuestionRequest[StepCodeAnswer], frozen=True, kw_only=True):
    """The lines of code of each step of an attention and of the prediction."""

    route: ClassVar[str] = "step_code"

    attention: Path = ""


# --- layers ----------------------------------------------------------------------------------------------------------


class AnalysisAnswer(Answer, frozen=True, kw_only=True):
    """Rows of views, as in `headlight.views`; they are passed on unchanged."""

    rows: tuple[Fields, ...]


class AnalysisPartRequest(RowsRequest[A_co], Generic[A_co], frozen=True, kw_only=True):
    """A part of an analysis of the table; `choice` has the fields that its row reads."""

    analysis: Label


class AnalysisRequest(AnalysisPartRequest[AnalysisAnswer], frozen=True, kw_only=True):
    """What an analysis shows at once."""

    route: ClassVar[str] = "analysis"


class LongAnalysisRequest(AnalysisPartRequest[AnalysisAnswer], frozen=True, kw_only=True):
    """What an analysis shows after seconds."""

    route: ClassVar[str] = "long_analysis"
    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0


class AnalysisStepAnswer(AnalysisAnswer, frozen=True, kw_only=True):
    """The views after a step; the next request sends `progress` back, until the share that is `done` is 1."""

    progress: str
    done: float
    words: str


class AnalysisStepRequest(AnalysisPartRequest[AnalysisStepAnswer], frozen=True, kw_only=True):
    """The next step of an analysis that runs step by step; `progress` is empty at the first."""

    route: ClassVar[str] = "analysis_step"
    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0

    progress: Annotated[str, Meta(max_length=MAX_PROGRESS_LENGTH)] = ""


class LayerColumn(Struct, frozen=True, kw_only=True):
    """A column of texts beside the layers, `embedding` before the first. The title may have several lines."""

    title: str
    embedding: str
    layers: tuple[str, ...]
    align: Literal["start", "end"] = "end"


class LayerNumbersAnswer(Answer, frozen=True, kw_only=True):
    """The columns, and `rule`, which says what they are; empty if there are none."""

    columns: tuple[LayerColumn, ...]
    rule: str


class LayerNumbersRequest(TargetRequest[LayerNumbersAnswer], frozen=True, kw_only=True):
    """What each layer predicts, and what its parts add to the logit of an answer."""

    route: ClassVar[str] = "layer_numbers"


class ComponentAnswer(Struct, frozen=True, kw_only=True):
    """A component that contributes to a logit: a head, a feed-forward, an embedding, biases."""

    kind: str
    layer: int
    head: int


class LogitAttributionAnswer(Answer, frozen=True, kw_only=True):
    """The contribution of each component to the logit of the answer `text`."""

    position: int
    token: int
    text: str
    logit: float
    components: tuple[ComponentAnswer, ...]


class LogitAttributionRequest(TargetRequest[LogitAttributionAnswer], frozen=True, kw_only=True):
    """The contribution of each part to the logit of an answer."""

    route: ClassVar[str] = "logit_attribution"


# --- the picture -----------------------------------------------------------------------------------------------------


class InputVectorsAnswer(ArraysAnswer, frozen=True, kw_only=True):
    """The vectors of the tokens from `first` on, as they enter the first layer of a stack.

    `embedding` is [token channel]. `positions` holds the values of the positional encoding `title` for each token.
    `places` says where they enter: added to the embedding, in the rotation of queries and keys (sines), in the scores
    (of head 0), or nowhere.
    """

    first: int
    title: str
    places: Literal["added", "rotated", "scores", ""]


class InputVectorsRequest(QuestionRequest[InputVectorsAnswer], frozen=True, kw_only=True):
    """The input of the first layer of a stack: a vector for each token, and its position."""

    route: ClassVar[str] = "input_vectors"

    stack: Label = ""


# --- the page --------------------------------------------------------------------------------------------------------


class AttentionFunctionRow(Struct, frozen=True, kw_only=True):
    """An attention function, and whether scaling its scores acts as a temperature."""

    name: str
    has_temperature: bool


class AnalysisRow(Struct, frozen=True, kw_only=True):
    """An analysis: what it reads of the choice, and its lesson, empty if it depends on the model.

    `routes` are those that answer it: `analysis` after `pause_at_once` milliseconds without another choice,
    `long_analysis`, which reads `long_reads`, after `pause`, and `analysis_step` once the button titled `start` is
    pressed. With the kinds of patches in `reads_head_of` it reads the chosen head too. `of_unpatched`: its steps are of
    the run without patches. `of_likeliest`: it is about the likeliest answer.
    """

    name: str
    title: str
    lesson: str
    reads: tuple[str, ...]
    reads_head_of: tuple[str, ...]
    long_reads: tuple[str, ...]
    routes: tuple[str, ...]
    pause_at_once: int
    pause: int
    start: str
    of_unpatched: bool
    of_likeliest: bool


class TourHead(Struct, frozen=True, kw_only=True):
    """A head of the attention with the name `attention`."""

    attention: str
    layer: int
    head: int


class Tour(Struct, frozen=True, kw_only=True):
    """The heads that the guided tour switches off, and the position of its answer; -1 is the predicted one."""

    heads: tuple[TourHead, ...]
    query: int


class ExplorePageAnswer(Answer, frozen=True, kw_only=True):
    """The page before the first answer.

    `images` are the names of images, or of recordings if the model `hears`; None for a text model. A model that
    `reads_pair` can be given a second text, one that `reads_chat` messages for its chat template.

    `opening` is shown until the visitor types a text; an encoder-decoder wrote it for the source. The page starts at
    `opening_head` (layer, head), or at `default_head` once a text or a source was typed, of `default_attention`, or of
    the first attention if that is empty. The `tour` of the first example names no heads if they are not known. A
    `large_change` of the likeliest answer's probability leads to what explains it.
    """

    examples: tuple[ExampleAnswer, ...]
    opening: ExampleAnswer
    default_head: LayerHead
    opening_head: LayerHead
    default_attention: str = ""
    tour: Tour
    large_change: float
    has_source: bool
    reads_pair: bool
    reads_chat: bool
    has_feed_forward: bool
    writes_target: bool
    images: tuple[str, ...] | None
    hears: bool
    attention_functions: tuple[AttentionFunctionRow, ...]
    analyses: tuple[AnalysisRow, ...]
    variants: VariantChoices
    catalogue: Catalogue


class ExplorePageRequest(OpenedRequest[ExplorePageAnswer], frozen=True, kw_only=True):
    """Everything that Explore shows before the first answer."""

    route: ClassVar[str] = "explore_page"


class ChartAxis(Struct, frozen=True, kw_only=True):
    """The labels of a chart's rows or columns, and the first position of each."""

    labels: tuple[str, ...]
    positions: tuple[int, ...]


class HeadChart(Struct, frozen=True, kw_only=True):
    """The chosen heads as a chart; its numbers are float32 [row column], NaN in cells that are not shown."""

    title: str
    quantity: str
    rows: ChartAxis
    columns: ChartAxis
    limits: tuple[float, float]
    signed: bool
    square_root_scale: bool
    rules: tuple[str, ...]


class ExploreChartsAnswer(Answer, frozen=True, kw_only=True):
    """Predictions over `answers` ("all labels"), and the chosen heads: None if there are none to show."""

    predictions: tuple[Prediction, ...]
    changed: bool
    answers: str
    head: HeadChart | None


class ExploreChartsRequest(ChoiceRequest[ExploreChartsAnswer], frozen=True, kw_only=True):
    """The chosen heads and the predictions as exact numbers."""

    route: ClassVar[str] = "explore_charts"
    is_http: ClassVar[bool] = False


class SourceCodeAnswer(Answer, frozen=True, kw_only=True):
    """The parts that computed an answer."""

    sections: tuple[CodeSection, ...]


class SourceCodeRequest(QuestionRequest[SourceCodeAnswer], frozen=True, kw_only=True):
    """The parts of the program that compute the answer to a question."""

    route: ClassVar[str] = "source_code"
    is_http: ClassVar[bool] = False


# --- files -----------------------------------------------------------------------------------------------------------


class StateRequest(QuestionRequest[A_co], Generic[A_co], frozen=True, kw_only=True):
    """A request about the current view: the question, and the page state in which its answer is shown."""

    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0

    state: State

    def images(self) -> tuple[str, ...]:
        """For a difference to another image, `other_text` is the name of that image."""
        return (*QuestionRequest.images(self), *filter(None, [self.state.other_text]))


class ExportNumbersRequest(StateRequest[FileAnswer], frozen=True, kw_only=True):
    """A file of numbers: the value at `path`, or the displayed view if `path` is empty."""

    route: ClassVar[str] = "export_numbers"

    format: Format
    path: Path = ""


class ExportPageRequest(StateRequest[FileAnswer], frozen=True, kw_only=True):
    """All heads and the displayed view with its exact numbers, as one HTML file that works offline."""

    route: ClassVar[str] = "export_page"

    view_key: Annotated[str, Meta(max_length=MAX_VIEW_KEY_LENGTH)] = ""


class ExportWorksheetRequest(StateRequest[FileAnswer], frozen=True, kw_only=True):
    """The view as a printable page for a class.

    `figure` is the view as SVG, `link` leads to it, `line` names its origin; `omitted` is a sentence about the parts
    missing from the link.
    """

    route: ClassVar[str] = "export_worksheet"

    figure: Annotated[str, Meta(max_length=MAX_FIGURE_LENGTH, description="a picture as SVG")]
    link: Annotated[str, Meta(max_length=MAX_LINE_LENGTH, pattern=r"\A(https?://|\Z)", description="a web address")]
    line: Annotated[str, Meta(max_length=MAX_LINE_LENGTH)]
    omitted: Annotated[str, Meta(max_length=1_000)] = ""


class ExportCodeRequest(StateRequest[ProgramAnswer], frozen=True, kw_only=True):
    """The view as a Python program and as shell commands."""

    route: ClassVar[str] = "export_code"
