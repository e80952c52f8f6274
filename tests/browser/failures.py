"""Keeps what a failed browser test leaves: its error, each window's picture and console, and each server's log."""

import re
import shutil
from pathlib import Path
from tempfile import mkdtemp

import pytest
from playwright.sync_api import Browser, Error, Page

from tests.browser.server import Server

FOLDER = Path(__file__).parents[2] / "build" / "failures"
PATIENCE = 10_000  # milliseconds for a picture of a page that may hang
UNUSED = "/_stcore/health"  # the address of the window that keeps an emptied context alive


def keep(item: pytest.Item, report: pytest.TestReport) -> Path:
    """Writes the error of a failed test and the state of its windows and servers into a folder, and returns that."""
    folder = _empty_folder(re.sub(r"[^\w.-]+", "-", item.nodeid.removeprefix("tests/browser/")))
    (folder / "error.txt").write_text(report.longreprtext, encoding="utf-8")
    arguments: dict[str, object] = getattr(item, "funcargs", {})
    for server in (value for value in arguments.values() if isinstance(value, Server)):
        shutil.copy(server.log_file, folder / f"server-{server.port}.log")
    for browser in (value for value in arguments.values() if isinstance(value, Browser)):
        pages = [page for context in browser.contexts for page in context.pages if not page.url.endswith(UNUSED)]
        for number, page in enumerate(pages, start=1):
            _keep_page(page, folder / f"window-{number}")
    return folder


def _empty_folder(name: str) -> Path:
    folder = FOLDER / name
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    except OSError:  # a checkout that cannot be written to
        return Path(mkdtemp(prefix=f"{name[:80]}-"))
    return folder


def _keep_page(page: Page, path: Path) -> None:
    said = [f"{message.type}: {message.text}" for message in page.console_messages()]
    errors = [f"uncaught: {error}" for error in page.page_errors()]
    path.with_suffix(".txt").write_text("\n".join([page.url, *said, *errors]), encoding="utf-8")
    try:
        page.screenshot(path=path.with_suffix(".png"), timeout=PATIENCE)
    except Error as error:
        path.with_suffix(".no-picture.txt").write_text(str(error), encoding="utf-8")
