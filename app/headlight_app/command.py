"""The command `headlight`: serves the page, or runs a verb of `headlight.cli`.

It is not part of the server package: verbs may train a model or grade a learner's file, the server must not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from headlight.cli.terminal.interruptions import ended_at_once, guarded


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns the exit status: 0, or 2 with a sentence on standard error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    return guarded(lambda: _run(given))


def _run(given: list[str]) -> int:
    # Before torch is imported. Waiting threads that spin take cores from the threads they wait for: beside one busy
    # program, training slowed down tenfold.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if given[:1] == ["open"] and len(given) > 1 and _is_checkpoint(Path(given[1])):
        given = ["--models", given[1], "--model", Path(given[1]).resolve().name, *given[2:]]
    if given and given[0] != "app" and not given[0].startswith("-"):
        with ended_at_once():
            from headlight.cli.main import main as run_verb
            from headlight_app.live.command import live

        return run_verb(given, (live,))
    with ended_at_once():
        from headlight_app.server.launch import main as serve

    return serve(given[1:] if given[:1] == ["app"] else given, _other_verbs if {"-h", "--help"} & set(given) else str)


def _is_checkpoint(path: Path) -> bool:
    """Whether `headlight open` shows a path on the page: any file or folder except the arrays (.npz) of one run."""
    return path.exists() and path.suffix != ".npz"


def _other_verbs() -> str:
    from headlight.cli.main import usage  # imports training and export code, which the page does not need
    from headlight_app.live.command import live

    return usage((live,))


if __name__ == "__main__":
    sys.exit(main())
