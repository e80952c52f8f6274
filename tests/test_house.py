"""House rules that linters do not check."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = [
    path
    for folder in ("model", "app")
    for ending in ("*.py", "*.js", "*.css", "*.html")
    for path in (ROOT / folder).rglob(ending)
    if path.name != "__init__.py"
]
EXTRAS = ("ray", "bertviz", "circuitsvis", "inspectus", "IPython")  # only measurements may need these
MOST = 16  # maximum of files per folder


def test_a_folder_holds_as_many_files_as_one_sees_at_a_glance() -> None:
    counted = Counter(path.parent.relative_to(ROOT) for path in SOURCES)
    assert {str(folder): count for folder, count in counted.items() if count > MOST} == {}


def test_the_measurements_start_without_the_extras_of_single_sections() -> None:
    hidden = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS}))"  # importing any of them fails
    program = f"{hidden}; sys.argv = ['bench', '--help']; from tests.bench.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "forward" in done.stdout and "cluster" in done.stdout
