"""`lint-imports` names each import of the TypeScript that a contract forbids."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.javascript import imports, node

FRONT_ENDS = Path("app/headlight_app")
# An import that is added to a module, and the rule that it breaks; the names without "headlight_app".
FORBIDDEN = [
    ("room.frontend.places", "course.frontend.inputs", "room is not allowed to import course"),
    ("compare.frontend.main", "generate.frontend.text", "compare is not allowed to import generate"),
    ("ui.frontend.dom.table", "ui.frontend.charts.scale", "frontend.dom is not allowed to import ui.frontend.charts"),
    ("explore.frontend.state", "explore.frontend.main", "a circle in explore.frontend"),
]


def add_import(root: Path, importer: str, imported: str) -> None:
    """Adds an import to a module of the tree at `root`."""
    path, target = (root / FRONT_ENDS / f"{name.replace('.', '/')}.ts" for name in (importer, imported))
    way = Path(os.path.relpath(target, path.parent)).as_posix()
    path.write_text(f'import "./{way}";\n{path.read_text(encoding="utf-8")}', encoding="utf-8")


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What is said of a copy to which the forbidden imports were added, and a folder that no contract names."""
    root = tmp_path_factory.mktemp("copy")
    for name in (FRONT_ENDS, Path("tests/javascript")):
        ignored = shutil.ignore_patterns("*.pyc", "*.json.gz", "node_modules", "static")
        shutil.copytree(imports.ROOT / name, root / name, ignore=ignored)
    shutil.copy(imports.ROOT / "pyproject.toml", root)
    shutil.copy(imports.ROOT / "tests/__init__.py", root / "tests")
    (root / "tests/javascript/node_modules").symlink_to(node.FOLDER / "node_modules", target_is_directory=True)
    new = root / FRONT_ENDS / "ui/frontend/new"
    new.mkdir()
    (new / "new.ts").touch()
    add_import(root, "ui.frontend.heads.zoom", "ui.frontend.new.new")
    for importer, imported, _ in FORBIDDEN:
        add_import(root, importer, imported)
    chosen = (f"--contract=javascript-{name}" for name in ("downwards", "parts", "no-circle"))
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", program, "--no-logo", "--no-cache", *chosen]
    done = subprocess.run(command, cwd=root, env=os.environ | {"COLUMNS": "400"}, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout.replace("headlight_app.", "")


@pytest.mark.parametrize(("importer", "imported", "rule"), FORBIDDEN)
def test_a_forbidden_import_is_named_with_its_rule(importer: str, imported: str, rule: str, said: str) -> None:
    assert rule in said
    assert f"{importer} -> {imported}" in said


def test_a_new_folder_needs_a_layer(said: str) -> None:
    assert "not listed as layers:\n\n- ui.frontend.new\n" in said


def test_every_module_is_read() -> None:
    found = (imports.ROOT / FRONT_ENDS).glob("*/frontend/**/*.ts")
    paths = [path for path in found if path.name not in ("types.ts", "contract.ts", "assets.d.ts")]  # types alone
    modules = {imports.module_name(path.relative_to(imports.ROOT).as_posix()) for path in paths}
    assert len(modules) > 100 and modules <= imports.import_graph().modules
