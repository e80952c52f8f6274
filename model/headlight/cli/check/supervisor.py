"""`python -m headlight.cli.check.supervisor COMMAND ...`: runs a command, then ends every process that it started.

On Linux those are also the ones in a session of their own, whose parents have ended; on other systems such processes
stay, and so they do everywhere if the command kills this process. The first line of standard input is the command's
input; when standard input ends, the command is ended.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from threading import Thread

import psutil

_SET_CHILD_SUBREAPER = 36  # prctl: orphans of the processes that it started become this one's children
MAX_FILE = 64 << 20  # bytes of each file that the command writes, its output included
_ROUNDS = 100  # a process may start another before it is stopped


def main(command: Sequence[str]) -> None:
    """Run the command. The exit status is its own, or 128 plus the signal that ended it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl+C ends the parent, and with it this process's input
    _limit_files()
    first_line = sys.stdin.buffer.readline()
    child = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    Thread(target=_end_with_input, args=[child], daemon=True).start()
    with suppress(BrokenPipeError):
        child.communicate(first_line)
    if os.name != "nt":
        with suppress(ProcessLookupError, PermissionError):  # if all have ended
            os.killpg(child.pid, signal.SIGKILL)
    end_children()
    os._exit(child.returncode if child.returncode >= 0 else 128 - child.returncode)  # the thread still reads


def _limit_files() -> None:
    """Let no process that this one starts write a file beyond MAX_FILE; Windows has no such limit."""
    if sys.platform != "win32":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        limit = MAX_FILE if most == resource.RLIM_INFINITY else min(MAX_FILE, most)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def _end_with_input(child: subprocess.Popen[bytes]) -> None:
    sys.stdin.buffer.read()
    child.kill()


def end_children() -> None:
    """End this process's children and theirs, until there are none."""
    for _ in range(_ROUNDS):
        if not (found := psutil.Process().children(recursive=True)):
            return
        for act in (psutil.Process.suspend, psutil.Process.kill):  # what is suspended starts no other
            for each in found:
                with suppress(psutil.Error):
                    act(each)
        psutil.wait_procs(found, timeout=1)


if __name__ == "__main__":
    main(sys.argv[1:])
