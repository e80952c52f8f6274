"""README and the pages that its table names: their length, their links, their numbers and addresses."""

import re
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

import pytest

from headlight.checkpoints.refusals import OPEN_FAMILIES
from headlight.paths import assets_dir
from headlight_app.frame.main import PAGES
from headlight_app.state.url import decode_state, encode_state

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
GROWING = "CHANGELOG.md"  # with every version
TABLE = "\n".join(line for line in README.splitlines() if line.startswith("|"))
LINK = re.compile(r"\]\(([^)#:\s]+)\)")
ADDRESSES = re.findall(r"(?m)^\d\. `(/[^`]*)`", README)
SINGLE_FILES = {"nanogpt", "llama2.c"}  # formats of one file, which transformers does not read
DOCUMENTS = [
    *ROOT.glob("*.md"),
    *(path for folder in ("app", "model", "assets", "tests") for path in (ROOT / folder).rglob("*.md")
      if "node_modules" not in path.parts),
]  # fmt: skip


def test_readme_is_read_in_five_minutes() -> None:
    assert len(README.split()) <= 1000


@pytest.mark.parametrize("page", sorted({*LINK.findall(TABLE)} - {GROWING}))
def test_a_page_for_a_reader_has_600_words_at_most(page: str) -> None:
    assert len((ROOT / page).read_text(encoding="utf-8").split()) <= 600


def test_no_link_between_documents_leads_nowhere() -> None:
    links = {(path, link) for path in DOCUMENTS for link in LINK.findall(path.read_text(encoding="utf-8"))}
    assert len(links) > 50
    assert [(str(path), link) for path, link in links if not (path.parent / link).exists()] == []


def test_readme_counts_what_there_is() -> None:
    models = [folder for folder in (assets_dir() / "models").iterdir() if (folder / "config.json").exists()]
    assert f"{len(models)} trained models" in README
    found = re.search(r"of more than (\d+) families", README)
    assert found and int(found[1]) < len({*OPEN_FAMILIES} - SINGLE_FILES)


def test_there_are_five_things_to_try() -> None:
    assert len(ADDRESSES) == 5


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_to_try_says_what_the_page_understands(address: str) -> None:
    """Each parameter is read, and none is at its default or invalid."""
    parts = urlsplit(quote(address, safe="/?=&%"))
    query = dict(parse_qsl(parts.query, strict_parsing=True))
    assert parts.path.strip("/") in {"", *(page.PATH for page in PAGES)}
    assert encode_state(decode_state(query)) == query
    assert "model" not in query or (assets_dir() / "models" / query["model"]).is_dir()
