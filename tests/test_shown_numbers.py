"""Numbers that people read are written by one module in Python and one in TypeScript, in the same way."""

import ast
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from headlight.views.words import digits, percent, places, signed
from tests.shown_numbers import odd_numbers

ROOT = Path(__file__).parents[1]
SHOWN = ("model/headlight", "app/headlight_app")
# What they write is read in a terminal, where columns are aligned, or in a model's card, with percentages as in 72.0%.
NOT_SHOWN = tuple(f"model/headlight/{folder}/" for folder in ("cli", "training", "evaluation"))
FORMATTERS = {"words.py", "numbers.ts"}
WRITTEN: dict[str, list[list[object]]] = json.loads((ROOT / "tests/shown_numbers.json").read_text(encoding="utf-8"))
# Positions, LaTeX, edits, addresses, typed numbers and limits of them, words under the pointer of Plotly, coordinates.
PYTHON = {
    "model/headlight/analysis/walkthrough/attention.py": 2,
    "model/headlight/checkpoints/families/vision/timm.py": 1,
    "model/headlight/config/image.py": 1,
    "model/headlight/course/architectures/asked_decoder.py": 2,
    "model/headlight/course/attention_by_hand/design.py": 1,
    "model/headlight/course/block/residual.py": 1,
    "model/headlight/course/controls.py": 1,
    "model/headlight/course/variants/functions.py": 1,
    "model/headlight/nn/attention_functions.py": 2,
    "model/headlight/tracing/interventions.py": 2,
    "model/headlight/views/plotly_figures.py": 1,
    "app/headlight_app/explore/answers/analyses/stepwise.py": 1,
    "app/headlight_app/explore/answers/explanations/why.py": 1,
    "app/headlight_app/explore/answers/layer_numbers.py": 1,
    "app/headlight_app/state/url.py": 1,
}
TYPESCRIPT = {
    "live/frontend/answers/edits/syntax.ts": 1,
    "live/frontend/answers/walkthrough/head_steps.ts": 1,
    "live/frontend/page/written.ts": 1,
    "ui/frontend/charts/svg.ts": 1,
    "ui/frontend/plots/number_table.ts": 1,
    "ui/frontend/views/plane/moving_points.ts": 1,
    "explore/frontend/edits/edit_controls.ts": 1,
}


def formats(path: Path) -> Iterator[str]:
    """The formats of f-strings that write a percentage or an exponent in the way of Python, or " %" by themselves."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            for part, following in pairwise((*node.values, None)):
                if isinstance(part, ast.FormattedValue) and part.format_spec:
                    written = ast.unparse(part.format_spec)[2:-1]
                    is_share = isinstance(following, ast.Constant) and str(following.value).startswith(" %")
                    if is_share or re.search(r"[eg%]$", written):
                        yield written


def test_no_f_string_formats_a_percentage_or_an_exponent() -> None:
    paths = {path.relative_to(ROOT).as_posix(): path for folder in SHOWN for path in (ROOT / folder).rglob("*.py")}
    found = {
        name: count
        for name, path in paths.items()
        if not name.startswith(NOT_SHOWN) and path.name not in FORMATTERS and (count := len(list(formats(path))))
    }
    assert found == PYTHON


@pytest.mark.parametrize(("number", "count", "text"), WRITTEN["digits"])
def test_digits(number: float, count: int, text: str) -> None:
    assert digits(number, count) == text


@pytest.mark.parametrize(("number", "text"), WRITTEN["signed"])
def test_a_summand(number: float, text: str) -> None:
    assert signed(number) == text


@pytest.mark.parametrize(("share", "count", "text"), WRITTEN["percent"])
def test_a_share(share: float, count: int, text: str) -> None:
    assert percent(share, count) == text


@pytest.mark.parametrize(("number", "count", "text"), WRITTEN["places"])
def test_decimal_places(number: float, count: int, text: str) -> None:
    assert places(number, count) == text


def test_what_all_import_imports_nothing_of_headlight() -> None:
    assert "import headlight" not in (words := (ROOT / "model/headlight/views/words.py").read_text(encoding="utf-8"))
    assert "from headlight" not in words


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
