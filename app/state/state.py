"""State: everything a person chose. One field is one URL parameter, and one widget key where a widget draws it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Annotated, Any

from msgspec import Meta

from app.state.images import OWN_IMAGE_PREFIX
from model.analysis.head_reduction import HEAD_REDUCTIONS
from model.config import Config
from model.errors import TextError
from model.rendering.plots import COLOUR_RANGES, PLOTS
from model.tasks import task_of
from model.validation import from_plain

MAX_ADDRESS_LENGTH = 1_500  # characters of text; what is longer does not survive every browser, chat and mail program
UNCHANGED = ""  # the value of a part that is left as the model was trained
AS_TRAINED: Mapping[str, str] = dict.fromkeys(
    ("masks", "positional_encoding", "attention_function", "scale", "pooling"), UNCHANGED
)

DEVICES = ("auto", "cpu", "cuda", "mps")
UNITS = ("tokens", "words")
HIDDEN_TOKENS = ("", "special", "first", "special+first")
SEGMENT_PAIRS = ("", "a-a", "a-b", "b-a", "b-b")
MAX_BEAMS = 8
PANEL_SIZES = ("panel", "large")
NEURON_PATTERN = r"\A(\d{1,5}(\.\d{1,9})?)?\Z"


def one_of(names: Iterable[str]) -> Meta:
    """In a field's annotation: the field holds one of these names."""
    return Meta(pattern=rf"\A({'|'.join(map(re.escape, names))})\Z")


Position = Annotated[int, Meta(ge=0, lt=2**31)]
Name = Annotated[str, Meta(max_length=4_000)]  # of a model, which may be a path, or of one of its parts
Text = Annotated[str, Meta(max_length=1_000_000)]  # far more than any model reads; which says so in a sentence
Edits = Annotated[tuple[Annotated[str, Meta(max_length=100_000)], ...], Meta(max_length=10_000)]
NumberOrUnset = Annotated[int, Meta(ge=-1)]  # -1 until somebody chooses
Flag = Annotated[str, one_of(("", "1"))]


def variant_fields(config: Config) -> dict[str, str]:
    """The parts that can be exchanged, as a model was trained with them, in the words of State."""
    return {
        "masks": "+".join(config.masks) or "none",
        "positional_encoding": config.positional_encoding,
        "attention_function": config.attention_function,
        "scale": "on" if config.scale else "off",
        "pooling": config.pooling,
    }


def pools(config: Config) -> bool:
    """Whether a model makes one vector of all tokens, so that the way in which it does can be exchanged."""
    return task_of(config).whole_text


@dataclass(frozen=True)
class Question:
    """The part of State that decides what the model computes; two equal ones have the same answer.

    `image` is the name of the image that a vision model reads in place of the text (empty: the first). `masks`,
    `positional_encoding`, `attention_function`, `scale` and `pooling` are empty where the model stays as trained.
    """

    model: Name
    text: Text
    source: Text = ""
    image: Name = ""
    masks: Text = UNCHANGED
    positional_encoding: Name = UNCHANGED
    attention_function: Name = UNCHANGED
    scale: Name = UNCHANGED
    pooling: Name = UNCHANGED
    device: Name = "auto"
    edits: Edits = ()
    masked_positions: Annotated[tuple[int, ...], Meta(max_length=1_000_000)] = ()

    @property
    def is_variant(self) -> bool:
        """Whether a part of the model was exchanged for another than it was trained with."""
        return any(getattr(self, name) for name in AS_TRAINED)

    def for_config(self, config: Config) -> Question:
        """The same question to a model without what it does not read, so that nothing of that is kept."""
        text = "" if config.predicts_from_image else self.text
        source = self.source if config.reads_source_text else ""
        image, pooling = self.image if config.reads_image else "", self.pooling if pools(config) else UNCHANGED
        return replace(self, text=text, source=source, image=image, pooling=pooling)

    @property
    def as_trained(self) -> Question:
        """The same input to the model as it was trained: no edit, no part exchanged."""
        unchanged: dict[str, Any] = dict(AS_TRAINED)
        return replace(self, **unchanged, edits=())


