"""Dataclasses from plain values in several threads at once."""

import subprocess
import sys
from textwrap import dedent

RACE = dedent(
    """
    import sys
    from dataclasses import field, make_dataclass
    from threading import Barrier, Thread

    from headlight.errors import ConfigError
    from headlight.validation import from_plain

    sys.setswitchinterval(1e-6)
    THREADS = 4
    for number in range(100):
        inner = make_dataclass(f"Inner{number}", [(f"x{each}", int, field(default=0)) for each in range(8)])
        texts = [(f"y{each}", "tuple[int, ...]", field(default=())) for each in range(20)]
        kind = make_dataclass(f"Kind{number}", [("inner", inner, field(default_factory=inner)), *texts])
        kind.__module__ = inner.__module__ = "__main__"
        barrier = Barrier(THREADS)

        def convert():
            barrier.wait()
            assert from_plain(kind, {"inner": {"x0": 1}, "y3": [1, 2]}, "question", ConfigError).y3 == (1, 2)

        threads = [Thread(target=convert) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    """
)


def test_the_first_questions_may_come_at_once() -> None:
    ended = subprocess.run([sys.executable, "-c", RACE], capture_output=True, text=True, timeout=300)
    assert (ended.returncode, ended.stderr) == (0, "")
