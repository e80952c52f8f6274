"""A learner's code runs on the learner's machine: nothing that a server imports can load or grade it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PROGRAM = """
import importlib, pkgutil, sys
import app, model
for module in pkgutil.walk_packages(app.__path__, "app."):
    if not module.name.startswith("app.frame.script"):
        importlib.import_module(module.name)
print([name for name in sys.modules if name in {
    "model.cli.check", "model.cli.check_process", "model.code_exercises.grade", "model.code_exercises.report"}])
"""


def test_no_module_of_the_page_or_its_workers_imports_what_runs_a_learners_code() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stderr


def test_no_question_to_the_workers_names_it() -> None:
    handlers = (ROOT / "app" / "engine" / "handlers.py").read_text(encoding="utf-8")
    assert "code_exercises" not in handlers and "check_process" not in handlers
