"""State: everything a person chose. One field is one URL parameter, and one widget key where a widget draws it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any

from model.config import Config

LONGEST_ADDRESS = 1_500  # characters of text; what is longer does not survive every browser, chat and mail program
OWN = "own-"  # begins the names of pictures that visitors brought
TRAINED = ""  # the value of a part that is left as the model was trained

DEVICES = ("auto", "cpu", "cuda", "mps")
ROOMS = ("heads", "steps", "layers")
PANELS = ("lens", "parts", "flow", "ablation")
VIEWS = ("weights", "scores", "masked", "moved", "rollout", "gradient", "head", "trained", "text")
PICTURES = ("", "map", "lines", "text", "table", "points", "photo")  # the empty one is what is usual for a model
UNITS = ("tokens", "words")
HIDES = ("", "special", "first", "special+first")
RESTS = ("as-is", "renormalised")
PAIRS = ("", "a-a", "a-b", "b-a", "b-b")
RULES = ("mean", "largest")
SIZES = ("panel", "large")
FLAGS = ("", "1")


def own_parts(trained: Config) -> dict[str, str]:
    """The parts that can be exchanged, as a model was trained with them, in the words of State."""
    return {
        "masks": "+".join(trained.masks) or "none",
        "position": trained.position,
        "kernel": trained.kernel,
        "scale": "on" if trained.scale else "off",
    }


@dataclass(frozen=True)
class Question:
    """The part of State that decides what the model computes; two equal ones have the same answer.

    `image` is the picture that a model of pictures reads in place of the text, by its name in the gallery (empty: the
    first). `masks`, `position`, `kernel` and `scale` are empty where the model stays as it was trained.
    """

    model: str
    text: str
    source: str = ""
    image: str = ""
    masks: str = TRAINED
    position: str = TRAINED
    kernel: str = TRAINED
    scale: str = TRAINED
    device: str = "auto"
    edits: tuple[str, ...] = ()
    masked: tuple[int, ...] = ()

    @property
    def rewired(self) -> bool:
        """Whether a part of the model was exchanged for another than it was trained with."""
        return any((self.masks, self.position, self.kernel, self.scale))

    @property
    def untouched(self) -> Question:
        """The same input to the model as it was trained: no edit, no part exchanged."""
        return replace(self, masks=TRAINED, position=TRAINED, kernel=TRAINED, scale=TRAINED, edits=())


@dataclass(frozen=True)
class State:
    """What is on the screen. `text` is None until somebody typed; `query` -1 means the last token.

    `attention` names a stack and a kind ("decoder.self"); empty means the model's first. `layer` and `head` are -1
    until somebody chose: pages begin with a head that is plain to see. `heads` are the collected ones ("2.3" is head 3
    of layer 2), empty where only the chosen one is looked at; `sort` is "layer" or a metric of heads.
    `view` is what is shown: `versus` names the head and `other` the text of a difference, `target` the token (-1: the
    likeliest) of a gradient. `mass` is the share of each row, in percent, that its largest weights must make.
    `window` is what a map is zoomed to: "10-20/0-30" are queries 10 to 19 and keys 0 to 29.
    `step` and `key` (-1: the one looked at most) are what the room of steps shows, `panel` what that of layers does.
    """

    model: str = ""
    text: str | None = None
    source: str | None = None
    image: str = ""
    masks: str = TRAINED
    position: str = TRAINED
    kernel: str = TRAINED
    scale: str = TRAINED
    device: str = "auto"
    room: str = "heads"
    attention: str = ""
    layer: int = -1
    head: int = -1
    heads: tuple[str, ...] = ()
    sort: str = "layer"
    view: str = "weights"
    versus: str = ""
    other: str = ""
    rule: str = "mean"
    unit: str = "tokens"
    mass: int = 100
    hide: str = ""
    rest: str = "as-is"
    pair: str = ""
    window: str = ""
    picture: str = ""
    size: str = "panel"
    query: int = -1
    locked: tuple[int, ...] = ()
    target: int = -1
    step: str = ""
    key: int = -1
    panel: str = "lens"
    edits: tuple[str, ...] = ()
    paused: tuple[str, ...] = ()  # edits put aside: they are listed, and act on nothing
    masked: tuple[int, ...] = ()
    draw: str = ""  # of Generate; how these three are written, app.links knows
    written: str = ""
    beside: str = ""  # of Compare
    presenter: str = ""  # "1": large type and fewer controls, for a projector
    bare: str = ""  # "1": nothing but the page's own component, for a frame within another page

    @property
    def too_long(self) -> bool:
        """Whether the texts are too long to stand in an address."""
        return len(self.text or "") + len(self.source or "") + len(self.other) > LONGEST_ADDRESS

    def change(self, **choices: Any) -> State:
        """The same state with other choices; what does not fit a field is left as it was."""
        return replace(self, **{name: value for name, value in choices.items() if _fits(name, value)})

    def fitted(self, trained: Config) -> State:
        """The same choices for a model: a part chosen as it was trained anyway counts as not chosen."""
        chosen = {name: TRAINED for name, part in own_parts(trained).items() if getattr(self, name) == part}
        # The last patch of a picture says nothing more than any other; the class token sums it up.
        return self.change(**chosen, query=0 if trained.picture.channels and self.query < 0 else self.query)

    def question(self, text: str, source: str = "") -> Question:
        """What the model is asked, with the opening sentences where nobody typed yet."""
        mine = asdict(self)
        shared = {field.name: mine[field.name] for field in fields(Question)}
        spoken = {
            "text": text if self.text is None else self.text,
            "source": source if self.source is None else self.source,
        }
        return Question(**(shared | spoken))

    def to_query(self) -> dict[str, str]:
        """As URL parameters: only what differs from the defaults, and no text that is too long for an address."""
        left_out = {"text", "source", "other"} if self.too_long else set()
        left_out |= {"image"} if self.image.startswith(OWN) else set()  # private, and gone after a while
        left_out |= {name for name in ("written", "beside") if len(getattr(self, name)) > LONGEST_ADDRESS}
        return {
            field.name: _written(getattr(self, field.name))
            for field in fields(self)
            if field.name not in left_out and getattr(self, field.name) != field.default
        }

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> State:
        """From URL parameters; an unknown name or a value that makes no sense counts as absent."""
        choices = {name: _read(name, query[name]) for name in _DEFAULTS if name in query}
        return cls().change(**choices)


_DEFAULTS: Mapping[str, Any] = {field.name: field.default for field in fields(State) if field.default is not MISSING}
_OF_ONE_MODEL = (
    *("edits", "paused", "masked", "attention", "layer", "head", "heads", "versus", "locked", "query", "target", "key"),
)
AFRESH: Mapping[str, Any] = {name: _DEFAULTS[name] for name in _OF_ONE_MODEL}  # what another model starts with
_KNOWN: Mapping[str, tuple[str, ...]] = {
    "device": DEVICES,
    "room": ROOMS,
    "panel": PANELS,
    "view": VIEWS,
    "picture": PICTURES,
    "unit": UNITS,
    "hide": HIDES,
    "rest": RESTS,
    "pair": PAIRS,
    "rule": RULES,
    "size": SIZES,
    "presenter": FLAGS,
    "bare": FLAGS,
}
_SMALLEST = {
    "query": -1,
    "target": -1,
    "key": -1,
    "layer": -1,
    "head": -1,
    "mass": 1,
}  # of whole numbers; 0 for all others
_LARGEST = {"mass": 100}
_PLACES = ("masked", "locked")  # tuples of positions in the text


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return ";".join(str(item) for item in value)
    return str(value)


def _read(name: str, text: str) -> Any:
    """The value that a URL parameter stands for, or None where it stands for nothing."""
    default = _DEFAULTS[name]
    parts = [part for part in text.split(";") if part]
    try:
        if name in _PLACES:
            return tuple(sorted({int(part) for part in parts}))
        return tuple(parts) if isinstance(default, tuple) else int(text) if isinstance(default, int) else text
    except ValueError:
        return None


def _fits(name: str, value: Any) -> bool:
    """Whether a field can hold a value that came from outside."""
    if name in _KNOWN:
        return value in _KNOWN[name]
    if name in ("text", "source"):
        return value is None or isinstance(value, str)
    if name in _PLACES:
        return isinstance(value, tuple) and all(isinstance(item, int) and item >= 0 for item in value)
    if name not in _DEFAULTS:
        return False
    default = _DEFAULTS[name]
    if isinstance(default, tuple):
        return isinstance(value, tuple) and all(isinstance(item, str) for item in value)
    if isinstance(default, int):
        smallest, largest = _SMALLEST.get(name, 0), _LARGEST.get(name, math.inf)
        return isinstance(value, int) and not isinstance(value, bool) and smallest <= value <= largest
    return isinstance(value, str)
