"""`python -m headlight.cli`: the same commands as the command `headlight`."""

import sys

from headlight.cli.terminal import guarded


def _run() -> int:
    from headlight.cli.main import main  # which takes its time, and may be interrupted

    return main(sys.argv[1:])


sys.exit(guarded(_run))
