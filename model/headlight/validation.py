"""Dataclasses from plain JSON or TOML values, with a sentence for each field that is unknown, missing or mistyped."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from threading import RLock
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from headlight.errors import HeadlightError, shortened
from headlight.paths import read_regular

Kind = TypeVar("Kind")

# msgspec caches its description of a dataclass before the description is complete: a second thread that uses it
# meanwhile reads invalid memory and crashes the process. Reentrant, because a dataclass may be checked inside another.
_CONVERTING = RLock()

# The words in sentences for msgspec's names of types.
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
    """The dataclass `kind` from plain values; lists become tuples, and integers floats if the field is a float.

    Raises `error` for the first fault; its sentence refers to the whole as `name` ("config") and to a field by its path
    ("rope.theta"). An annotation with `msgspec.Meta` bounds a field, and describes the expected value in sentences.
    """
    _check_fields(kind, values, name, error)
    check_choices(kind, values, error)
    try:
        with _CONVERTING:
            return msgspec.convert(values, kind)
    except msgspec.ValidationError as fault:
        raise error(fault_sentence(kind, str(fault), values, name)) from fault
    except UnicodeEncodeError as fault:
        raise error(f"The {name} has a text with half a character in it (a lone surrogate).") from fault


MAX_TOML_BYTES, MAX_TOML_LINE, MAX_TOML_DEPTH = 64 << 10, 1_000, 16  # a key of n parts takes time n²


def read_toml(path: Path, name: str, error: type[HeadlightError]) -> dict[str, Any]:
    """The tables of a TOML file, called `name` in sentences. Raises `error` for other, long and deeply nested ones."""
    try:
        text = read_regular(path, MAX_TOML_BYTES).decode("utf-8")
        if any(len(line) > MAX_TOML_LINE for line in text.split("\n")):
            raise error(f"The {name} {path} has a line of over {MAX_TOML_LINE:,} characters; break it.")
        table = tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as fault:
        raise error(f"The {name} {path} cannot be read: {shortened(str(fault), 200)}.") from fault
    layer: list[Any] = [table]
    for _ in range(MAX_TOML_DEPTH):
        layer = [inner for each in layer for inner in (each.values() if isinstance(each, dict) else each)]
        layer = [each for each in layer if isinstance(each, dict | list)]
    if layer:
        raise error(f"The {name} {path} is nested too deeply: at most {MAX_TOML_DEPTH} tables or lists in each other.")
    return table


def check_choices(kind: type, values: Mapping[str, Any], error: type[HeadlightError], path: str = "") -> None:
    """Raise `error` if a text is not among the values of its field's Literal type, also in nested groups."""
    for field, choices, group in _chosen_fields(kind):
        value = values.get(field)
        if group:
            inner = value if isinstance(value, Mapping) else getattr(value, "__dict__", {})
            check_choices(group, inner, error, f"{path}{field}.")
            continue
        for each in value if isinstance(value, tuple | list) else (value,):
            if isinstance(each, str) and each not in choices:
                raise error(f"{path}{field} is {each!r}; possible are {', '.join(choices)}.")


@cache
def _chosen_fields(kind: type) -> tuple[tuple[str, tuple[str, ...], type | None], ...]:
    """The fields of a Literal type with its values, and the groups, with their type, that have such fields."""
    found: list[tuple[str, tuple[str, ...], type | None]] = []
    for field, expected in _field_types(kind).items():
        if choices := _choices(expected):
            found.append((field, choices, None))
        elif isinstance(expected, type) and is_dataclass(expected) and _chosen_fields(expected):
            found.append((field, (), expected))
    return tuple(found)


@cache
def _choices(expected: Any) -> tuple[str, ...]:
    """The values of a Literal type, possibly inside a tuple or a union; empty for other types."""
    if get_origin(expected) is Literal:
        return get_args(expected)
    return tuple(choice for part in get_args(expected) for choice in _choices(part))


def _check_fields(kind: type, values: Mapping[str, Any], name: str, error: type[HeadlightError]) -> None:
    """Refuse unknown fields, which msgspec ignores in a dataclass, and list all missing ones instead of the first."""
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
    """The dataclasses in a field of the type `expected`, with their plain values."""
    if isinstance(value, Mapping):
        options = (expected, *get_args(expected))  # the dataclass, or one that may be absent
        yield from ((each, value) for each in options if isinstance(each, type) and is_dataclass(each))
    elif isinstance(value, list | tuple) and get_args(expected):
        for item in value:
            yield from _groups(get_args(expected)[0], item)


def fault_sentence(kind: object, fault: str, values: Any, name: str) -> str:
    """Turns msgspec's "Expected `int`, got `str` - at `$.layers`" into "layers is '2'; expected a whole number."."""
    path = match[1].replace("[...]", "") if (match := re.search(r"at `\$\.?([^`]*)`", fault)) else ""
    steps = re.findall(r"[^.\[\]]+", path)
    if unexpected := re.match(r"Object (contains unknown|missing required) field `(\w*)`", fault):
        verb = "has a field that is not known" if unexpected[1] == "contains unknown" else "lacks a field"
        return f"The {path or name} {verb}: {unexpected[2]}."
    annotation: Any = kind
    for step in steps:
        annotation = _annotation_within(annotation, values, step)
        values = values[int(step) if isinstance(values, list | tuple) else step]
    return f"{path or name} is {repr(values)[:60]}; expected {_description(annotation) or _expected(fault)}."


def _expected(fault: str) -> str:
    match = re.search(r"Expected `([^`]*)`((?: of length)? [<>]=? [-+.\w]+)?", fault)
    types = match[1].split(" | ") if match else ["float"]  # without a match a number is out of range
    return " or ".join(_TYPE_NAMES.get(kind, kind) for kind in types) + (match[2] or "" if match else "")


def _annotation_within(annotation: Any, value: Any, step: str) -> Any:
    """The annotation of a field of a value, or of an item of a list; None if it has none."""
    kind = _bare(annotation)
    members = tuple(map(_bare, get_args(kind))) if _is_union(kind) else (kind,)
    by_tag = {each.__struct_config__.tag: each for each in members if _is_tagged(each)}
    if by_tag:
        first = next(iter(by_tag.values()))
        if step == first.__struct_config__.tag_field:
            return Literal[tuple(by_tag)]
        kind = by_tag[value[first.__struct_config__.tag_field]]
    else:
        kind = next((each for each in members if each is not NoneType), None)
    if is_dataclass(kind) or (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return get_type_hints(kind, include_extras=True).get(step)
    return next(iter(get_args(kind)), None)  # the annotation of a list's items


def _bare(annotation: Any) -> Any:
    """An annotation without its metadata."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _is_union(annotation: Any) -> bool:
    return isinstance(annotation, UnionType) or get_origin(annotation) is Union


def _is_tagged(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind.__struct_config__.tag_field is not None


def _description(annotation: Any) -> str:
    """The description of its values in an annotation; empty if it has none."""
    if get_origin(annotation) is Literal:
        return f"one of {', '.join(map(str, get_args(annotation)))}"
    if get_origin(annotation) is Annotated:
        described = (meta.description for meta in get_args(annotation)[1:] if isinstance(meta, msgspec.Meta))
        return next(filter(None, described), "")
    return next(filter(None, map(_description, get_args(annotation))), "") if _is_union(annotation) else ""
