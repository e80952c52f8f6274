"""No text of a request opens a path of the server, and none is written into its log."""

import json
import os
import signal
import threading
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.app.strangers.conftest import SECRET, Newcomer
from tests.app.strangers.leaves import naming, texts, with_text
from tests.app.strangers.test_files_of_visitors import A_FEW, models, told
from tests.app.strangers.visitor import HTML, JSON
from tests.bench.memory import descendants
from tests.browser.server import Server
from tests.sampling import some

NOBODYS = "nosuchit"  # a name of the same length, which no folder has


def names_of(disk: Path) -> list[str]:
    """Ways to write a folder of the server that it does not offer, and one of each that it does not have."""
    path = str(disk / SECRET)
    beside = [SECRET, f"../{SECRET}", f"next/../../{SECRET}", f"./../{SECRET}", f"..\\{SECRET}", f"%2e%2e/{SECRET}"]
    absolute = [
        path,
        f"/{path}",
        f"{path}/",
        f"{path}/config.json",
        f"file://{path}",
        quote(path, safe=""),
        f"\\\\?\\{path}",
    ]
    absolute += [
        f"//localhost{path}",
        f"\\\\localhost\\share{path}",
        f"/proc/self/root{path}",
        f"{path}\0",
        f" {path} ",
    ]
    return [*beside, *absolute, f"~/../..{path}", f"upload-{path}", f"own-/../..{path}", f"$TMPDIR/../{SECRET}"]


def test_no_name_of_a_model_opens_a_path_of_the_server(newcomer: Newcomer, disk: Path) -> None:
    found, names = naming(models), names_of(disk)
    stranger = newcomer()
    # Every name on the first route, and on each other route one after the other.
    cases = [(name, found[0]) for name in names]
    cases += [(names[number % len(names)], each) for number, each in enumerate(found)]
    for number, (name, (kind, fields, where)) in enumerate(cases):
        if number % A_FEW == 0:
            stranger = newcomer()
        there, nowhere = (
            told(stranger, kind, with_text(each, where, fields), json.dumps(each)[1:-1])
            for each in (name, name.replace(SECRET, NOBODYS))
        )
        assert "error" in there and there.replace(SECRET, NOBODYS) == nowhere, (kind.route, where, name)
    for name in ("/etc/passwd", "..", ".", "/", "~", "../..", "/dev/stdin", "/proc/self/environ", "next/..", "next/"):
        kind, fields, where = found[0]
        assert "error" in told(stranger, kind, with_text(name, where, fields), name), name


@pytest.mark.parametrize("part", some(range(8), lambda part: part == 0))
def test_whatever_is_typed_is_not_in_the_log(newcomer: Newcomer, disk: Path, server: Server, part: int) -> None:
    stranger, typed = newcomer(), str(disk / SECRET)
    for number, (kind, fields, where) in enumerate([*texts()][part::8]):
        if number % A_FEW == 0:
            stranger = newcomer()
        answer = stranger.send("POST", f"/api/{kind.route}", json.dumps(with_text(typed, where, fields)), **JSON)
        assert b"wombat" not in answer.content, "the text of a file"
    for content in (
        f'{{"{typed}"',
        f'{{"{typed}": 1}}',
        f'["{typed}"]',
        f'{{"question": {{"model": 1, "text": "{typed}"}}}}',
    ):
        stranger.send("POST", "/api/trace", content, **JSON)
    for path in (
        f"/?text={typed}",
        f"/api/image/{typed}",
        f"/api/{typed}",
        f"/room/{typed}",
        f"/%ff{typed}",
        f"//{typed}",
    ):
        stranger.send("GET", quote(path, safe="/?=%"), **HTML)
    with stranger.open() as page:
        for name in ("text", "model", "source", "edits", "image", "chapter", "course_inputs", typed):
            page.run("", {name: typed})
    worker_dies(newcomer, server, typed)
    assert SECRET not in server.log()


def worker_dies(newcomer: Newcomer, server: Server, typed: str) -> None:
    """Kill the workers while they read a text."""
    stranger = newcomer()
    question = {"model": "stories-causal", "text": f"{typed} " * 40}
    asking = threading.Thread(target=lambda: stranger.ask("analysis_step", question=question, analysis="head_ablation"))
    asking.start()
    threading.Event().wait(0.3)
    for worker in [*descendants(server.pid)]:
        os.kill(worker, signal.SIGKILL)
    asking.join()
