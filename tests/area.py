"""The tests of one folder of `app` or `model`, as arguments for pytest; `make test AREA=explore` runs them.

An area is the path of a folder in its package (`analysis/lenses`), or its name alone (`lenses`). Its tests are in the
folders of that path in `tests/app`, `tests/model`, `tests/browser` and `tests/javascript`; a folder without tests of
its own is tested with the folder that contains it.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = (ROOT / "app" / "headlight_app", ROOT / "model" / "headlight")
TESTS = ROOT / "tests"
MIRRORS = (TESTS / "app", TESTS / "model", TESTS / "browser")
JAVASCRIPT = TESTS / "javascript"
MODULE_TESTS = "tests/javascript/test_javascript.py::test_the_modules_pass"
BESIDE = {"checkpoints": TESTS / "families", "nn": TESTS / "gpu"}  # tests of an area in a folder with another name
SOURCES = (".py", ".ts", ".css", ".html")


class UnknownArea(SystemExit):
    """No folder of `app` or `model` has this name; if uncaught, the program exits with the names that exist."""


def areas() -> list[Path]:
    """All folders with sources, as paths in their package."""
    files = (file.relative_to(package) for package in PACKAGES for file in package.rglob("*") if file.suffix in SOURCES)
    return sorted({folder for file in files for folder in file.parents if folder.name})


def arguments_of(area: str) -> list[str]:
    """The folders and tests of an area, as arguments for pytest. Raises UnknownArea."""
    known = areas()
    paths = [Path(area)] if Path(area) in known else [path for path in known if path.name == area]
    if not paths:
        outermost = ", ".join(sorted({path.parts[0] for path in known}))
        raise UnknownArea(f"No folder of app or model is called {area!r}. The outermost ones are: {outermost}.")
    return list(dict.fromkeys(argument for path in paths for argument in _nearest_tests(path)))


def _nearest_tests(path: Path) -> list[str]:
    """The tests of a folder or, if it has none, of the nearest folder that contains it."""
    for folder in (path, *path.parents):
        name = folder.as_posix()
        found = [
            place for place in (*(mirror / folder for mirror in MIRRORS), BESIDE.get(name)) if place and place.is_dir()
        ]
        arguments = [place.relative_to(ROOT).as_posix() for place in found]
        if (JAVASCRIPT / folder).is_dir():
            arguments.append(f"{MODULE_TESTS}[{name}]")
        if arguments:
            return arguments
    raise AssertionError("the folders of tests themselves are found last")


if __name__ == "__main__":
    print(*arguments_of(sys.argv[1]))
