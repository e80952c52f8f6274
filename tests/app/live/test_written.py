"""`headlight live`: what its options write, and what it says about them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from headlight.errors import HeadlightError
from headlight_app.live import write
from headlight_app.live.command import live

MODEL, OTHER = "induction", "sort"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], Path, str]]:
    """The models, place and precision of every page and site; nothing is written, and each is as large as its name."""
    found = list[tuple[list[str], Path, str]]()

    def write_page(folder: Path, out: Path, precision: str) -> int:
        return write_site([folder], out, precision)

    def write_site(folders: Sequence[Path], out: Path, precision: str) -> int:
        found.append(([folder.name for folder in folders], out, precision))
        return 1_000_000 * int(out.stem)

    monkeypatch.setattr(write, "write_page", write_page)
    monkeypatch.setattr(write, "write_site", write_site)
    return found


def test_a_large_file_is_written_and_a_site_recommended(
    written: list[object], capsys: pytest.CaptureFixture[str]
) -> None:
    for size, advice in (
        (60, ""),
        (61, "headlight: This is large for one file; with --site FOLDER a browser keeps the model.\n"),
    ):
        assert live([MODEL, "--out", f"{size}.html"]) == 0
        told = capsys.readouterr()
        assert told.out == f"{size}.html is written: {size}.0 MB. Open it in a browser.\n"
        assert told.err == advice
    assert written == [([MODEL], Path(f"{size}.html"), "float16") for size in (60, 61)]


def test_a_site_has_several_models(written: list[object], capsys: pytest.CaptureFixture[str]) -> None:
    assert live([MODEL, OTHER, "--site", "70", "--weights", "int8"]) == 0
    assert written == [([MODEL, OTHER], Path("70"), "int8")]
    told = capsys.readouterr()
    assert told.out == "70 is written: 70.0 MB. Put it on any web server, and open its index.html there.\n"
    assert told.err == ""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([MODEL, OTHER, "--out", "1.html"], "A file holds one model; write these 2 as a site, with --site FOLDER."),
        ([MODEL, "--out", "1.html", "--site", "1"], "Argument --site: not allowed with argument --out."),
        ([MODEL], "One of the arguments --out --site is required."),
    ],
)
def test_what_cannot_be_written_is_refused(words: list[str], sentence: str, written: list[object]) -> None:
    with pytest.raises(HeadlightError) as refused:
        live(words)
    assert str(refused.value).startswith(sentence)
    assert not written
