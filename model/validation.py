"""Dataclasses from plain JSON or TOML values, with a sentence for each field that is unknown, missing or mistyped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from threading import RLock
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from model.errors import HeadlightError

Kind = TypeVar("Kind")

# msgspec keeps what it knows of a dataclass before it knows all of it: a second thread that asks meanwhile reads memory
# that nobody has written, and the process is gone. Reentrant, since a dataclass may check itself by another one.
_CONVERTING = RLock()

# How a sentence names the types that msgspec names.
_TYPE_NAMES = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table of fields",
    "null": "nothing",
}


def from_plain(kind: type[Kind], values: Mapping[str, Any], name: str, error: type[HeadlightError]) -> Kind:
    """The dataclass `kind` from plain values; lists become tuples, whole numbers floats where floats are wanted.

    Raises `error` for the first fault; a sentence calls the whole `name` ("config") and a field by its path
    ("rope.theta"). An annotation with `msgspec.Meta` bounds a field, and describes what a sentence expects.
    """
    _check_fields(kind, values, name, error)
    check_choices(kind, values, error)
    try:
        with _CONVERTING:
            return msgspec.convert(values, kind)
    except msgspec.ValidationError as fault:
        raise error(_sentence(kind, str(fault), values, name)) from fault
    except UnicodeEncodeError as fault:
        raise error(f"The {name} has a text with half a character in it (a lone surrogate).") from fault


def check_choices(kind: type, values: Mapping[str, Any], error: type[HeadlightError], path: str = "") -> None:
    """Raise `error` where a text is none of the values that its field's Literal type lists, in groups as well."""
    for field, expected in _field_types(kind).items():
        value, choices = values.get(field), _choices(expected)
        if is_dataclass(expected) and isinstance(expected, type):
            group = value if isinstance(value, Mapping) else getattr(value, "__dict__", {})
            check_choices(expected, group, error, f"{path}{field}.")
        for each in value if isinstance(value, tuple | list) else (value,):
            if choices and isinstance(each, str) and each not in choices:
                raise error(f"{path}{field} is {each!r}; possible are {', '.join(choices)}.")


@cache
def _choices(expected: Any) -> tuple[str, ...]:
    """The values of a Literal type, or of one in a tuple or a union; none for other types."""
    if get_origin(expected) is Literal:
        return get_args(expected)
    return tuple(choice for part in get_args(expected) for choice in _choices(part))


def _check_fields(kind: type, values: Mapping[str, Any], name: str, error: type[HeadlightError]) -> None:
    """Refuse unknown fields, which msgspec passes over in a dataclass, and list all missing ones, not the first."""
    types = _field_types(kind)
    if unknown := sorted(set(values) - set(types)):
        raise error(f"Unknown {name} fields: {', '.join(unknown)}. Known: {', '.join(sorted(types))}.")
    required = (field.name for field in fields(kind) if field.default is field.default_factory is MISSING)
    if missing := sorted(set(required) - set(values)):
        raise error(f"The {name} lacks {', '.join(missing)}.")
    for field, value in values.items():
        for group, inner in _groups(types[field], value):
            _check_fields(group, inner, field, error)


@cache
def _field_types(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _groups(expected: Any, value: Any) -> Iterator[tuple[type, Mapping[str, Any]]]:
    """The dataclasses, with their plain values, that a field of the type `expected` holds."""
    if isinstance(value, Mapping) and isinstance(expected, type) and is_dataclass(expected):
        yield expected, value
    elif isinstance(value, list | tuple) and get_args(expected):
        for item in value:
            yield from _groups(get_args(expected)[0], item)


def _sentence(kind: type, fault: str, values: Any, name: str) -> str:
    """msgspec's "Expected `int`, got `str` - at `$.layers`" as "layers is '2'; expected a whole number."."""
    path = match[1] if (match := re.search(r"at `\$\.?([^`]*)`", fault)) else ""
    steps = re.findall(r"[^.\[\]]+", path)
    for step in steps:
        values = values[int(step) if isinstance(values, list | tuple) else step]
    return f"{path or name} is {repr(values)[:60]}; expected {_description(kind, steps) or _expected(fault)}."


def _expected(fault: str) -> str:
    match = re.search(r"Expected `([^`]*)`((?: of length)? [<>]=? [-+.\w]+)?", fault)
    types = match[1].split(" | ") if match else ["float"]  # the other fault is a number out of range
    return " or ".join(_TYPE_NAMES.get(kind, kind) for kind in types) + (match[2] or "" if match else "")


def _description(kind: Any, steps: Sequence[str]) -> str:
    """The description in the annotation of the value at a path; empty where it has none."""
    for step in steps:
        kind = get_args(kind)[0] if get_origin(kind) is Annotated else kind
        if is_dataclass(kind):
            kind = get_type_hints(kind, include_extras=True).get(step)
        else:
            kind = next(iter(get_args(kind)), None)  # of items of a list
    described = (meta.description for meta in get_args(kind)[1:] if isinstance(meta, msgspec.Meta))
    return next(filter(None, described), "")
