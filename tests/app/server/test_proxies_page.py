"""The snippets of the page on proxies do what it says."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace

import pytest

from headlight_app.server import launch
from tests.browser.proxy import Proxy, running
from tests.browser.server import HEALTH, free_port, serve, wait_until_answered

PAGE = Path(launch.__file__).with_name("PROXIES.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^    headlight ([^\n]+)\n\n```(nginx|caddy)\n(.+?)```", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^    headlight (.+)$", PAGE, re.MULTILINE)
NAME, WRITTEN_PORT = "lab.example", "8501"
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


def test_every_snippet_has_its_command_and_every_command_is_one() -> None:
    assert [program for _, program, _ in SNIPPETS] == ["nginx", "nginx", "caddy", "caddy"]
    assert PAGE.count("```nginx") + PAGE.count("```caddy") == len(SNIPPETS)
    for command in COMMANDS:
        assert launch._parser("").parse_args(command.split())


def test_the_snippet_for_jupyter_starts_the_page_at_the_port_that_it_is_given() -> None:
    (snippet,) = re.findall(r"```python\n(.+?)```", PAGE, re.DOTALL)
    config = SimpleNamespace(ServerProxy=SimpleNamespace())
    exec(snippet, {"c": config})  # the page's own words
    entry = config.ServerProxy.servers["headlight"]
    program, *options = (word.format(port=9000) for word in entry["command"])
    read = launch._parser("").parse_args(options)
    assert (program, read.port, read.browser, read.allow_host) == ("headlight", 9000, False, ["hub.example"])
    assert entry["timeout"] >= 60, "five seconds are the default"


def stand_in(snippet: str, port: int) -> Proxy:
    """The proxy that a snippet describes."""
    (path,) = re.findall(r"(?:location|handle|handle_path) (/\S*)", snippet) or ["/"]
    (target,) = re.findall(rf"(?:proxy_pass|reverse_proxy) (\S*?{WRITTEN_PORT}/?)(?=[;\s])", snippet)
    passes_host = ("nginx" not in snippet and "proxy_pass" not in snippet) or "Host $http_host" in snippet
    return Proxy(
        port,
        prefix=path.rstrip("*/"),
        strips=target.endswith("/") or "handle_path" in snippet,
        host="" if passes_host else f"127.0.0.1:{port}",
        has_websockets="proxy_pass" not in snippet or "Upgrade $http_upgrade" in snippet,
    )


@contextmanager
def real(program: str, snippet: str, port: int, folder: Path) -> Iterator[str]:
    """The origin of the program itself with a snippet, until the block ends."""
    own = free_port()
    snippet = snippet.replace(WRITTEN_PORT, str(port))
    if program == "nginx":
        snippet = snippet.replace("listen 80;", f"listen 127.0.0.1:{own};")
        settings = f"daemon off; pid {folder}/pid; error_log {folder}/log; events {{}}"
        paths = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy"))
        written = f"{settings}\nhttp {{ access_log off; {paths}\n{snippet} }}"
        command = ["nginx", "-e", f"{folder}/log", "-c"]
    else:
        address = f"http://{NAME}:{own} {{"
        written = f"{{\n admin off\n auto_https off\n}}\n{snippet.replace(f'{NAME} {{', address)}"
        command = ["caddy", "run", "--adapter", "caddyfile", "--config"]
    (folder / "settings").write_text(written, encoding="utf-8")
    with (folder / "said").open("w") as said:
        process = subprocess.Popen([*command, str(folder / "settings")], stdout=said, stderr=said)
    try:
        wait_until_answered(own, process)
        yield f"http://127.0.0.1:{own}"
    finally:
        process.terminate()
        process.wait(60)


def status(origin: str, method: str, path: str, headers: dict[str, str]) -> int:
    """The status of the answer to a request for the name, wherever the proxy is."""
    port = int(origin.rpartition(":")[2])
    line = HTTPConnection("127.0.0.1", port, timeout=60)
    line.request(method, path, headers={"Host": f"{NAME}:{port}", **headers})
    found = line.getresponse().status
    line.close()
    return found


def assert_serves(origin: str, path: str) -> None:
    """A page, a request and a WebSocket pass, but none from a page of another site."""
    own = origin.replace("127.0.0.1", NAME)
    assert status(origin, "GET", f"{path}/", {"Accept": "text/html"}) == 200
    for site, request, connection in (
        (own, 204, 101),
        ("http://evil.example", 403, 403),
        (f"{own}.evil.example", 403, 403),
    ):
        assert status(origin, "POST", f"{path}/reach", {"Origin": site, "Content-Length": "0"}) == request
        assert status(origin, "GET", f"{path}/_stcore/stream", {"Origin": site, **UPGRADE}) == connection


@pytest.mark.full
@pytest.mark.parametrize(("command", "program", "snippet"), SNIPPETS, ids=["root", "stripped", "root", "kept"])
def test_a_page_a_request_and_a_websocket_pass_through(
    command: str, program: str, snippet: str, tmp_path: Path
) -> None:
    base = launch._parser("").parse_args(command.split()).base_path
    with serve(tmp_path, *command.split(), health=base + HEALTH) as server:
        proxy = stand_in(snippet, server.port)
        with running(proxy) as origin:
            assert_serves(origin, proxy.prefix)
        if shutil.which(program):
            with real(program, snippet, server.port, tmp_path) as origin:
                assert_serves(origin, proxy.prefix)
