"""The pages on adding, followed literally in a copy of the tree: what is added appears, and breaks no other test."""

import os
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.additions import ADDITIONS, Addition, Insertion

ROOT = Path(__file__).parent.parent
NOT_COPIED = shutil.ignore_patterns("__pycache__", "node_modules", ".*_cache")
# Tests that an addition once made fail, or that compare with a whole registry.
READ_REGISTRIES = (
    *(f"model/nn/test_{name}.py" for name in ("masks", "positional_encodings", "variant_combinations", "variants")),
    *(f"model/tracing/test_{name}.py" for name in ("edited_hook_points", "interventions", "run")),
    "model/evaluation/test_command.py::test_the_best_heads_come_first",
    "model/analysis/walkthrough/test_attention.py",
    "model/cli/test_many_texts.py",
    "model/rendering/test_html.py",
    "model/test_tasks.py",
    "model/course/test_symbols.py",
    *(f"app/explore/test_{name}.py" for name in ("export_api", "export_code", "tabs")),
    *(f"app/inference/test_{name}.py" for name in ("attention_payload", "choices", "source_code")),
    "app/positions/test_page.py",
    "app/state/test_state.py",
    "app/ui/test_modules.py",
    "javascript/test_javascript.py::test_what_the_tests_of_the_drawing_get_is_what_the_app_sends",
    "test_documents.py",
    "test_house.py::test_a_folder_holds_as_many_files_as_one_sees_at_a_glance",
)
ADDED = ("seed_oss", "heads/counted", "reversed", "rhyme")  # additions whose names are part of test names


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree to which everything has been added."""
    root = tmp_path_factory.mktemp("copy")
    for name in ("model", "app", "tests"):
        shutil.copytree(ROOT / name, root / name, ignore=NOT_COPIED)
    for pattern in ("*.md", "pyproject.toml"):
        for path in ROOT.glob(pattern):
            shutil.copy(path, root)
    for name in ("assets", "tests/javascript/node_modules"):
        (root / name).symlink_to(ROOT / name, target_is_directory=True)
    for addition in ADDITIONS.values():
        for insertion in addition.insertions:
            insertion.insert(root)
    return root


def run_tests(root: Path, *arguments: str) -> None:
    """Tests of the tree at `root`, in a process of their own."""
    sources = os.pathsep.join(str(root / folder) for folder in ("model", "app"))
    program = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(program, cwd=root, env=os.environ | {"PYTHONPATH": sources}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def instructions(addition: Addition) -> str:
    """What the page says about an addition."""
    _, start, rest = (ROOT / addition.page).read_text(encoding="utf-8").partition(addition.start)
    assert start, f"{addition.page} has no {addition.start!r}"
    return rest.partition(addition.end)[0]


def is_named(insertion: Insertion, addition: Addition) -> bool:
    """Whether the page names the file: by its path, from the page's folder or from the root, or by what it holds."""
    relative = posixpath.relpath(insertion.path, posixpath.dirname(addition.page))
    found = instructions(addition)
    return insertion.named in found if insertion.named else f"`{relative}`" in found or f"`{insertion.path}`" in found


@pytest.mark.parametrize("name", ADDITIONS)
def test_an_addition_touches_the_files_that_its_page_names_and_no_other(name: str) -> None:
    addition = ADDITIONS[name]
    assert [each.path for each in addition.insertions if not is_named(each, addition)] == []
    to_write = instructions(addition).split(" | ")[0]
    touched = [each.path for each in addition.insertions]
    assert [
        path for path in re.findall(r"`([\w/]+\.py)`", to_write) if not any(each.endswith(path) for each in touched)
    ] == []


def test_an_addition_is_everywhere(copy: Path) -> None:
    run_tests(copy, "tests/app/added_parts.py")


@pytest.mark.full
@pytest.mark.timeout(1800)  # hundreds of tests in a row
def test_no_test_of_what_exists_fails(copy: Path) -> None:
    run_tests(copy, "-m", "not full", *(f"tests/{path}" for path in READ_REGISTRIES))


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_the_tests_of_each_row_of_a_registry_pass_for_the_rows_added(copy: Path) -> None:
    run_tests(copy, "-k", " or ".join(ADDED), "tests/families", "tests/model", "tests/app")
