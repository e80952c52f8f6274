"""The command `headlight`."""

import argparse
import os
import socket
import webbrowser
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from headlight_app import command
from headlight_app.access.settings import Settings, default_workers, settings
from headlight_app.server import launch
from tests.browser.server import free_port, serve


@pytest.fixture
def opened_models() -> list[str]:
    """The models that the browser would open."""
    return []


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, opened_models: list[str]) -> Iterator[list[tuple[str, int, bool]]]:
    """The recorded calls of the server, which does not start."""
    calls: list[tuple[str, int, bool]] = []

    def serve(options: argparse.Namespace) -> int:
        calls.append((options.host, options.port, options.browser))
        opened_models.append(options.model)
        return 0

    monkeypatch.setattr(launch, "_serve", serve)
    yield calls


@pytest.fixture
def port() -> int:
    return free_port()


def test_it_listens_on_this_machine_only(served: list[tuple[str, int, bool]], port: int) -> None:
    assert command.main(["--port", str(port), "--no-browser"]) == 0
    assert command.main(["app", "--port", str(port)]) == 0
    assert served == [("127.0.0.1", port, False), ("127.0.0.1", port, True)]


def test_a_busy_port_gets_one_sentence(served: list[tuple[str, int, bool]], capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        number = busy.getsockname()[1]
        assert launch.main(["--port", str(number)]) == 2
    said = capsys.readouterr().err
    assert str(number) in said and "not free" in said
    assert len(said.splitlines()) == 1
    assert not served


def test_open_shows_a_checkpoint_on_the_page(
    served: list[tuple[str, int, bool]], opened_models: list[str], port: int, toys: Path, tmp_path: Path
) -> None:
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    for path in (file, toys / "next"):
        assert command.main(["open", str(path), "--port", str(port), "--no-browser"]) == 0
        assert os.environ["HEADLIGHT_MODELS"].split(os.pathsep)[0] == str(path.resolve())
    assert opened_models == ["small.gguf", "next"] and len(served) == 2


def test_folders_of_models_reach_the_page(
    served: list[tuple[str, int, bool]], port: int, toys: Path, tmp_path: Path
) -> None:
    options = ["--port", str(port), "--models", str(tmp_path)]
    assert launch.main(options) == 0
    assert os.environ["HEADLIGHT_MODELS"].split(os.pathsep) == [str(tmp_path.resolve()), str(toys)]


def test_a_missing_folder_gets_a_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert launch.main(["--models", str(tmp_path / "nowhere")]) == 2
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["0", "65536", "many", "-1"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        launch.main(["--port", port])
    assert stopped.value.code == 2


def test_an_address_that_is_none_gets_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert launch.main(["--host", "not an address"]) == 2
    assert "not an address" in capsys.readouterr().err


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        launch.main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith("headlight ")


def test_help_lists_the_other_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--help"])
    said = capsys.readouterr().out
    assert all(verb in said for verb in ("trace", "predict", "models", "train", "--no-browser"))


def test_every_other_word_is_a_verb_of_the_backend(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["models"]) == 0
    assert "next" in capsys.readouterr().out
    assert command.main(["juggle"]) == 2
    assert "juggle" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], Settings(shared=False, hub_cache=True)),
        (["--host", "localhost"], Settings(shared=False, hub_cache=True)),
        (["--host", "127.0.0.2"], Settings(shared=False, hub_cache=True)),
        (["--host", "0.0.0.0"], Settings(shared=True, hub_cache=False)),
        (["--host", "0.0.0.0", "--hub-cache"], Settings(shared=True, hub_cache=True)),
        (["--shared"], Settings(shared=True, hub_cache=False)),
        (["--no-hub-cache"], Settings(shared=False, hub_cache=False)),
        (["--upload-limit", "20", "--memory-limit", "900"], Settings(False, True, 20, 900)),
        (["--workers", "3"], Settings(False, True, workers=3)),
    ],
)
def test_what_the_operator_decided_reaches_the_page(
    served: list[tuple[str, int, bool]], port: int, options: list[str], expected: Settings
) -> None:
    assert launch.main(["--port", str(port), *options]) == 0
    workers = expected.workers if "--workers" in options else launch.workers_here()
    assert replace(settings(), hosts=()) == replace(expected, workers=workers)


