"""Explore's export of a model as a live page. The command writes it, in a process of its own.

What exports a model's program to the browser imports all of Streamlit's page, and keeps memory that a worker needs.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from headlight.cancellation import check_cancelled
from headlight.checkpoints.catalog import read_metadata
from headlight.errors import CheckpointError, HeadlightError
from headlight_app.contract.reply import FileAnswer, Reply
from headlight_app.contract.state import State
from headlight_app.explore.contract import ExportLivePageRequest
from headlight_app.inference.open_models import find_model, model_title
from headlight_app.live.size import LARGE, file_bytes
from headlight_app.state.url import encode_state

COMMAND = "headlight_app.command"
POLL_SECONDS = 0.1
REFUSED = 2  # the command's exit status after an error sentence
NAME = "headlight-live.html"


def answer_export_live_page(request: ExportLivePageRequest) -> Reply[FileAnswer]:
    """The page of a model, which opens with the request's view.

    Raises HeadlightError for a model that cannot become one, or that is too large for a file.
    """
    name = request.question.model
    folder, title = find_model(name).folder, model_title(name)
    _require_small(folder, title)
    with TemporaryDirectory() as made:
        out = Path(made, NAME)
        _write(["live", str(folder), "--name", title, "--link", _link(request.state), "--out", str(out)])
        return Reply(FileAnswer(name=NAME, type="text/html"), out.read_bytes())


def _require_small(folder: Path, title: str) -> None:
    size = file_bytes(read_metadata(folder, title).parameter_count)
    if size > LARGE:
        raise CheckpointError(
            f"As one file, {title} would have about {size / 1e6:,.0f} MB; the menu writes at most {LARGE / 1e6:.0f}. "
            "Use the command headlight live, with --site FOLDER, so that a browser keeps the model."
        )


def _link(state: State) -> str:
    choices = encode_state(state, omit=False)
    return urlencode({name: value for name, value in choices.items() if name != "model"})


def _write(arguments: Sequence[str]) -> None:
    """Run the command. Raises HeadlightError with its sentence if it fails."""
    command = [sys.executable, "-P", "-m", COMMAND, *arguments]
    running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    with running:
        try:
            said = _last_words(running)
        finally:
            running.kill()
    if running.returncode == REFUSED:
        raise HeadlightError(said.rpartition("headlight: ")[2])
    if running.returncode:
        print(said, file=sys.stderr)
        raise HeadlightError("The page was not written; the server's log says why.")


def _last_words(running: subprocess.Popen[bytes]) -> str:
    """What the command says of an error, once it has ended. Raises Cancelled if nobody waits any more."""
    while True:
        try:
            return running.communicate(timeout=POLL_SECONDS)[1].decode("utf-8", "replace").strip()
        except subprocess.TimeoutExpired:
            check_cancelled()
