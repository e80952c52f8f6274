"""State: everything a person chose. One field is one URL parameter, and one widget key where a widget draws it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any

from model.config import Config

LONGEST_ADDRESS = 1_500  # characters of text; what is longer does not survive every browser, chat and mail program
TRAINED = ""  # the value of a part that is left as the model was trained

DEVICES = ("auto", "cpu", "cuda", "mps")
VIEWS = ("weights", "scores")
PICTURES = ("map", "lines")


@dataclass(frozen=True)
class Question:
    """The part of State that decides what the model computes; two equal ones have the same answer.

    `masks`, `position`, `kernel` and `scale` are empty where the model stays as it was trained.
    """

    model: str
    text: str
    source: str = ""
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

    `attention` names a stack and a kind ("decoder.self"); empty means the model's first.
    """

    model: str = ""
    text: str | None = None
    source: str | None = None
    masks: str = TRAINED
    position: str = TRAINED
    kernel: str = TRAINED
    scale: str = TRAINED
    device: str = "auto"
    attention: str = ""
    layer: int = 0
    head: int = 0
    view: str = "weights"
    picture: str = "map"
    query: int = -1
    edits: tuple[str, ...] = ()
    masked: tuple[int, ...] = ()

    @property
    def too_long(self) -> bool:
        """Whether the texts are too long to stand in an address."""
        return len(self.text or "") + len(self.source or "") > LONGEST_ADDRESS

    def change(self, **choices: Any) -> State:
        """The same state with other choices; what does not fit a field is left as it was."""
        return replace(self, **{name: value for name, value in choices.items() if _fits(name, value)})

    def fitted(self, trained: Config) -> State:
        """The same choices for a model: a part chosen as it was trained anyway counts as not chosen."""
        own = {
            "masks": "+".join(trained.masks) or "none",
            "position": trained.position,
            "kernel": trained.kernel,
            "scale": "on" if trained.scale else "off",
        }
        return self.change(**{name: TRAINED for name, part in own.items() if getattr(self, name) == part})

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
        left_out = {"text", "source"} if self.too_long else set()
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
_KNOWN = {"device": DEVICES, "view": VIEWS, "picture": PICTURES}


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return ";".join(str(item) for item in value)
    return str(value)


def _read(name: str, text: str) -> Any:
    """The value that a URL parameter stands for, or None where it stands for nothing."""
    default = _DEFAULTS[name]
    parts = [part for part in text.split(";") if part]
    try:
        if name == "masked":
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
    if name == "edits":
        return isinstance(value, tuple) and all(isinstance(item, str) for item in value)
    if name == "masked":
        return isinstance(value, tuple) and all(isinstance(item, int) and item >= 0 for item in value)
    if name in ("layer", "head", "query"):
        return isinstance(value, int) and not isinstance(value, bool) and value >= (-1 if name == "query" else 0)
    return name in _DEFAULTS and isinstance(value, str)
