"""Every request has one row, a function that answers it, and limits for all its values."""

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from msgspec import inspect as kinds

import headlight_app
from headlight_app.contract.reply import answer_type
from headlight_app.contract.request import Request, ServerRequest
from headlight_app.server.routes import http_requests
from headlight_app.worker.table import ANSWERS

PACKAGE = Path(headlight_app.__file__).parent
BROWSER_ASKS = (
    r"(?:(?:\b(?:post|server\.get|askRoute|fetchFile|saveFileFrom)|\.ask)\("
    r'\s*(?:[\w.#]+,\s*)?|\broute: )"(\w+)"'
)
KINDS = [kind for kind, _ in ANSWERS.values()]
SERVED: Sequence[type[Request[Any]]] = ServerRequest.__subclasses__()


def requests_of(contract: str) -> Iterator[type[Request[Any]]]:
    """The requests that a contract defines."""
    for kind in vars(import_module(contract)).values():
        if isinstance(kind, type) and issubclass(kind, Request) and hasattr(kind, "route"):
            yield kind


def test_every_request_of_every_contract_has_one_row() -> None:
    contracts = [f"headlight_app.{path.parent.name}.contract" for path in PACKAGE.glob("*/contract.py")]
    contracts += [f"headlight_app.contract.{path.stem}" for path in PACKAGE.glob("contract/*.py")]
    defined = {kind for contract in contracts for kind in requests_of(contract)} - set(SERVED)
    assert defined == set(KINDS) and len({kind.route for kind in defined}) == len(defined)


@pytest.mark.parametrize("route", ANSWERS)
def test_a_row_answers_its_request_with_the_answer_that_it_names(route: str) -> None:
    kind, function = ANSWERS[route]
    hints = get_type_hints(function)
    (asked,) = inspect.signature(function).parameters
    assert issubclass(kind, hints[asked]) and hints["return"].__args__ == (answer_type(kind),)
    assert kind.seconds > 0
    assert kind.questions is not Request.questions, "without its own `questions`, uploads in it are not found"


def test_components_ask_the_routes_and_nothing_else() -> None:
    texts = (path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.ts"))
    asked = {name for text in texts for name in re.findall(BROWSER_ASKS, text)}
    assert asked == {kind.route for kind in (*http_requests(), *SERVED)}


BOUNDS: dict[type, Callable[[Any], bool]] = {
    kinds.IntType: lambda kind: (kind.ge, kind.gt) != (None, None) and (kind.le, kind.lt) != (None, None),
    kinds.FloatType: lambda kind: (kind.ge, kind.gt) != (None, None) and (kind.le, kind.lt) != (None, None),
    kinds.StrType: lambda kind: kind.max_length is not None or kind.pattern is not None,
    kinds.BytesType: lambda kind: kind.max_length is not None,
    kinds.VarTupleType: lambda kind: kind.max_length is not None,
    kinds.ListType: lambda kind: kind.max_length is not None,
    kinds.DictType: lambda kind: kind.max_length is not None,
}


def unbounded(kind: Any, path: str) -> Iterator[str]:
    """The paths of values whose size is not limited."""
    if isinstance(kind, kinds.Metadata):
        kind = kind.type
    if (is_bounded := BOUNDS.get(type(kind))) and not is_bounded(kind):
        yield path
    if isinstance(kind, kinds.StructType):
        for field in kind.fields:
            yield from unbounded(field.type, f"{path}.{field.name}")
    for inner in (*getattr(kind, "types", ()), *getattr(kind, "item_types", ())):
        yield from unbounded(inner, path)
    for name in ("item_type", "key_type", "value_type"):
        if hasattr(kind, name):
            yield from unbounded(getattr(kind, name), f"{path}[]")


@pytest.mark.parametrize("kind", (*http_requests(), *SERVED), ids=lambda kind: kind.route)
def test_whatever_a_stranger_sends_has_a_bound(kind: type[Request[Any]]) -> None:
    assert list(unbounded(kinds.type_info(kind), kind.route)) == []
