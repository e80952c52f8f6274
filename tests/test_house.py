"""The house rules that no linter knows."""

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
MOST = 16  # files that one sees at a glance


def test_a_folder_holds_as_many_files_as_one_sees_at_a_glance() -> None:
    counted = Counter(path.parent.relative_to(ROOT) for path in SOURCES)
    assert {str(folder): count for folder, count in counted.items() if count > MOST} == {}
