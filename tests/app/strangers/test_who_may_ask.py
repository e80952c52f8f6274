"""Pages of other sites, and strangers who ask for the operator's figures."""

import re
from itertools import product

import pytest
from starlette.routing import Route
from websockets.exceptions import InvalidStatus, WebSocketException

from headlight_app.frame.main import TITLES
from headlight_app.room.rooms import Rooms
from headlight_app.server.routes import routes
from tests.app.strangers.conftest import Newcomer
from tests.app.strangers.visitor import HTML, JSON, Answer
from tests.browser.server import Server

UNKNOWN = "statuz"  # a page that no server has
VARY = ("date", "set-cookie")  # from answer to answer


def same(answer: Answer) -> tuple[int, bytes, dict[str, str]]:
    """What two answers of one kind have in common."""
    headers = {name: text.replace("status", UNKNOWN) for name, text in answer.headers.items() if name not in VARY}
    return answer.status, answer.content, headers


def changing_routes() -> list[tuple[str, str]]:
    """The method and path of each route that changes something or asks a question."""
    own = [
        (method, route.path) for route in routes(Rooms()) if isinstance(route, Route) for method in route.methods or ()
    ]
    upload = "/_stcore/upload_file/session/file"  # Streamlit's
    return [each for each in own if each[0] not in ("GET", "HEAD")] + [("PUT", upload), ("DELETE", upload)]


def other_sites(port: int) -> list[str]:
    """Origins that are not the page's at 127.0.0.1 and this port."""
    alike = [f"http://127.0.0.1:{port + 1}", "http://127.0.0.1", f"http://localhost:{port}", f"http://[::1]:{port}"]
    tricks = [f"http://127.0.0.1:{port}.evil.example", f"http://evil.example:{port}", f"http://127.0.0.1:{port}@evil"]
    tricks += [f"ftp://127.0.0.1:{port}", f"http://127.0.0.1:{port}/", f"http://[::ffff:127.0.0.1]:{port}", "file://"]
    return ["http://evil.example", "null", *alike, *tricks]


def test_pages_of_other_sites_ask_on_no_route(newcomer: Newcomer, server: Server) -> None:
    visitor, asked = newcomer(), changing_routes()
    assert {("POST", "/api/trace"), ("POST", "/api/analysis")} < {*asked} and len(asked) > 20
    sites = other_sites(server.port)
    for number, (method, path) in enumerate(asked):
        for site in (sites[0], sites[number % len(sites)]):
            answer = visitor.send(method, path, "{}", Origin=site, **JSON)
            assert answer.status == 403 and "error" in answer.json(), (path, site)
    own = f"http://127.0.0.1:{server.port}"
    for site in sites:
        assert visitor.send("POST", "/api/room_leave", "{}", Origin=site, **JSON).status == 403, site
        with pytest.raises(WebSocketException) as refused, visitor.open(Origin=site):
            pass
        assert isinstance(refused.value, InvalidStatus) and refused.value.response.status_code == 403, site
    assert visitor.send("POST", "/api/room_leave", "{}", Origin=own, **JSON).status == 200
    with visitor.open(Origin=own) as page:
        assert page.run()
    for host in ("evil.example", f"127.0.0.1.evil.example:{server.port}"):
        assert visitor.send("GET", "/", Host=host, **HTML).status == 403, "DNS rebinding"


def test_pages_of_other_sites_frame_only_what_was_made_for_it(newcomer: Newcomer) -> None:
    visitor = newcomer()
    queries = (
        "",
        "?embedded=",
        "?embedded=0",
        "?embedded=11",
        "?EMBEDDED=1",
        "?x=embedded=1",
        "?embedded%3D1",
        "?embed=1",
    )
    for path, query in product(["/", *(f"/{page}" for page in TITLES), "/nothing", "/room/BCDFG"], queries):
        answer = visitor.send("GET", path + query, **HTML)
        if answer.headers.get("content-type", "").startswith("text/html"):
            assert answer.headers["x-frame-options"] == "SAMEORIGIN"
            assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]
    assert "x-frame-options" not in visitor.send("GET", "/?embedded=1", **HTML).headers


def test_whoever_does_not_know_the_token_finds_no_status(newcomer: Newcomer, server: Server) -> None:
    found = re.search(r"/status\?token=(\S+)", server.log())
    assert found
    token = found[1]
    visitor, here = newcomer(), newcomer("127.0.0.1")
    near = [
        "",
        token[:-1],
        token[1:],
        f"{token}x",
        f"x{token}",
        token.swapcase(),
        token * 2,
        f" {token}",
        f"{token}%00",
        "%",
    ]
    paths = [f"/status?token={each.replace(' ', '%20')}" for each in near] + [
        "/status",
        "/status?token",
        f"/status?{token}",
    ]
    paths += [
        f"/status?Token={token}",
        f"/status?tok%65n={token[:-1]}",
        f"/status?token=x&token={token}",
        "/status?token=*",
    ]
    paths += [
        f"/status?token[]={token}",
        f"/status?x=%26token={token}",
        f"/status;token={token}",
        f"/status#token={token}",
    ]
    paths += [
        f"/statuS?token={token}",
        f"/status/?token={token}",
        f"//status?token={token}",
        f"/%2e/status?token={token}",
    ]
    tries: list[tuple[str, dict[str, str]]] = [(path, {}) for path in paths]
    keys = [f"Bearer {token[:-1]}", f"bearer x{token}", f"Basic {token}", "Bearer", "Bearer \xff", f"Token {token}"]
    tries += [("/status", {"Authorization": key}) for key in keys]
    tries += [("/status", {name: "127.0.0.1"}) for name in ("X_Forwarded_For", "X_Real_IP", "Forwarded", "Client_IP")]
    tries += [("/status", {"X_Token": token}), ("/status", {"Cookie": f"{visitor.cookie}; token={token}"})]
    for asker, method in ((visitor, "GET"), (visitor, "POST"), (here, "GET"), (newcomer.nobody(), "HEAD")):
        for (path, headers), kind in product(tries, ("*/*", "text/html")):
            asked = (path, path.replace("status", UNKNOWN).replace("statuS", UNKNOWN))
            there, unknown = (same(asker.send(method, each, Accept=kind, **headers)) for each in asked)
            assert there == unknown, (method, path, headers)
    assert b"headlight_people" in visitor.send("GET", f"/status?token={token}").content
