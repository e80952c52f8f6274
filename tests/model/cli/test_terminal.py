"""A command ends with a message if its output, a file or its terminal fails."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from headlight import find_checkpoint, load
from headlight.checkpoints import save
from headlight.checkpoints.convert import export
from headlight.cli.main import main
from headlight.cli.terminal.interruptions import INTERRUPTED, guarded
from headlight.errors import OutputError
from headlight.file_writing import replacing, write_files
from headlight.training.run_dir import Progress, write_snapshot
from tests.browser.server import free_port

SMALL_FILE = 20_000  # bytes; simulates a disk that is full after this many
ADVICE = "Make room, or give another place."


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "headlight.cli", *arguments]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=120, **options)  # type: ignore[call-overload, no-any-return]


def test_nobody_reads_on() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run("models", stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.full
def test_output_without_room_is_a_sentence() -> None:
    with open("/dev/full", "w") as full:
        done = run("models", stdout=full)
    assert done.returncode == 2
    assert done.stderr == "headlight: The output cannot be written: No space left on device.\n"


@pytest.mark.full
def test_a_terminal_of_few_letters_prints_every_token() -> None:
    environment = os.environ | {"PYTHONIOENCODING": "cp1252"}
    arguments = ("trace", "x", "--model", "stories-causal", "--edit", "дом", "--out", "x.npz")
    done = run(*arguments, stdout=subprocess.PIPE, env=environment)
    assert done.returncode == 2 and "\\u0434\\u043e\\u043c" in done.stderr and "Traceback" not in done.stderr


def test_who_interrupts_gets_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    assert guarded(interrupted) == INTERRUPTED
    assert capsys.readouterr().err == ""


INTERRUPTED_HALFWAY = """
import os, signal, time
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(20)
except KeyboardInterrupt:
    raise ImportError("cannot load module more than once per process")  # what NumPy makes of it
"""


@pytest.mark.parametrize(
    ("command", "module"),
    [
        ("headlight.cli models", "torch"),
        ("headlight_app models", "torch"),
        (f"headlight_app --no-browser --port {free_port()}", "streamlit"),
    ],
    ids=["backend", "verb", "page"],
)
def test_who_interrupts_an_import_gets_no_traceback(tmp_path: Path, command: str, module: str) -> None:
    (tmp_path / f"{module}.py").write_text(INTERRUPTED_HALFWAY, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    arguments = [sys.executable, "-m", *command.split()]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


@contextmanager
def small_disk() -> Iterator[None]:
    """Limit the size of files to SMALL_FILE."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL_FILE, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_no_half_written_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "x.npz"
    with small_disk():
        status = main(["trace", "The cat sat on the mat", "--model", "stories-causal", "--out", str(out)])
    said = capsys.readouterr().err
    assert (status, said) == (2, f"headlight: {out} cannot be written: File too large. {ADVICE}\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("write", [save, export])
def test_a_full_disk_leaves_no_part_of_a_checkpoint(tmp_path: Path, write: Callable[..., object]) -> None:
    loaded = load(find_checkpoint("stories-causal"), device="cpu")
    with small_disk(), pytest.raises(OutputError, match=r"model.safetensors cannot be written: File too large"):
        write(tmp_path / "out", loaded.model, loaded.tokenizer)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_the_snapshot_of_before(tmp_path: Path) -> None:
    write_snapshot(tmp_path / "latest.pt", Progress(step=7), {"weights": {}})
    before = (tmp_path / "latest.pt").read_bytes()
    with small_disk(), pytest.raises(OutputError, match=r"latest.pt cannot be written: File too large"):
        write_snapshot(tmp_path / "latest.pt", Progress(step=8), {"weights": {"w": torch.zeros(100_000)}})
    assert [path.name for path in tmp_path.iterdir()] == ["latest.pt"]
    assert (tmp_path / "latest.pt").read_bytes() == before


@pytest.mark.parametrize("write", [save, export])
def test_an_impossible_folder_is_a_sentence(tmp_path: Path, write: Callable[..., object]) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    loaded = load(find_checkpoint("stories-causal"), device="cpu")
    with pytest.raises(OutputError, match="file/out cannot be written: Not a directory"):
        write(tmp_path / "file" / "out", loaded.model, loaded.tokenizer)
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


def test_of_files_that_belong_together_none_changes_alone(tmp_path: Path) -> None:
    write_files(tmp_path, {"weights": b"old", "config": b"old"})
    (tmp_path / "config.part").mkdir()  # the second file's temporary path
    with pytest.raises(OutputError, match="config cannot be written"):
        write_files(tmp_path, {"weights": b"new", "config": b"new"})
    assert (tmp_path / "weights").read_bytes() == b"old" and not (tmp_path / "weights.part").exists()


def test_what_fails_midway_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="midway"), replacing(path) as file:
        file.write(b"new")
        raise ValueError("midway")
    assert path.read_bytes() == b"old" and [one.name for one in tmp_path.iterdir()] == ["numbers"]
