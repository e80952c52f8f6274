"""`python -m headlight.cli`: the same commands as the command `headlight`."""

import sys

from headlight.cli.main import main

sys.exit(main(sys.argv[1:]))