@pytest.mark.parametrize(("cores", "workers"), [(1, 1), (2, 1), (4, 2), (16, 4)])
def test_the_number_of_workers_follows_from_the_cores_and_a_gpu_has_one(cores: int, workers: int) -> None:
    assert default_workers(cores, has_gpu=False) == workers
    assert default_workers(cores, has_gpu=True) == 1


def test_the_names_that_browsers_may_use_reach_the_server(served: list[tuple[str, int, bool]], port: int) -> None:
    assert launch.main(["--port", str(port), "--host", "localhost", "--allow-host", "lab.example"]) == 0
    assert settings().hosts == ("localhost", "lab.example")


@pytest.mark.parametrize(
    ("option", "given", "kept"),
    [
        ("allow_host", "LAB.example.", ["lab.example"]),
        ("allow_host", "[0::1]:9000", ["[::1]:9000"]),
        ("allow_host", "bücher.example:9102", ["xn--bcher-kva.example:9102"]),
        ("base_path", "/lab", "/lab"),
        ("base_path", "/a/b.c/", "/a/b.c"),
        ("base_path", "/", ""),
        ("base_path", "/user/a@b.example/my%20lab", "/user/a@b.example/my%20lab"),
        ("embed_in", "HTTPS://Moodle.example", ["https://moodle.example"]),
        ("embed_in", "https://bücher.example:8443", ["https://xn--bcher-kva.example:8443"]),
        ("embed_in", "https://moodle.example", ["https://moodle.example"]),
        ("embed_in", "http://127.0.0.1:8080", ["http://127.0.0.1:8080"]),
    ],
)
def test_what_a_proxy_or_a_frame_needs_reaches_the_server(
    monkeypatch: pytest.MonkeyPatch, port: int, option: str, given: str, kept: str | list[str]
) -> None:
    reached = list[argparse.Namespace]()

    def serve(options: argparse.Namespace) -> int:
        reached.append(options)
        return 0

    monkeypatch.setattr(launch, "_serve", serve)
    assert launch.main(["--port", str(port), f"--{option.replace('_', '-')}", given]) == 0
    assert getattr(reached[0], option) == kept
    assert settings().base_path == reached[0].base_path


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(
            ("--allow-host", value)
            for value in ("", "*", "https://lab.example", "lab.example/x", "lab:0", "a b", "[::1")
        ),
        *(
            ("--base-path", value)
            for value in ("lab", "//lab", "/a//b", "/a/../b", "/.", "/a b", "/a?b", "/a%2", "https://a/b")
        ),
        *(("--embed-in", value) for value in ("*", "moodle.example", "https://*.example", "https://a/b", "null", "")),
        *(("--embed-in", value) for value in ("https://a; script-src *", "javascript://a", "https://a https://b")),
    ],
)
def test_what_is_no_host_path_or_origin_gets_one_sentence(
    capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        launch.main([option, value])
    assert stopped.value.code == 2
    (said,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("headlight: error")]
    assert option in said and repr(value) in said and ("write" in said or "such as" in said)


@pytest.mark.parametrize("limit", ["-1", "many", "1e9", "9999999999", "", "²"])
def test_a_limit_that_is_none_is_refused(limit: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        launch.main(["--upload-limit", limit])
    assert stopped.value.code == 2


def test_a_server_that_nobody_set_up_is_a_careful_one() -> None:
    assert settings({}) == Settings(shared=True, hub_cache=False)
    assert settings({"HEADLIGHT_SHARED": "perhaps", "HEADLIGHT_UPLOAD_LIMIT": "²"}) == Settings()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "::", "localhost"])
def test_the_browser_opens_once_the_server_answers(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened_addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened_addresses.append)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        server = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip("this machine has no such address")
    with server:
        launch.open_browser_when_up(host, server.getsockname()[1], "http://here")
    assert opened_addresses == ["http://here"]


def test_a_started_server_writes_its_address_alone(tmp_path: Path) -> None:
    with serve(tmp_path) as server:
        assert server.log() == f"Headlight is at http://localhost:{server.port} - stop it with Ctrl+C\n"
