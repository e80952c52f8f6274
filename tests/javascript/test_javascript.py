"""The modules of the page without a browser, and their bundles; `make check` holds types and style."""

from pathlib import Path

import pytest

import contract_types
from headlight_app.engine import client
from tests.app.conftest import LocalEngine
from tests.javascript import answers, node

# The script of package.json that runs each kind of file. Those that draw share one process, which loads the app once.
KINDS = {"test": "*.test.js", "drawing": "*.dom.js"}


def files(pattern: str) -> list[Path]:
    """The tests of modules whose names match."""
    found = (file.relative_to(node.FOLDER) for file in node.FOLDER.glob(f"*/**/{pattern}"))
    return [file for file in found if file.parts[0] != "node_modules"]


FOLDERS = sorted({file.parts[0] for pattern in KINDS.values() for file in files(pattern)})


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_modules_pass(folder: str) -> None:
    for script, pattern in KINDS.items():
        if any(file.parts[0] == folder for file in files(pattern)):
            done = node.npm("run", "--silent", script, "--", f"{folder}/**/{pattern}")
            assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("made", ["bundle", "kernel"])
def test_what_is_made_of_sources_is_made_of_them_as_they_are(made: str) -> None:
    done = node.npm("run", "--silent", f"{made}-check")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("file", sorted(answers.FOLDER.glob(f"*{answers.ENDING}")), ids=lambda file: str(file.name))
def test_what_the_tests_of_the_drawing_get_is_what_the_app_sends(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "engine", LocalEngine)
    with answers.models_of(file.name.removesuffix(answers.ENDING)):
        different = [key for key, kept in answers.read(file).items() if not answers.alike(kept, answers.sent(key))]
    assert not different, "record them: python -m tests.javascript.answers"


def test_a_further_row_is_no_difference_and_a_changed_one_is() -> None:
    rows = [{"name": "causal", "title": "Causal"}, {"name": "window", "title": "Window"}]
    kept: answers.Sent = {"html": "<p>a</p>", "data": {"rows": rows, "numbers": [1.0, 2.0]}}
    more = {"html": "<p>a</p><p>b</p>", "data": {"rows": [*rows, {"name": "every"}], "numbers": [1.0, 2.0], "b": 1}}
    assert answers.alike(kept, kept) and answers.alike(kept, more) and not answers.alike(more, kept)
    for changed in ({"rows": rows[::-1]}, {"rows": rows[:1]}, {"numbers": [1.0, 2.0, 3.0]}, {"numbers": [1.0, 2.1]}):
        assert not answers.alike(kept, {**kept, "data": kept["data"] | changed})
    assert not answers.alike(kept, {**more, "html": "<p>b</p>"})


def test_a_number_in_a_text_may_differ_in_its_last_digit() -> None:
    kept = "Layer 1, head 3: −0.123 bits, from 7.5 % to 6.9 %"
    assert answers.alike(kept, "Layer 1, head 3: −0.124 bits, from 7.4 % to 6.9 %")
    assert answers.alike("[-1.2345678e-05, 0.25]", "[-1.2345699e-05, 0.2500001]")
    for other in (kept.replace("head 3", "head 4"), kept.replace("0.123", "0.133"), kept.replace("−", "+"), kept[:-1]):
        assert not answers.alike(kept, other)


def test_a_number_in_a_text_may_be_another_rounding_error() -> None:
    assert answers.alike("restores +4.19e−6 of the difference", "restores −8.38e−7 of the difference")
    assert not answers.alike("restores +4.19e−4 of the difference", "restores −8.38e−4 of the difference")


@pytest.mark.parametrize("path", contract_types.FILES)
def test_the_types_of_the_browser_are_those_of_the_contracts(path: str) -> None:
    written = (contract_types.PACKAGE / path).read_text(encoding="utf-8")
    assert written == contract_types.declarations(path), "write them: python app/contract_types.py"
