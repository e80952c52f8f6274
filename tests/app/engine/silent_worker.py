"""A worker that never says that it is ready, and does not end when it is asked to."""

import signal
import time
from multiprocessing.connection import Connection


def serve(connection: Connection) -> None:
    """Start for ever."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(1_000)
