"""`python -m headlight.cli` does the same as the command `headlight`."""

import sys

from headlight.cli.terminal.interruptions import ended_at_once, guarded


def _run() -> int:
    with ended_at_once():  # it imports torch
        from headlight.cli.main import main

    return main(sys.argv[1:])


sys.exit(guarded(_run))
