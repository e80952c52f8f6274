"""The JavaScript as the browser fetches it."""

import posixpath
import re

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headlight_app.explore.tabs import ANALYSES, TABS
from headlight_app.ui import modules

IMPORT = re.compile(r'^(?:import|export) .*?from "(.+?)";$', re.MULTILINE | re.DOTALL)
MAIN = "explore/frontend/main.js"


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=[modules.route()]))


@pytest.mark.parametrize("attempt", ["", "-1"])
def test_a_module_is_served_at_its_own_path_and_kept_for_ever(client: TestClient, attempt: str) -> None:
    answer = client.get(f"{modules.folder()}{attempt}/{MAIN}")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    assert answer.content == (modules.ROOT / MAIN).read_bytes()


def test_every_import_is_served() -> None:
    served = modules.modules()
    for path, text in served.items():
        for name in IMPORT.findall(text.decode()):
            assert posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) in served, f"{path} imports {name}"


@pytest.mark.parametrize(
    "path", ["__init__.py", "explore/../../../pyproject.toml", "/etc/passwd", "explore/frontend/no.js"]
)
def test_nothing_else_is_served(client: TestClient, path: str) -> None:
    assert client.get(f"{modules.folder()}/{path}").status_code == 404


def test_another_version_is_not_served(client: TestClient) -> None:
    assert client.get(f"{modules.folder()}/{MAIN}".replace(modules.version(), "0" * 16)).status_code == 404


def test_the_module_of_every_tab_and_analysis_is_served() -> None:
    assert {tab.module for tab in (*TABS.values(), *ANALYSES.values())} <= set(modules.modules())
