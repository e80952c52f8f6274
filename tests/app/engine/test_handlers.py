"""Every name that somebody asks is a row, and every row is a function that answers."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from app.engine.handlers import HANDLERS

ROOT = Path(__file__).parents[3]
JAVASCRIPT_ASKS = (
    r"(?:\b(?:post|server\.get|askRoute|fetchFile|saveFileFrom)|#(?:ask|file))\("
    r'\s*(?:(?:page|api|this\.#?api),\s*)?"(\w+)"'
)
PYTHON_ASKS = r'\b(?:ask(?:_shared)?|EngineRequest)\(\s*"(\w+)"'


def asked(pattern: str, ending: str, *folders: str) -> set[str]:
    """The names that the sources in some folders ask."""
    files = [path for folder in folders for path in (ROOT / folder).rglob(f"*.{ending}")]
    return {name for path in files for name in re.findall(pattern, path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("name", HANDLERS)
def test_a_row_names_a_function_that_answers_a_body_with_bytes(name: str) -> None:
    module, _, function = HANDLERS[name].function.partition(":")
    assert function.startswith("handle_")
    signature = inspect.signature(getattr(import_module(module), function))
    assert (list(signature.parameters), signature.return_annotation) == (["body"], "bytes")
    assert HANDLERS[name].seconds > 0


def test_no_two_rows_are_one() -> None:
    assert len({row.function for row in HANDLERS.values()}) == len(HANDLERS)


def test_components_ask_the_routes_and_nothing_else() -> None:
    found = asked(JAVASCRIPT_ASKS, "js", "app", "model/rendering/static")
    assert found == {name for name, row in HANDLERS.items() if row.is_route}


def test_pages_ask_what_is_no_route() -> None:
    assert asked(PYTHON_ASKS, "py", "app") == {name for name, row in HANDLERS.items() if not row.is_route}
