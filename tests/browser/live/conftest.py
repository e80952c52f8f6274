"""The live page of stories-causal and its model, once for all tests of a worker, and a window without a network."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route

from headlight import Checkpoint, find_checkpoint, load

MODEL = "stories-causal"


@pytest.fixture(scope="session")
def checkpoint() -> Checkpoint:
    return load(find_checkpoint(MODEL), name=MODEL, device="cpu")


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of stories-causal, as the command writes it."""
    path = tmp_path_factory.mktemp("live") / "page.html"
    command = [sys.executable, "-P", "-m", "headlight_app.command", "live", MODEL, "--out", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{path} is written: {path.stat().st_size / 1e6:.1f} MB. Open it in a browser.\n"
    return path


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Page]:
    """A window without a network, in which nothing but the file and its worker may be asked for."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, offline=True)
    opened, asked, errors = context.new_page(), list[str](), list[str]()

    def watch(route: Route) -> None:
        asked.append(route.request.url)
        route.continue_()

    context.route("**/*", watch)
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    assert not [url for url in asked if not url.startswith(("blob:null/", file.parent.as_uri()))]
    assert not errors
