"""The import hook's wrapper of every function of `headlight`: it checks each call's types and shapes.

`jaxtyping.jaxtyped` does so, too, but binds the arguments of every call and checks them twice, even if no array is
named. That took half of the computing time.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, get_args, get_type_hints

from beartype import BeartypeConf, beartype
from jaxtyping import AbstractArray, config, jaxtyped

_WITH_TYPES = beartype(conf=BeartypeConf(violation_type=TypeError))


def jaxtyped_once(*, typechecker: object) -> Callable[[Any], Any]:
    """Replaces `jaxtyping.jaxtyped(typechecker=...)`, with which the import hook decorates functions and classes."""
    return _checked


def _checked(part: Any) -> Any:
    if inspect.isclass(part):
        if dataclasses.is_dataclass(part):
            part.__init__ = _checked_function(part.__init__)  # type: ignore[method-assign]
        return part
    if isinstance(part, classmethod | staticmethod):
        return type(part)(_checked_function(part.__func__))
    if isinstance(part, property):
        return property(*(each and _checked_function(each) for each in (part.fget, part.fset, part.fdel)))
    return _checked_function(part)


def _checked_function(function: Any) -> Any:
    if "<locals>" in function.__qualname__ and not _names_shapes(*_hints(function).values()):
        return function  # recreated at every outer call; mypy checks its types

    @functools.cache
    def compiled() -> tuple[Callable[..., Any], bool]:  # at the first call: most functions are never called
        function.__annotations__ = hints = _hints(function)
        return _WITH_TYPES(function), _names_shapes(*hints.values())

    @functools.wraps(function)
    def check_and_call(*args: Any, **kwargs: Any) -> Any:
        if config.jaxtyping_disable:
            return function(*args, **kwargs)
        with_types, has_shapes = compiled()
        if not has_shapes:
            return with_types(*args, **kwargs)
        with jaxtyped("context"):  # here `head` has one size
            return with_types(*args, **kwargs)

    return check_and_call


def _hints(function: Any) -> dict[str, Any]:
    """The annotations as types; names imported only for the type checker become Any."""
    hints: dict[str, Any] = {}
    for name, annotation in function.__annotations__.items():
        try:
            hints |= get_type_hints(
                SimpleNamespace(__annotations__={name: annotation}), function.__globals__, include_extras=True
            )
        except (NameError, AttributeError):
            hints[name] = Any
    return hints


def _names_shapes(*hints: Any) -> bool:
    return any(
        (inspect.isclass(hint) and issubclass(hint, AbstractArray)) or _names_shapes(*get_args(hint)) for hint in hints
    )
