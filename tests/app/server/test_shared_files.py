"""The script of the page and Streamlit's own files are served from memory, each compressed once."""

import zlib
from mimetypes import MimeTypes
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient
from streamlit.file_util import get_static_dir

from headlight_app.server.middleware import SecurityHeaders, VisitorMiddleware
from headlight_app.server.shared_files import SharedFiles
from headlight_app.ui import modules
from headlight_app.ui.modules import FILES, FONT, SCRIPT
from tests.sampling import combinations

STREAMLITS = [
    max(Path(get_static_dir(), "static").rglob(f"*{kind}"), key=lambda file: file.stat().st_size)
    for kind in (".js", ".css", ".woff2")
]


def browser(*, compresses: bool = True) -> TestClient:
    """A client of a server that has only the shared files."""
    return TestClient(Starlette(middleware=[Middleware(SharedFiles, compresses=compresses)]))


@pytest.fixture(autouse=True)
def without_tables_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """The media types that Python knows by itself, as on a machine without /etc/mime.types."""
    types = MimeTypes(filenames=())
    monkeypatch.setattr("headlight_app.server.shared_files.guess_type", types.guess_type)


@pytest.mark.parametrize("attempt", ["", "-1"])
def test_the_script_of_the_page_is_served_and_kept_for_ever(attempt: str) -> None:
    answer = browser().get(f"{modules.folder()}{attempt}/{SCRIPT}")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    assert answer.content == FILES[SCRIPT].read_bytes()


def test_the_mathematics_font_is_served_as_a_font_and_kept_for_ever() -> None:
    answer = browser().get(f"{modules.folder()}/{FONT}", headers={"accept-encoding": "gzip"})
    assert answer.status_code == 200 and answer.content == FILES[FONT].read_bytes()
    assert answer.headers["content-type"] == "font/woff2"
    assert "immutable" in answer.headers["cache-control"] and "content-encoding" not in answer.headers


@pytest.mark.parametrize(
    ("file", "compresses", "accepted"),
    combinations(STREAMLITS, [True, False], ["gzip, br", "identity"]),
    ids=lambda value: value.suffix if isinstance(value, Path) else value,
)
def test_a_file_of_streamlit_comes_whole_and_compressed_for_those_who_take_it(
    file: Path, compresses: bool, accepted: str
) -> None:
    path = f"/{file.relative_to(get_static_dir()).as_posix()}"
    answer = browser(compresses=compresses).get(path, headers={"accept-encoding": accepted})
    assert answer.status_code == 200 and answer.content == file.read_bytes()
    assert answer.headers["content-type"].partition(";")[0] in ("text/javascript", "text/css", "font/woff2")
    is_compressed = compresses and "gzip" in accepted and file.suffix != ".woff2"
    assert (answer.headers.get("content-encoding") == "gzip") == is_compressed
    assert int(answer.headers["content-length"]) < file.stat().st_size or not is_compressed


def test_what_many_ask_for_is_compressed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compressed: list[bytes] = []

    def compress(content: bytes) -> bytes:
        compressed.append(content)
        return zlib.compress(content, wbits=31)

    monkeypatch.setattr("gzip.compress", compress)
    client = browser()
    for attempt in range(30):
        assert client.get(f"{modules.folder()}-{attempt}/{SCRIPT}").status_code == 200
    assert len(compressed) == 1


@pytest.mark.parametrize("folder", ["/static", modules.folder()])
@pytest.mark.parametrize(
    "path", ["__init__.py", "explore/../../../pyproject.toml", "/etc/passwd", "explore/frontend/main.ts", ""]
)
def test_nothing_else_is_served(folder: str, path: str) -> None:
    assert browser().get(f"{folder}/{path}").status_code == 404


def test_another_version_is_not_served() -> None:
    assert browser().get(f"{modules.folder()}/{SCRIPT}".replace(modules.version(), "0" * 16)).status_code == 404


def test_an_answer_for_everybody_holds_nothing_of_one_visitor_and_does_not_grow() -> None:
    around = [Middleware(SecurityHeaders), Middleware(VisitorMiddleware), Middleware(SharedFiles, compresses=True)]
    app = Starlette(middleware=around)
    first, *others = (TestClient(app).get(f"{modules.folder()}/{SCRIPT}").headers.multi_items() for _ in range(3))
    assert others == [first, first]
    assert "set-cookie" not in dict(first)
