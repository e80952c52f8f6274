"""Models of the Hugging Face Hub, downloaded from a local fake server."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from headlight import save
from headlight.checkpoints.catalog import EXTRA, is_hub_id, needed_files
from tests.model import toys
from tests.shell import Shell

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ID = "somebody/tiny-model"


def answer(path: str, files: dict[str, bytes]) -> tuple[int, bytes, str]:
    """The fake server's response to a path: status, content, error code."""
    name = path.partition(f"/{ID}/resolve/{COMMIT}/")[2]
    if path.startswith(f"/api/models/{ID}/tree/"):
        tree = [{"type": "file", "path": name, "size": len(raw), "oid": digest(raw)} for name, raw in files.items()]
        return 200, json.dumps(tree).encode(), ""
    if path.startswith(f"/api/models/{ID}"):
        listed = [{"rfilename": name, "size": len(raw)} for name, raw in files.items()]
        return 200, json.dumps({"id": ID, "modelId": ID, "sha": COMMIT, "siblings": listed}).encode(), ""
    if path.startswith("/api/models/closed/"):
        return 403, b"{}", "GatedRepo"
    return (200, files[name], "") if name in files else (404, b"{}", "RepoNotFound")


def digest(raw: bytes) -> str:
    return hashlib.sha1(raw).hexdigest()


class Hub(ThreadingHTTPServer):
    """A fake Hub that records the paths requested."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.asked = files, list[str]()


class Handler(BaseHTTPRequestHandler):
    """Handles a request to the fake Hub."""

    server: Hub

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.server.asked.append(path)
        if path.startswith("/api/models/down/"):
            self.close_connection = True  # simulates a network failure
            return
        status, raw, code = answer(path, self.server.files)
        self.send_response(status)
        told = {"X-Repo-Commit": COMMIT, "ETag": f'"{digest(raw)}"', "Content-Length": str(len(raw))}
        for name, value in {**told, **({"X-Error-Code": code} if code else {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(raw)

    do_HEAD = do_GET

    def log_message(self, *told: object) -> None:
        """Log nothing."""


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """The address of a fake Hub with one model, and the paths requested."""
    save(tmp_path / "served", toys.decoder(), toys.causal(), dtype="float32")
    files = {path.name: path.read_bytes() for path in (tmp_path / "served").iterdir()}
    files |= {"modeling.py": b"raise SystemExit", "pytorch_model.bin": b"?" * 99, "onnx/model.onnx": b"?"}
    server = Hub(files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", server.asked
    server.shutdown()
    server.server_close()


def asking(home: Path, endpoint: str, *verbs: list[str]) -> list[tuple[int, str]]:
    """Exit status and output of each command, in a separate process: the library reads the endpoint only once."""
    program = f"""
import contextlib, io, json, sys
from headlight.cli.main import main
for verb in {list(verbs)!r}:
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        status = main(verb)
    print(json.dumps([status, said.getvalue()]))
"""
    chosen = {"HF_ENDPOINT": endpoint, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | chosen, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [(status, said) for status, said in map(json.loads, done.stdout.splitlines())]


@pytest.mark.full
def test_a_model_is_fetched_once_without_its_programs(hub: tuple[str, list[str]], tmp_path: Path) -> None:
    address, asked = hub
    trace = ["trace", "the cat", "--out", str(tmp_path / "out.npz"), "--model", ID]
    verbs = [trace, trace, ["models"], ["predict", "the cat", "--model", "somebody/gone"],
             ["predict", "the cat", "--model", "closed/door"],
             ["predict", "the cat", "--model", "down/here"]]  # fmt: skip
    first, second, listed, gone, closed, down = asking(tmp_path / "home", address, *verbs)
    assert first[0] == 0 and f"Fetching {ID} from the Hugging Face Hub: 3 files" in first[1]
    assert second == (0, ""), "the second call uses the cache"
    assert (tmp_path / "out.npz").is_file()
    assert listed[0] == 0 and ID in listed[1]
    assert gone[0] == 2 and "has no public model named 'somebody/gone'" in gone[1] and gone[1].count("\n") == 1
    assert closed[0] == 2 and "is a gated model: request access" in closed[1]
    assert down[0] == 2 and "cannot be reached for 'down/here'" in down[1] and down[1].count("\n") == 1
    assert not any(name in path for path in asked for name in ("modeling.py", "pytorch_model.bin", "onnx"))
    fetched = {path.name for path in (tmp_path / "home").rglob("snapshots/*/*")}
    assert fetched == {"config.json", "model.safetensors", "tokenizer.json"}


def test_without_the_library_the_sentence_names_the_extra(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    said = shell.refused(["predict", "the cat", "--model", "gpt2"])
    assert "There is no model 'gpt2'" in said and EXTRA in said and said.count("\n") == 1


def test_what_is_switched_off_says_so(shell: Shell) -> None:
    assert "HF_HUB_OFFLINE" in shell.refused(["models", "gpt2-that-nobody-has"])


@pytest.mark.parametrize("name", ["gpt2", "openai-community/gpt2", "a/b", "Qwen/Qwen2.5-0.5B_x"])
def test_what_may_be_an_id(name: str) -> None:
    assert is_hub_id(name)


@pytest.mark.parametrize(
    "name", ["", "../gpt2", "/etc", "a/b/c", "a b", "a--b", "a..b", "-a", "a/", "x" * 5_000, "a\0"]
)
def test_what_may_not(name: str) -> None:
    assert not is_hub_id(name)


WHOLE = ["config.json", "model.safetensors", "tokenizer.json"]
OLD = ["config.json", "pytorch_model.bin", "vocab.json", "merges.txt"]
BOTH = [*WHOLE, "pytorch_model.bin", "tf_model.h5", "model.fp16.safetensors", "model.onnx", "run.py"]
SHARDS = ["config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
          "model.safetensors.index.json", "source.spm"]  # fmt: skip

PAIR = ["config.json", "model.safetensors", "encoder/vocab.txt", "decoder/vocab.json", "decoder/merges.txt"]


@pytest.mark.parametrize(
    ("listed", "wanted"), [(WHOLE, WHOLE), (BOTH, WHOLE), (OLD, OLD), (SHARDS, SHARDS), (PAIR, PAIR)]
)
def test_only_what_a_checkpoint_needs_is_wanted(listed: list[str], wanted: list[str]) -> None:
    elsewhere = [f"onnx/{name}" for name in listed]
    assert needed_files([*listed, *elsewhere, "README.txt"]) == sorted(wanted)
