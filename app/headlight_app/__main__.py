"""`python -m headlight_app`: the command `headlight`."""

import sys

from headlight_app.command import main

sys.exit(main())
