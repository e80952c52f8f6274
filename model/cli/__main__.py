"""`python -m model.cli`: the same commands as the command `headlight`."""

import sys

from model.cli.main import main

sys.exit(main(sys.argv[1:]))
