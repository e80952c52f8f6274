"""Addresses under which browsers reach the page."""

import json
import socket
from collections import namedtuple
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from headlight_app.access import addresses
from headlight_app.access.addresses import announcement, code_picture, own_address, page_addresses, room_address
from headlight_app.frame import sidebar
from headlight_app.room.panel import mount_room
from tests.app.pages import open_app

Interface = namedtuple("Interface", "family address")
INTERFACES = {
    "lo": [Interface(socket.AF_INET, "127.0.0.1"), Interface(socket.AF_INET6, "::1")],
    "docker0": [Interface(socket.AF_INET, "172.17.0.1")],
    "wlan0": [
        Interface(socket.AF_INET, "192.168.1.20"),
        Interface(socket.AF_INET, "169.254.3.4"),
        Interface(socket.AF_INET6, "fd00::20"),
        Interface(socket.AF_INET6, "fe80::1%wlan0"),
    ],
    "eth0": [Interface(socket.AF_INET, "10.0.0.9")],  # unplugged
}


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> None:
    """A laptop on a wireless network, with a container bridge interface."""
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: INTERFACES)
    monkeypatch.setattr(
        psutil, "net_if_stats", lambda: {name: SimpleNamespace(isup=name != "eth0") for name in INTERFACES}
    )
    monkeypatch.setattr(addresses, "_default_route_address", lambda: "192.168.1.20")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", ("http://localhost:8501",)),
        ("localhost", ("http://localhost:8501",)),
        ("::1", ("http://[::1]:8501",)),
        ("10.0.0.7", ("http://10.0.0.7:8501",)),
        ("headlight.example", ("http://headlight.example:8501",)),
        ("0.0.0.0", ("http://192.168.1.20:8501", "http://172.17.0.1:8501")),
        ("::", ("http://[fd00::20]:8501",)),
    ],
)
@pytest.mark.usefixtures("room")
def test_the_addresses_can_be_typed_in_the_room(host: str, expected: tuple[str, ...]) -> None:
    assert page_addresses(host, 8501) == expected


def test_the_addresses_hold_the_path_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_BASE_PATH", "/lab")
    assert page_addresses("127.0.0.1", 8501) == (own_address("127.0.0.1", 8501),) == ("http://localhost:8501/lab",)
    assert room_address("https://hub.example/x/lab/tasks", "127.0.0.1", 8501) == "https://hub.example/x/lab"


def test_without_a_network_the_page_is_at_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "net_if_addrs", dict)
    assert page_addresses("0.0.0.0", 8501) == ("http://localhost:8501",)


@pytest.mark.parametrize(
    ("visited", "host", "expected"),
    [
        ("http://localhost:8501/compare", "0.0.0.0", "http://192.168.1.20:8501"),
        ("http://127.0.0.1:8501", "0.0.0.0", "http://192.168.1.20:8501"),
        ("http://172.17.0.1:8501/", "0.0.0.0", "http://172.17.0.1:8501"),
        ("https://lab.example/x", "127.0.0.1", "https://lab.example"),
        ("https://hub.example/user/ann/proxy/8501/tasks?a=/b", "127.0.0.1", "https://hub.example/user/ann/proxy/8501"),
        ("https://hub.example/user/ann/proxy/8501/", "0.0.0.0", "https://hub.example/user/ann/proxy/8501"),
        ("http://localhost:9104/user/ann/", "0.0.0.0", "http://192.168.1.20:8501"),
        ("http://localhost:8501", "127.0.0.1", ""),
        ("", "0.0.0.0", "http://192.168.1.20:8501"),
        ("http://[::1", "0.0.0.0", "http://192.168.1.20:8501"),
    ],
)
@pytest.mark.usefixtures("room")
def test_others_are_never_sent_to_their_own_machine(visited: str, host: str, expected: str) -> None:
    assert room_address(visited, host, 8501) == expected


@pytest.mark.usefixtures("room")
def test_the_terminal_shows_each_address_and_a_code_of_the_first() -> None:
    first, second, *code = announcement("0.0.0.0", 8501, with_code=True).splitlines()
    assert "http://192.168.1.20:8501" in first and "http://172.17.0.1:8501" in second
    assert len(code) > 10 and {len(line) for line in code} == {len(code[0])}
    assert set("".join(code)) == set("█▀▄ ")
    assert announcement("0.0.0.0", 8501, with_code=False).splitlines() == [first, second]


def test_one_persons_page_has_no_code() -> None:
    (line,) = announcement("127.0.0.1", 8501, with_code=True).splitlines()
    assert "http://localhost:8501" in line


def test_the_picture_is_dark_on_white() -> None:
    picture = code_picture("http://192.168.1.20:8501")
    assert picture.startswith("<svg xmlns=") and 'fill="#fff"' in picture and 'stroke="#000"' in picture


@pytest.mark.usefixtures("room")
def test_the_page_of_a_server_invites_the_room_to_its_own_view(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_HOSTS", "0.0.0.0")

    def invited(*given: Any) -> None:
        given[-1]()  # as once the button is pressed
        mount_room(*given)

    monkeypatch.setattr(sidebar, "mount_room", invited)
    monkeypatch.setattr("headlight_app.ui.component.reported", lambda key: {"invite": 5} if key == "room" else {})
    at = open_app(model="next", notes="1", lesson_work="{}").run()
    assert not at.exception
    (room,) = [each for each in at.main.get("bidi_component") if each.proto.component_name == "headlight_room"]
    [data] = json.loads(room.proto.json)
    assert "http://192.168.1.20:" in data["invitation"]["address"] and "model=next" in data["invitation"]["address"]
    assert "notes" not in data["invitation"]["address"] and "lesson_work" not in data["invitation"]["address"]
    assert data["invitation"]["number"] == 5 and data["invitation"]["picture"].startswith("<svg")
