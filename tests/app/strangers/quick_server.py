"""`headlight` with short times, for tests in which time really passes."""

import sys

from headlight_app.access import uploads
from headlight_app.command import main
from headlight_app.room import rooms
from headlight_app.server import lifespan

GRACE_SECONDS, SWEEP_SECONDS, ROOM_SECONDS = 2.0, 0.5, 4.0

if __name__ == "__main__":
    uploads.GRACE_SECONDS, lifespan.SWEEP_SECONDS, rooms.ROOM_SECONDS = GRACE_SECONDS, SWEEP_SECONDS, ROOM_SECONDS
    sys.exit(main())
