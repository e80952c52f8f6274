"""State: all choices of a visitor. Each field, and each part of the variant, is one URL parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from headlight_app.contract.question import (
    AS_TRAINED,
    Asked,
    Edits,
    Flag,
    Name,
    NumberOrUnset,
    Positions,
    Question,
    Text,
    one_of,
)

MAX_ADDRESS_LENGTH = 1_500  # characters of text; some browsers, chat and mail programs cut longer URLs
STATE_TEXTS = ("text", "source", "text_pair", "other_text", "patch_from", "order_text")
UNITS = ("tokens", "words")
HIDDEN_TOKENS = ("", "special", "first", "special+first")
SEGMENT_PAIRS = ("", "a-a", "a-b", "b-a", "b-b")
MAX_BEAMS = 8
MAX_HEADS = 10_000  # selected at most
PANEL_SIZES = ("panel", "large")
NEURON_PATTERN = r"\A(\d{1,5}(\.\d{1,9})?)?\Z"
Label = Annotated[str, Meta(max_length=40)]
# Names of headlight.analysis.patching: PATCHES, and RECEIVING_PARTS of the chosen head, which reads earlier heads.
PatchKind = Literal["heads", "direct_heads", "q", "k", "v", "residual"]
HeadLabel = Annotated[str, Meta(max_length=24)]  # "2.3" is head 3 of layer 2
Values = dict[str, Any]  # by field name, each of its own type
Encoded = Annotated[str, Meta(max_length=1_000_000)]  # text that only one page reads


def fitting_fields(kind: type[Struct], values: Mapping[str, Any]) -> Values:
    """The values that are valid for the fields of a struct; every field of it has a default."""
    fitting: Values = {}
    for name, value in values.items():
        with suppress(msgspec.ValidationError, UnicodeEncodeError):  # a lone surrogate has no UTF-8
            fitting[name] = getattr(msgspec.convert({name: value}, kind, from_attributes=True), name)
    return fitting


class HeadChoice(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The choices about heads.

    `attention` names a stack and a kind ("decoder.self"); empty means the model's first. `layer` and `head` are -1
    until a head is chosen: pages begin with one that has a clear pattern. `heads` are the selected ones, empty if only
    the chosen one is shown; `sort` is a row of HEAD_ORDERS or a head metric. `quantity` is the quantity shown:
    `other_head` and `other_text` are subtracted in a difference, `target_token` (-1: the likeliest) is the gradient's.
    `top_mass` keeps the largest weights of each row that sum to this percentage. `zoom` is the shown part of a map:
    "10-20/0-30" are queries 10 to 19 and keys 0 to 29. `query` -1 means the last token, `key` -1 the most attended.
    """

    attention: Label = ""
    layer: NumberOrUnset = -1
    head: NumberOrUnset = -1
    heads: Annotated[tuple[HeadLabel, ...], Meta(max_length=MAX_HEADS)] = ()
    sort: Label = "layer"
    quantity: Label = "weights"
    other_head: HeadLabel = ""
    other_text: Text = ""
    head_reduction: Label = "mean"
    unit: Annotated[str, one_of(UNITS)] = "tokens"
    top_mass: Annotated[int, Meta(ge=1, le=100)] = 100
    hide: Annotated[str, one_of(HIDDEN_TOKENS)] = ""
    renormalize: Flag = ""  # "1": rows sum to 1 again after keys are hidden
    segments: Annotated[str, one_of(SEGMENT_PAIRS)] = ""
    zoom: Label = ""
    plot: Label = ""
    panel_size: Annotated[str, one_of(PANEL_SIZES)] = "panel"
    colour_range: Label = "full"
    query: NumberOrUnset = -1
    key: NumberOrUnset = -1
    pinned: Positions = ()
    target_token: NumberOrUnset = -1