@dataclass(frozen=True)
class State:
    """What is on the screen. `text` is None until somebody typed; `query` -1 means the last token.

    `attention` names a stack and a kind ("decoder.self"); empty means the model's first. `layer` and `head` are -1
    until somebody chose: pages begin with a head that is plain to see. `heads` are the collected ones ("2.3" is head 3
    of layer 2), empty where only the chosen one is looked at; `sort` is a row of HEAD_ORDERS or a metric
    of heads.
    `quantity` is what is shown: `other_head` and `other_text` are subtracted in a difference, `target_token` (-1: the
    likeliest) is the gradient's. `top_mass` is the share of each row, in percent, that its largest weights must make.
    `zoom` is what a map is zoomed to: "10-20/0-30" are queries 10 to 19 and keys 0 to 29.
    `key` (-1: the most attended one) is what `query` looks at, in the Walkthrough tab and in the order of heads by one
    weight; `step` is shown by the Walkthrough tab, `analysis` by the Layers tab; there `neuron` opens the feed-forward
    of a layer ("3"), and one neuron of it ("3.120").
    """

    model: str = ""
    text: str | None = None
    source: str | None = None
    image: str = ""
    masks: str = UNCHANGED
    positional_encoding: str = UNCHANGED
    attention_function: str = UNCHANGED
    scale: str = UNCHANGED
    pooling: str = UNCHANGED
    device: Annotated[str, one_of(DEVICES)] = "auto"
    tab: str = "heads"
    attention: str = ""
    layer: NumberOrUnset = -1
    head: NumberOrUnset = -1
    heads: tuple[str, ...] = ()
    sort: str = "layer"
    quantity: str = "weights"
    other_head: str = ""
    other_text: str = ""
    head_reduction: Annotated[str, one_of(HEAD_REDUCTIONS)] = "mean"
    unit: Annotated[str, one_of(UNITS)] = "tokens"
    top_mass: Annotated[int, Meta(ge=1, le=100)] = 100
    hide: Annotated[str, one_of(HIDDEN_TOKENS)] = ""
    renormalize: Flag = ""  # "1": rows add up to one again after keys were hidden
    segments: Annotated[str, one_of(SEGMENT_PAIRS)] = ""
    zoom: str = ""
    plot: Annotated[str, one_of(("", *PLOTS))] = ""
    panel_size: Annotated[str, one_of(PANEL_SIZES)] = "panel"
    colour_range: Annotated[str, one_of(COLOUR_RANGES)] = "full"
    query: NumberOrUnset = -1
    pinned: tuple[Position, ...] = ()
    target_token: NumberOrUnset = -1
    step: str = ""
    key: NumberOrUnset = -1
    analysis: str = "logit_lens"
    neuron: Annotated[str, Meta(pattern=NEURON_PATTERN)] = ""
    token_ids: Flag = ""  # "1": under each token its number in the vocabulary
    edits: tuple[str, ...] = ()
    disabled_edits: tuple[str, ...] = ()  # edits put aside: they are listed, and act on nothing
    masked_positions: tuple[Position, ...] = ()
    task: str = ""  # of Tasks, with the number of beams of its search
    beam_width: Annotated[int, Meta(ge=1, le=MAX_BEAMS)] = 1
    sampling: str = ""  # of Generate; app.state.url encodes these three
    generated: str = ""
    side_b: str = ""  # of Compare
    chapter: Annotated[str, Meta(max_length=40)] = ""  # of the Course, and the screen that is looked at
    screen: Annotated[str, Meta(max_length=40)] = ""
    course_inputs: str = ""  # what was changed on its screens, as in `look-up.sharpness=3`, encoded as a query is
    presenter: Flag = ""  # "1": large type and fewer controls, for a projector
    embedded: Flag = ""  # "1": nothing but the page's own component, for a frame within another page

    @property
    def too_long(self) -> bool:
        """Whether the texts are too long to stand in an address."""
        return len(self.text or "") + len(self.source or "") + len(self.other_text) > MAX_ADDRESS_LENGTH

    def change(self, /, **choices: Any) -> State:
        """The same state with other choices; what does not fit a field is left as it was."""
        valid: dict[str, Any] = {}
        for name, value in choices.items():
            try:
                valid[name] = getattr(from_plain(State, {name: value}, "state", TextError), name)
            except TextError:
                continue
        return replace(self, **valid)

    def with_default_head(self, default_head: tuple[int, int]) -> State:
        """The same with a head to look at: the one that pages begin with, where nobody has chosen another."""
        layer, head = default_head if max(self.layer, self.head) < 0 else (max(self.layer, 0), max(self.head, 0))
        return self.change(layer=layer, head=head)

    def normalized_for(self, config: Config) -> State:
        """The same choices for a model: a part chosen as it was trained anyway counts as not chosen."""
        unchanged = {name: UNCHANGED for name, part in variant_fields(config).items() if getattr(self, name) == part}
        if not pools(config):
            unchanged["pooling"] = UNCHANGED
        # The last patch of a picture says nothing more than any other; the class token sums it up.
        return self.change(**unchanged, query=0 if config.predicts_from_image and self.query < 0 else self.query)

    def question(self, text: str, source: str = "") -> Question:
        """What the model is asked, with the opening sentences where nobody typed yet."""
        values = asdict(self)
        common = {field.name: values[field.name] for field in fields(Question)}
        texts = {
            "text": text if self.text is None else self.text,
            "source": source if self.source is None else self.source,
        }
        return Question(**(common | texts))

    def to_query(self) -> dict[str, str]:
        """As URL parameters: only what differs from the defaults, and no text that is too long for an address."""
        omitted = {"text", "source", "other_text"} if self.too_long else set()
        omitted |= {"image"} if self.image.startswith(OWN_IMAGE_PREFIX) else set()  # private, and gone after a while
        omitted |= {
            name for name in ("generated", "side_b", "course_inputs") if len(getattr(self, name)) > MAX_ADDRESS_LENGTH
        }
        return {
            field.name: _encode(getattr(self, field.name))
            for field in fields(self)
            if field.name not in omitted and getattr(self, field.name) != field.default
        }

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> State:
        """From URL parameters; an unknown name or a value that makes no sense counts as absent."""
        choices = {name: _decode(name, query[name]) for name in _DEFAULTS if name in query}
        return cls().change(**choices)


