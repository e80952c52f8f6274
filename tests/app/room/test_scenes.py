"""The scenes that a server offers to a browser on its own machine."""

import json
import os
import socket
from collections import namedtuple
from pathlib import Path

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from headlight.errors import DataError
from headlight_app.access.addresses import network_address
from headlight_app.access.settings import SCENES_VARIABLE
from headlight_app.room.contract import OfferedScenesAnswer, OfferedScenesRequest
from headlight_app.room.rooms import Browser
from headlight_app.room.scenes import MAX_SCENES_BYTES, offered_scenes, read_scenes
from headlight_app.server import launch

LIST = json.dumps({"headlight_scenes": 1, "scenes": [{"name": "A", "page": "compare", "query": ""}]})
Interface = namedtuple("Interface", "family address")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The scene file with which the server was started."""
    path = tmp_path / "lesson.json"
    path.write_text(LIST)
    monkeypatch.setenv(SCENES_VARIABLE, str(path))
    return path


def offered_to(address: str) -> OfferedScenesAnswer:
    return offered_scenes(Browser("anna", network_address(address), ""), OfferedScenesRequest())


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "192.168.1.20"])
def test_the_person_at_the_machine_is_offered_the_list(
    file: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"wlan0": [Interface(socket.AF_INET, "192.168.1.20")]}
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: own)
    assert offered_to(address) == OfferedScenesAnswer(name="lesson.json", text=LIST)
    changed = LIST.replace("A", "B")
    file.write_text(changed)
    assert offered_to(address).text == changed


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize("address", ["192.0.2.7", "2001:db8::1", "2002:7f00:1::1", "::2", "testclient", ""])
def test_others_are_offered_nothing(address: str) -> None:
    assert offered_to(address) == OfferedScenesAnswer()


def test_without_a_list_nobody_is_offered_one() -> None:
    assert offered_to("127.0.0.1") == OfferedScenesAnswer()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    some.binary(max_size=80)
    | some.sampled_from(
        [b"[" * 100_000, b"[1]", b'{"scenes": []}', b'{"headlight_scenes": 1}', b"version https://git-lfs"]
    )
)
def test_any_other_file_gets_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"^'other.json' (is not a|could not be read as a) list of scenes"):
        read_scenes(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(DataError, match="could not be read"):
        read_scenes(tmp_path / "pipe.json")


def test_the_command_names_a_file_that_holds_no_scenes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "large.json").write_bytes(b" " * (MAX_SCENES_BYTES + 1))
    for name, said in (("none.json", "could not be read"), ("large.json", "is larger than")):
        assert launch.main(["--no-browser", "--scenes", str(tmp_path / name)]) == 2
        assert f"{name!r} {said}" in capsys.readouterr().err
