"""Numbers that people read are written by one module in Python and one in TypeScript, in the same way."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shown_numbers import odd_numbers

ROOT = Path(__file__).parents[1]
SHOWN = (ROOT / "model/headlight/course", ROOT / "model/headlight/views", ROOT / "app/headlight_app")
FORMATTERS = {"words.py", "numbers.ts"}
# What is no text for people: an edit, LaTeX, words under the pointer in a figure of Plotly, coordinates, files.
PYTHON = {
    "model/headlight/course/block/residual.py": 1,
    "model/headlight/course/variants/functions.py": 1,
    "model/headlight/views/plotly_figures.py": 1,
    "app/headlight_app/explore/answers/analyses/stepwise.py": 1,
    "app/headlight_app/explore/answers/explanations/why.py": 1,
    "app/headlight_app/explore/answers/layer_numbers.py": 1,
}
TYPESCRIPT = {
    "ui/frontend/charts/svg.ts": 1,
    "ui/frontend/plots/number_table.ts": 1,
    "ui/frontend/views/plane/moving_points.ts": 1,
    "explore/frontend/edits/edit_controls.ts": 1,
}


def formats(path: Path) -> Iterator[str]:
    """The formats of f-strings that write a percentage or an exponent in the way of Python."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FormattedValue) and node.format_spec:
            written = ast.unparse(node.format_spec)[2:-1]
            if re.search(r"%$|\.[^f]*[eg]$", written):
                yield written


def test_no_f_string_formats_a_percentage_or_an_exponent() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): count
        for folder in SHOWN
        for path in folder.rglob("*.py")
        if path.name not in FORMATTERS and (count := len(list(formats(path))))
    }
    assert found == PYTHON


def test_one_module_of_the_browser_formats_numbers() -> None:
    folder = ROOT / "app/headlight_app"
    form = re.compile(r"\.to(?:Fixed|Precision|Exponential|LocaleString)\(|Intl\.NumberFormat")
    found = {
        path.relative_to(folder).as_posix(): count
        for path in folder.rglob("*.ts")
        if path.name not in FORMATTERS and (count := len(form.findall(path.read_text(encoding="utf-8"))))
    }
    assert found == TYPESCRIPT


@pytest.mark.parametrize(
    "text", ["72% of it", "It is -3.44.", "-3", "(-1)", "35333 tokens", "1e-07", "2.5e+05", "1e−07"]
)
def test_another_way_of_writing_a_number_is_found(text: str) -> None:
    assert odd_numbers({"note": (text,)}) == [text]


@pytest.mark.parametrize(
    "text", ["72.0 %", "−3.44", "35,333", "1.78·10⁻⁴", "1987-03-05", "a-1", "0.12345", "decoder.1", "x-2"]
)
def test_the_one_way_is_not(text: str) -> None:
    assert odd_numbers({"note": (text,)}) == []
