"""A worker that never reports that it is ready and ignores SIGTERM."""

import signal
import time
from multiprocessing.connection import Connection


def serve(connection: Connection) -> None:
    """Never finish starting."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(1_000)
