"""`tests/constraints.txt` holds a version of each package that pyproject.toml names, and its ranges admit them."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
LINES = (ROOT / "tests/constraints.txt").read_text(encoding="utf-8").splitlines()
HELD = dict(line.split("==") for line in LINES if not line.startswith("#"))
VERSIONS = {canonicalize_name(name): version for name, version in HELD.items()}


def named() -> list[Requirement]:
    """What a run and a test install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [Requirement(each) for each in (*project["dependencies"], *project["optional-dependencies"]["test"])]


@pytest.mark.parametrize("requirement", named(), ids=lambda requirement: requirement.name)
def test_a_version_is_held_and_admitted(requirement: Requirement) -> None:
    assert VERSIONS[canonicalize_name(requirement.name)] in requirement.specifier
