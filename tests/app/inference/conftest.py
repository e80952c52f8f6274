"""A server with models for pictures and sounds."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from headlight_app.room.rooms import Rooms
from headlight_app.server.middleware import VisitorMiddleware
from headlight_app.server.routes import routes
from tests.app.inference.signal_models import save_seers


@pytest.fixture(scope="package")
def seers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_seers(tmp_path_factory.mktemp("seers"))


@pytest.fixture
def known_too(known: None, seers: Path) -> None:
    """Offer these models on the page besides the toys."""
    os.environ["HEADLIGHT_MODELS"] += os.pathsep + str(seers)


def front(request: Request) -> HTMLResponse:
    return HTMLResponse("the page")


@pytest.fixture
def server() -> Starlette:
    return Starlette(routes=[Route("/", front), *routes(Rooms())], middleware=[Middleware(VisitorMiddleware)])


@pytest.fixture
def client(server: Starlette) -> Iterator[TestClient]:
    with TestClient(server) as client:
        client.get("/")  # sets the visitor's cookie
        yield client
