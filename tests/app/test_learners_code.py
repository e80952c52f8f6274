"""A learner's code runs on the learner's machine only: no module that a server imports can load or grade it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PROGRAM = """
import importlib, pkgutil, sys
import headlight, headlight_app
for module in pkgutil.walk_packages(headlight_app.__path__, "headlight_app."):
    if not module.name.startswith("headlight_app.frame.script"):
        importlib.import_module(module.name)
print([name for name in sys.modules if name in {
    "headlight.cli.check.command", "headlight.cli.check.process", "headlight.code_exercises.grade"}])
"""


@pytest.mark.full
def test_no_module_of_the_page_or_its_workers_imports_what_runs_a_learners_code() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stderr


def test_no_question_to_the_workers_names_it() -> None:
    table = (ROOT / "app" / "headlight_app" / "worker" / "table.py").read_text(encoding="utf-8")
    assert "code_exercises" not in table and "cli.check" not in table