_DEFAULTS: Mapping[str, Any] = {field.name: field.default for field in fields(State) if field.default is not MISSING}
_PER_MODEL_FIELDS = (
    *("edits", "disabled_edits", "masked_positions", "attention", "layer", "head", "heads", "other_head", "pinned"),
    *("query", "target_token", "key", "neuron"),
)
PER_MODEL_DEFAULTS: Mapping[str, Any] = {name: _DEFAULTS[name] for name in _PER_MODEL_FIELDS}  # for another model
# Of a model that nobody chose everything is new, its example too; Back leads to what was left.
OPENING: Mapping[str, Any] = {**PER_MODEL_DEFAULTS, **AS_TRAINED, "text": None, "source": None}
_POSITION_FIELDS = ("masked_positions", "pinned")


def _encode(value: Any) -> str:
    if isinstance(value, tuple):
        return ";".join(str(item) for item in value)
    return str(value)


def _decode(name: str, text: str) -> Any:
    """The value that a URL parameter stands for, or None where it stands for nothing."""
    default = _DEFAULTS[name]
    parts = [part for part in text.split(";") if part]
    try:
        if name in _POSITION_FIELDS:
            return tuple(sorted({int(part) for part in parts}))
        return tuple(parts) if isinstance(default, tuple) else int(text) if isinstance(default, int) else text
    except ValueError:
        return None
