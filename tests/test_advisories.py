"""No version that is installed, or that pyproject.toml admits as the lowest, has a known advisory (`pip-audit`)."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.lowest import requirements

LOWEST = re.compile(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)")
SECONDS = 240


def audited(*arguments: str) -> dict[str, list[str]]:
    """The advisories of each package that pip-audit could look up. Skips the test if it could look up none."""
    if not find_spec("pip_audit"):
        pytest.skip("pip-audit is not installed")
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        rows = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError):
        pytest.skip("pip-audit cannot get its data here")
    found = {row["name"]: [each["id"] for each in row["vulns"]] for row in rows if "vulns" in row}
    if not found:
        pytest.skip("the registry that is in use here knows no advisories")
    return {name: ids for name, ids in found.items() if ids}


@pytest.mark.full
def test_what_is_installed_has_no_known_advisory() -> None:
    assert audited("--skip-editable") == {}


@pytest.mark.full
def test_the_lowest_versions_have_no_known_advisory(tmp_path: Path) -> None:
    lowest = [found.groups() for each in requirements() if (found := LOWEST.match(each))]
    file = tmp_path / "requirements.txt"
    file.write_text("".join(f"{name}=={version}\n" for name, version in lowest))
    assert audited("--requirement", str(file), "--no-deps", "--disable-pip") == {}
