"""Finds the Chromium for the browser tests; `python -m tests.browser.chromium` installs one if permitted.

On Linux it sees no font of the machine, so that every such machine draws the same: text is in the fonts that the
server sends, and characters that these lack are in Bitstream Vera, which comes with reportlab.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import reportlab
from playwright.sync_api import Browser, sync_playwright

SHELL = "chromium-headless-shell"  # no windows, no compositor: 20 % less processor time
COMMANDS = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
APPLICATIONS = (
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
)
FONTS = Path(reportlab.__file__).parent / "fonts"
FONT_CONFIGURATION = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>{fonts}</dir>
  <cachedir>{cache}</cachedir>
  <selectfont>
    <acceptfont><glob>*/Vera*.ttf</glob></acceptfont>
    <rejectfont><glob>*</glob></rejectfont>
  </selectfont>
  <match target="pattern"> <!-- as on most machines; full hinting bends small letters -->
    <edit name="hintstyle"><const>hintslight</const></edit>
  </match>
</fontconfig>
"""
ARGUMENTS = (
    "--no-sandbox",  # the sandbox is unavailable to root, as in CI
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",  # the next window reuses the page's compiled scripts
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # no network, as in some classrooms
)
MISSING = (
    "No Chromium was found, and the tests of the page need one. "
    f"Install it (Debian and Ubuntu: apt-get install {SHELL}), "
    f"or put one of these on the PATH: {', '.join(COMMANDS)}."
)


def find() -> str | None:
    """The path of an installed Chromium or Chrome, or None."""
    on_path = (shutil.which(command) for command in COMMANDS)
    applications = (str(path) for path in APPLICATIONS if path.exists())
    return next((found for found in (*on_path, *applications) if found), None)


class MissingBrowser(SystemExit):
    """No Chromium is installed; if uncaught, the program exits with this message."""


@contextmanager
def launched() -> Iterator[Browser]:
    """A headless Chromium until the block ends. Raises MissingBrowser if none is installed."""
    if (path := find()) is None:
        raise MissingBrowser(MISSING)
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        environment = os.environ | {"FONTCONFIG_FILE": str(_font_configuration(Path(folder)))}
        running = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS), env=dict(environment))
        yield running
        running.close()


def _font_configuration(folder: Path) -> Path:
    """A configuration for fontconfig in `folder`, with its cache."""
    file = folder / "fonts.conf"
    file.write_text(FONT_CONFIGURATION.format(fonts=FONTS, cache=folder / "cache"), encoding="utf-8")
    return file


def install() -> None:
    """Installs a Chromium with apt-get; does nothing without apt-get or root rights."""
    if shutil.which("apt-get") is None or (root := _as_root()) is None:
        return
    quiet = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    print("Installing Chromium for the tests of the page ...", flush=True)
    for step in (["update"], ["install", "--yes", "--no-install-recommends", SHELL]):
        done = subprocess.run([*quiet, *step], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            print(f"apt-get {step[0]} failed:\n{done.stdout}{done.stderr}", file=sys.stderr)


def _as_root() -> list[str] | None:
    """The prefix that runs a command as root without a password prompt, or None."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0:
        return ["sudo", "-n"]
    return None


def main() -> int:
    """Ensures that a browser is installed; without one, CI fails and a developer gets a message.

    CI installs the fastest one even if it has another.
    """
    if find() is None or (os.environ.get("CI") and shutil.which(SHELL) is None):
        install()
    if find() is not None:
        return 0
    print(MISSING, file=sys.stderr)
    return 1 if os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main())
