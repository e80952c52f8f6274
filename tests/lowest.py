"""`python -m tests.lowest FOLDER [ARGUMENT ...]`: the tests with the lowest versions that pyproject.toml allows.

FOLDER becomes a virtual environment of its own; the arguments are pytest's (all tests without them). The reference
`transformers` is not installed because it needs newer tokenizers and safetensors; tests that use it are skipped.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
REFERENCE = "transformers"
OLD_TEST_CLIENT = ["httpx>=0.27"]  # needed by the test client of the lowest starlette
LENIENT = ["-W", "default::DeprecationWarning"]  # old versions use features deprecated since
NEEDS_REFERENCE = ("import transformers", "tests.families", "tests.numerics")


def requirements() -> list[str]:
    """The requirements of the page, the backend and the tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    return [*(each for each in wanted if not each.startswith(REFERENCE)), *OLD_TEST_CLIENT]


def install(folder: Path) -> Path:
    """Install the lowest versions; returns the Python of the environment."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "uv"], check=True)
    resolve = [str(python), "-m", "uv", "pip", "install", "--python", str(python), "--resolution", "lowest-direct"]
    subprocess.run([*resolve, *requirements()], check=True)
    return python


def without_reference() -> list[str]:
    """The pytest arguments that exclude comparisons with the reference."""
    files = (path for path in (ROOT / "tests").rglob("test_*.py") if "node_modules" not in path.parts)
    compares = (path for path in files if any(name in path.read_text(encoding="utf-8") for name in NEEDS_REFERENCE))
    return ["--ignore=tests/families", *(f"--ignore={path.relative_to(ROOT)}" for path in compares)]


def main(arguments: Sequence[str]) -> int:
    """Install and test; returns pytest's exit status."""
    if not arguments or arguments[0].startswith("-"):
        print(__doc__)
        return 2
    python = install(Path(arguments[0]).resolve())
    paths = os.pathsep.join(str(ROOT / source) for source in ("model", "app", "."))
    command = [str(python), "-m", "pytest", *LENIENT, *without_reference(), *arguments[1:]]
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": paths}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
