"""Chapters and screens: one row defines each of them completely."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any
from urllib.parse import urlencode

from headlight.course.controls import MAX_INPUT_LENGTH, Control, ModelControl
from headlight.errors import InputError
from headlight.registry import Registry
from headlight.views.kinds import ScreenLink, View
from headlight.views.rows import Row, as_rows

READING_SPEED = 150  # words a minute, for a text that needs thought
TRYING = 0.3  # minutes for each control
ANSWERING = 1  # minutes for the question
ScreenRows = tuple[Row | View | str, ...]  # a view or a sentence by itself is a row
StateFields = dict[str, str]  # a link's parameters, as the page Explore reads them
Compute = Callable[..., ScreenRows]
Link = Callable[..., StateFields]  # takes the values of a screen's controls, by their names


def compared(one: StateFields, other: StateFields) -> StateFields:
    """The parameters of a link to the page Compare; its second side is the first one with the fields of `other`."""
    return one | {"side_b": urlencode(other)}


def link(*controls: str, fixed: StateFields | None = None, **fields: str) -> Link:
    """A link whose fields are values of controls: `controls` under their own names, others as field="control".

    A field with braces is a template, such as " {one}"; `fixed` are fields that no control changes.
    """
    sources = {name: f"{{{name}}}" for name in controls}
    sources |= {field: source if "{" in source else f"{{{source}}}" for field, source in fields.items()}

    def fields_of(**values: Any) -> StateFields:
        return {field: source.format(**values) for field, source in sources.items()} | (fixed or {})

    return fields_of


def compare_link(one: Link, other: Link) -> Link:
    """A link to the page Compare; `other` has the fields that differ on its second side."""
    return lambda **values: compared(one(**values), other(**values))


@dataclass(frozen=True, kw_only=True)
class Screen:
    """One idea: a title, a lesson of two or three sentences, the controls, and what is computed from them.

    `compute` takes the controls' values by their names and returns rows of views. If it is a mapping of functions,
    the first control chooses one, and controls that this function does not take are hidden. `formulas` are LaTeX.
    `code` lists the functions and classes that ran; their source is shown. `explore` takes the same values (a model as
    its name) and returns the parameters of a link to the page Explore; `elsewhere` does so for other pages, by their
    names in addresses. `see_also` lists related screens. A screen with `is_long` runs for seconds: it starts and stops
    by a button, and calls `check_cancelled`.
    """

    title: str
    lesson: str
    controls: Mapping[str, Control] = field(default_factory=dict)
    compute: Compute | Mapping[str, Compute]
    formulas: tuple[str, ...] = ()
    code: tuple[Callable[..., Any] | type, ...] = ()
    explore: Link | None = None
    elsewhere: Mapping[str, Link] = field(default_factory=dict)
    see_also: tuple[ScreenLink, ...] = ()
    is_long: bool = False

    def __post_init__(self) -> None:
        for name, control in list(self.controls.items())[1:]:
            ways = [way for way, function in self._ways.items() if name in signature(function).parameters]
            if len(ways) < len(self._ways):
                shown = replace(control, when=f"{next(iter(self.controls))}={','.join(ways)}")
                object.__setattr__(self, "controls", {**self.controls, name: shown})

    @property
    def _ways(self) -> Mapping[str, Compute]:
        return {"": self.compute} if callable(self.compute) else self.compute

    @property
    def about(self) -> str:
        """The first sentence of the lesson."""
        return re.split(r"(?<=[.?!])\s", self.lesson, maxsplit=1)[0]

    @property
    def minutes(self) -> int:
        """About how long it takes to read the lesson, to answer, and to try each control once."""
        reading = len(self.lesson.split()) / READING_SPEED
        return round(reading + TRYING * (1 + len(self.controls)) + ANSWERING + self.is_long)

    @property
    def model_controls(self) -> dict[str, ModelControl]:
        """The controls that choose a model, by their names; at most two, for a comparison."""
        return {name: control for name, control in self.controls.items() if isinstance(control, ModelControl)}

    def rows(self, **values: Any) -> tuple[Row, ...]:
        """The rows for these values of the controls. Raises HeadlightError."""
        compute = self.compute if callable(self.compute) else self.compute[values[next(iter(self.controls))]]
        return as_rows(compute(**{name: values[name] for name in signature(compute).parameters}))

    def links(self, values: Mapping[str, Any]) -> dict[str, StateFields]:
        """The parameters of each link to another page, by the page's name in addresses."""
        pages = ({"explore": self.explore} if self.explore else {}) | dict(self.elsewhere)
        return {page: link(**values) for page, link in pages.items()}

    def parse(self, inputs: Mapping[str, str]) -> dict[str, Any]:
        """The value of each control, or its default if none was given. Raises InputError."""
        for name, text in inputs.items():
            if name not in self.controls:
                raise InputError(
                    f"This screen has no input {name[:40]!r}. It has {', '.join(self.controls) or 'none'}."
                )
            if len(text) > MAX_INPUT_LENGTH:
                raise InputError(
                    f"“{self.controls[name].title}” is longer than {MAX_INPUT_LENGTH:,} characters. Shorten it."
                )
        return {name: control.parse(inputs.get(name, control.default)) for name, control in self.controls.items()}


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """Screens that belong together, by their names in addresses, in reading order."""

    title: str
    summary: str
    screens: Registry[Screen]