class State(HeadChoice, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The state of the page. `text` and `source` are None until the visitor types.

    The tab Step by step shows `step`, the tab Layers shows `analysis`; there `lens` is the logit lens or the tuned
    lens, `least_share` the percentage from which the information flow shows a share, `patch` is the kind of the
    patching map, and `neuron` opens the feed-forward of a layer ("3") or one of its neurons ("3.120"). Positions draws
    some `channels` (or pairs of them; empty: a few of all), compares with a `position` (-1: the middle one), maps the
    biases of `bias_head` (-1: the first), and exchanges two words of `order_text` (empty: of an example).
    """

    model: Name = ""
    text: Text | None = None
    source: Text | None = None
    tab: Label = "heads"
    step: Label = ""
    analysis: Label = "logit_lens"
    lens: Annotated[str, one_of(("", "tuned"))] = ""
    least_share: Annotated[int, Meta(ge=1, le=100)] = 4
    patch: PatchKind = "heads"
    neuron: Annotated[str, Meta(pattern=NEURON_PATTERN)] = ""
    token_ids: Flag = ""  # "1": shows the vocabulary id under each token
    disabled_edits: Edits = ()  # edits that are listed but not applied
    task: Label = ""  # of Tasks, with the beam width of its search
    beam_width: Annotated[int, Meta(ge=1, le=MAX_BEAMS, description=f"a number from 1 to {MAX_BEAMS}")] = 1
    sampling: Encoded = ""  # of Generate
    generated: Encoded = ""
    blend: Literal["head", "layer", "all"] = "head"  # whose attention Generate shows: a head's, or a mean
    side_b: Encoded = ""  # of Compare
    channels: Positions = ()  # of Positions
    position: NumberOrUnset = -1
    bias_head: NumberOrUnset = -1
    order_text: Text = ""
    chapter: Label = ""  # of the Course, and its open screen
    screen: Label = ""
    course_inputs: Encoded = ""  # changed inputs of its screens, as in `look-up.sharpness=3`, URL-encoded
    lesson: Label = ""  # the open lesson, and whether its teacher's notes are shown
    notes: Flag = ""
    lesson_step: Annotated[str, Meta(pattern=r"\A([1-9][0-9]?)?\Z")] = ""  # "2": opens its second step
    lesson_work: Encoded = ""  # a student's answers to it, which their browser alone keeps, for a teacher to see
    presenter: Flag = ""  # "1": large type and fewer controls, for a projector
    embedded: Flag = ""  # "1": only the page's own component, for an iframe in another page

    @property
    def too_long(self) -> bool:
        """Whether the texts are too long for a URL."""
        return sum(len(getattr(self, name) or "") for name in STATE_TEXTS) > MAX_ADDRESS_LENGTH

    def change(self, /, **choices: Any) -> State:
        """The same state with other choices; a value that is invalid for its field is ignored.

        With another positional encoding, what was chosen of the old one is forgotten.
        """
        fitting = fitting_fields(State, choices)
        encodings = {each.positional_encoding for each in (self.variant, fitting.get("variant", self.variant))}
        forgotten = defaults(_OF_ONE_ENCODING) if len(encodings) > 1 else {}
        return replace(self, **forgotten | fitting)

    @property
    def shows_opening(self) -> bool:
        """Whether neither a text nor a source was typed."""
        return self.text is None and self.source is None

    def with_default_head(self, default_head: tuple[int, int]) -> State:
        """The same with a chosen head: `default_head`, unless another was chosen."""
        layer, head = default_head if max(self.layer, self.head) < 0 else (max(self.layer, 0), max(self.head, 0))
        return self.change(layer=layer, head=head)

    def question(self, text: str, source: str = "") -> Question:
        """The question to the model, with the opening texts if nothing was typed yet."""
        return Question(
            **{name: getattr(self, name) for name in Asked.__struct_fields__},
            model=self.model,
            text=text if self.text is None else self.text,
            source=source if self.source is None else self.source,
        )


DEFAULT_STATE = State()


def defaults(names: Iterable[str]) -> Values:
    """These fields of a state as they are before any choice."""
    return {name: getattr(DEFAULT_STATE, name) for name in names}


_OF_ONE_ENCODING = ("channels", "position", "bias_head")
_OF_ONE_MODEL = (
    *("edits", "disabled_edits", "masked_positions", "attention", "layer", "head", "heads", "other_head", "pinned"),
    *("query", "target_token", "key", "neuron"),
    *_OF_ONE_ENCODING,
)
# These choices are reset when the model changes.
PER_MODEL_DEFAULTS: Values = defaults(_OF_ONE_MODEL)
# A model that replaces an unsuitable one opens as trained, with its own example.
OPENING: Values = {
    **PER_MODEL_DEFAULTS,
    "variant": AS_TRAINED,
    "text": None,
    "source": None,
    "text_pair": "",
    "chat": "",
}
