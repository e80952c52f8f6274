"""`import headlight` in a folder with other `model.py` and `app.py` files, from a wheel and an editable install."""

import json
import os
import site
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.sampling import some

ROOT = Path(__file__).parent.parent
SOURCES = {"model/headlight": "headlight", "app/headlight_app": "headlight_app", "assets": "headlight/assets"}
PROGRAM = """
import io, json, site, sys
from contextlib import redirect_stdout
from importlib.metadata import entry_points
for folder in sys.argv[1:]:
    site.addsitedir(folder)

import headlight, model, app
checkpoint = headlight.load(headlight.find_checkpoint("stories-causal"))
wired = headlight.variant(checkpoint.model, positional_encoding="alibi")
trace = headlight.run(wired, checkpoint.tokenizer, "The cat sat.")
(command,) = entry_points(group="console_scripts", name="headlight")
with redirect_stdout(io.StringIO()) as printed:
    status = command.load()(["models"])
print(json.dumps({
    "imported from": headlight.__file__,
    "theirs": [model.WHOSE, app.WHOSE],
    "missing names": [name for name in headlight.__all__ if not hasattr(headlight, name)],
    "positional encoding": trace.config.positional_encoding,
    "headlight models": [status, "stories-causal" in printed.getvalue()],
}))
"""


def site_packages(target: str, folder: Path) -> Path:
    """The folder of files that pip would install; `target` is the requested build."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(folder / "site-packages")
    return folder / "site-packages"


def files_to_install() -> set[str]:
    """The files of the source tree, by their paths in a wheel, which has bundles of the browser's modules."""
    return {
        f"{place}/{path.relative_to(ROOT / source).as_posix()}"
        for source, place in SOURCES.items()
        for path in (ROOT / source).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
        if path.suffix != ".ts"
    }


def run_beside_own_files(installed: Path, folder: Path) -> dict[str, object]:
    """The output of PROGRAM in a folder with a `model.py` and an `app.py`."""
    folder.mkdir()
    for name in ("model", "app"):
        (folder / f"{name}.py").write_text(f"WHOSE = 'my {name}'\n")
    # -S and this order of folders: an installed Headlight must not be found first.
    command = [sys.executable, "-S", "-c", PROGRAM, str(installed), *site.getsitepackages()]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.full
@pytest.mark.parametrize("target", some(["wheel", "wheel:editable"], lambda target: target == "wheel"))
def test_headlight_is_imported_beside_somebodys_own_model_and_app(target: str, tmp_path: Path) -> None:
    installed = site_packages(target, tmp_path / "built")
    files = {path.relative_to(installed).as_posix() for path in installed.rglob("*") if path.is_file()}
    packaged = {name for name in files if ".dist-info/" not in name}
    assert packaged == (files_to_install() if target == "wheel" else {"_attention_headlight.pth"})
    home = installed if target == "wheel" else ROOT / "model"
    assert run_beside_own_files(installed, tmp_path / "work") == {
        "imported from": str(home / "headlight" / "__init__.py"),
        "theirs": ["my model", "my app"],
        "missing names": [],
        "positional encoding": "alibi",
        "headlight models": [0, True],
    }
