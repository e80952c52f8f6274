"""`python -m model.cli`: the same verbs as the command `headlight`."""

import sys

from model.cli.main import main

sys.exit(main(sys.argv[1:]))
