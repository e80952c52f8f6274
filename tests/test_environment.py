"""Two files of tests pass without a home, a locale, fonts or folders for caches, and in another time zone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOWHERE = f"{os.devnull}/nowhere"  # not even root can make it
BARE = {
    "HOME": NOWHERE,
    "LC_ALL": "C",
    "TZ": "Asia/Kathmandu",
    "FONTCONFIG_FILE": NOWHERE,
    "HYPOTHESIS_STORAGE_DIRECTORY": NOWHERE,
}
KEPT = ("PATH", "TMPDIR", "OMP_NUM_THREADS", "SYSTEMROOT")
TESTS = ("tests/model/course/test_tokens.py", "tests/model/checkpoints/test_catalog.py")


@pytest.mark.full  # half a minute
def test_a_machine_that_nobody_has_prepared_is_enough() -> None:
    environment = BARE | {name: os.environ[name] for name in KEPT if name in os.environ}
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-o", f"cache_dir={NOWHERE}", *TESTS]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True)
    assert done.returncode == 0, done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
