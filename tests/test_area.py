"""`make test AREA=...` runs the tests of every folder of `app` and `model`."""

import pytest

from tests.area import PACKAGES, ROOT, UnknownArea, areas, arguments_of
from tests.javascript.test_javascript import FOLDERS


def test_each_outermost_folder_has_tests_of_its_own() -> None:
    for package in PACKAGES:
        for folder in (path for path in package.iterdir() if path.is_dir() and any(path.glob("*.py"))):
            found = arguments_of(folder.name)
            assert any(folder.name in argument or "families" in argument for argument in found), folder


def test_what_is_run_exists_and_is_less_than_everything() -> None:
    for area in areas():
        for argument in arguments_of(area.as_posix()):
            assert (ROOT / argument.partition("::")[0]).exists(), area
            assert argument not in ("tests/app", "tests/model", "tests/browser"), area


def test_an_area_has_tests_of_all_kinds() -> None:
    assert arguments_of("explore") == [
        "tests/app/explore",
        "tests/browser/explore",
        "tests/javascript/test_javascript.py::test_the_modules_pass[explore]",
    ]
    assert "explore" in FOLDERS
    assert arguments_of("checkpoints") == ["tests/model/checkpoints", "tests/families"]
    assert arguments_of("lenses") == arguments_of("analysis/lenses")


def test_a_folder_without_tests_of_its_own_is_tested_with_the_one_around_it() -> None:
    assert arguments_of("training/objectives") == ["tests/model/training"]


def test_an_unknown_area_is_a_sentence_with_the_known_ones() -> None:
    with pytest.raises(UnknownArea, match=r"'explorer'\. The outermost ones are: .*explore, export"):
        arguments_of("explorer")
