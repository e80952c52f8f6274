"""House rules that linters do not check."""

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = [
    path
    for folder in ("model", "app")
    for ending in ("*.py", "*.ts", "*.css", "*.html")
    for path in (ROOT / folder).rglob(ending)
    if path.name not in ("__init__.py", "types.ts", "contract.ts")  # these have types alone
]
EXTRAS = ("ray", "bertviz", "circuitsvis", "inspectus", "IPython")  # only measurements may need these
MOST = 16  # maximum of files per folder


def test_a_folder_holds_as_many_files_as_one_sees_at_a_glance() -> None:
    counted = Counter(path.parent.relative_to(ROOT) for path in SOURCES)
    assert {str(folder): count for folder, count in counted.items() if count > MOST} == {}


@pytest.mark.full
def test_the_measurements_start_without_the_extras_of_single_sections() -> None:
    hidden = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS}))"  # importing any of them fails
    program = f"{hidden}; sys.argv = ['bench', '--help']; from tests.bench.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "forward" in done.stdout and "cluster" in done.stdout


def _lacks_an_encoding(call: ast.Call) -> bool:
    """Whether a call opens a text file without naming its encoding."""
    function = ast.unparse(call.func)
    owner, _, name = function.rpartition(".")
    arguments = ast.unparse(call)[len(function) :]
    has_mode = re.match(r"\('[rwax]+'", arguments) is not None
    opens_text = (has_mode or not owner) if name == "open" else bool(owner) and name in ("read_text", "write_text")
    return opens_text and not re.search(r"encoding=|'utf-8|, '[rwax]+b'", arguments)


def _without_encoding(source: str) -> list[str]:
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [ast.unparse(call) for call in calls if _lacks_an_encoding(call)]


def test_every_text_file_is_opened_in_an_encoding_that_is_named() -> None:
    """Otherwise Windows reads and writes a text file in the encoding of the system's language."""
    forgotten = ["open(a)", "b.open('w')", "(b / c).read_text()", "d.write_text(e)"]
    named = ["open(a, 'rb')", "b.open('xb')", "c.read_text('utf-8')", "d.write_text(e, encoding='utf-8')"]
    assert _without_encoding("\n".join(forgotten + named)) == forgotten
    python = [path for path in SOURCES if path.suffix == ".py"]
    found = {str(path): _without_encoding(path.read_text(encoding="utf-8")) for path in python}
    assert {path: calls for path, calls in found.items() if calls} == {}
