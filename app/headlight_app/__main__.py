"""`python -m headlight_app` runs the command `headlight`."""

import sys

from headlight_app.command import main

if __name__ == "__main__":
    sys.exit(main())
