"""The exercises as files with gaps: valid, never overwriting a file, and checked when run."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from headlight.code_exercises.exercises import CODE_EXERCISES, notebook_text, python_text, write_exercises
from headlight.errors import HeadlightError
from tests.model.code_exercises.files import IMPORTS, PARTS, with_slip


def run_notebook(solutions: dict[str, str], capsys: pytest.CaptureFixture[str]) -> str:
    """The output of the code cells with these solutions in the gaps."""
    names: dict[str, Any] = {}
    for cell in json.loads(notebook_text())["cells"]:
        if cell["cell_type"] == "code":
            name = cell["id"].removesuffix("-gap")
            exec(compile(solutions.get(name, cell["source"]), cell["id"], "exec"), names)
    return capsys.readouterr().out


def test_the_notebook_is_one_of_nbformat_4_5() -> None:
    notebook = json.loads(notebook_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    identities = [cell["id"] for cell in notebook["cells"]]
    assert len(set(identities)) == len(identities)
    for cell in notebook["cells"]:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell["id"])
        assert isinstance(cell["source"], str) and cell["metadata"] == {}
        code = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert set(cell) == {"cell_type", "id", "metadata", "source"} | code


def test_filled_rightly_every_check_of_the_notebook_passes(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run_notebook(PARTS, capsys)
    assert "WRONG" not in printed
    assert all(f"{name}\n  right" in printed for name in CODE_EXERCISES)


def test_filled_wrongly_the_notebook_names_the_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    whole = with_slip("attention", "/ math.sqrt(query.size(-1))", "")
    wrong = whole[whole.index("def attention") : whole.index("class MultiHeadedAttention")]
    printed = run_notebook({**PARTS, "attention": wrong}, capsys)
    assert "are not divided by √d_k" in printed


def test_an_unfilled_gap_is_said_and_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run_notebook({}, capsys)
    assert printed.count("this is not written yet") == len(CODE_EXERCISES)


def test_the_python_file_has_every_gap() -> None:
    names: dict[str, Any] = {}
    exec(compile(python_text(), "gaps.py", "exec"), names)
    assert set(CODE_EXERCISES) <= set(names)
    assert max(map(len, python_text().splitlines())) <= 110
    assert IMPORTS.splitlines()[-1] in python_text()


def test_a_file_that_exists_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "mine.ipynb"
    path.write_text("my work")
    with pytest.raises(HeadlightError, match="already exists"):
        write_exercises(path)
    assert path.read_text() == "my work"
    with pytest.raises(HeadlightError, match=r"neither a notebook \(\.ipynb\) nor"):
        write_exercises(tmp_path / "mine.txt")
