"""Takes the README's screenshots of the current page: `python -m tests.browser.screenshots`"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Page

from headlight.paths import assets_dir
from tests.browser import chromium
from tests.browser.server import serve
from tests.browser.visitor import Visitor

WIDE, HIGH = 1440, 900
COLOURS = 255  # of a picture; enough, since pages have few colours
QUIET = 5_000  # milliseconds until everything is drawn
STORY = "One day a little girl named Lily went to the park with her mother. She saw a big dog."


@dataclass(frozen=True)
class Taken:
    """A screenshot: its name, its address, and the actions before it."""

    name: str
    path: str
    choices: dict[str, str]
    dark: bool = False
    act: Callable[[Page], object] = Page.title


def write(page: Page) -> None:
    """Generates twelve tokens."""
    for _ in range(12):
        page.get_by_test_id("step").click()
        page.wait_for_timeout(400)


PICTURES = (
    Taken("explore", "/", {"model": "stories-causal", "text": STORY}),
    Taken("layers", "/", {"model": "stories-causal", "text": STORY, "tab": "layers"}, dark=True),
    Taken("compare", "/compare", {"model": "stories-causal"}),
    Taken("generate", "/generate", {"model": "stories-causal", "layer": "2", "head": "5"}, dark=True, act=write),
)


def taken(folder: Path) -> Iterator[Path]:
    """Takes each screenshot; yields its file once it is saved."""
    with chromium.launched() as browser, TemporaryDirectory() as place, serve(Path(place)) as server:
        for each in PICTURES:
            size, scheme = {"width": WIDE, "height": HIGH}, "dark" if each.dark else "light"
            page = browser.new_context(viewport=size, color_scheme=scheme).new_page()  # type: ignore[arg-type]
            Visitor(page, server.url).open(urlencode(each.choices), each.path)
            page.wait_for_timeout(QUIET)
            each.act(page)
            page.wait_for_timeout(QUIET)
            shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            file = folder / f"{each.name}.png"
            shot.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
            page.close()
            yield file
        browser.close()


if __name__ == "__main__":
    for picture in taken(assets_dir() / "pictures"):
        print(f"{picture} {picture.stat().st_size / 1e3:.0f} kB")
