"""Sizes of controls and texts, tab stops and loaded bytes of each page, as tables: `python -m tests.browser.reach`.

Sizes are measured on a phone of 390 x 844 with a touch screen, tab stops on a screen of 1440 x 900, and the bytes
before the first heads with an empty cache over a slow network.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser import chromium
from tests.browser.elements import script
from tests.browser.rest import come_to_rest, watch
from tests.browser.server import serve
from tests.browser.test_accessibility import PLACES, opened
from tests.browser.visitor import BEEN_HERE, PATIENCE, Visitor

PAGES = ("heads", "classify", "compare", "generate", "positions", "map of the course", "question", "models")
MOST_TABS = 120
SLOW = 50_000  # bytes a second
MOST_SECONDS = 300
# Visible controls with their smaller sides, the sizes of visible texts, and pictures without a name, in every shadow
# root. A field's label counts as part of its hit area, and SVG text is measured after scaling.
SIZES = script("""() => {
  const controls = "button, a[href], input:not([type=hidden]), select, textarea, summary, "
    + "[role=gridcell], [role=button], [role=tab], [role=switch]";
  const sides = [], texts = [], unnamed = [];
  for (const element of everything()) {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const { width, height, right } = (element.closest("label") ?? element).getBoundingClientRect();
    if (width < 2 || height < 2 || right <= 0) continue;
    const name = element.ariaLabel || `${element.localName} ${element.textContent.trim().slice(0, 30)}`;
    if (element.matches(controls)) sides.push([Math.round(Math.min(width, height)), name]);
    if (element.matches("svg, img, canvas") && !element.closest("[aria-hidden=true], [role=presentation]")
        && !(element.ariaLabel || element.alt || element.querySelector("title")))
      unnamed.push([0, element.outerHTML]);
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    const scale = element.ownerSVGElement?.getScreenCTM()?.a ?? 1;
    if (own && !element.closest("style, script, [aria-hidden=true]"))
      texts.push([Math.round(10 * scale * parseFloat(getComputedStyle(element).fontSize)) / 10, name]);
  }
  return { sides, texts, unnamed };
}""")
FOCUSED = script("""() => {
  const element = focused();
  return element?.closest("[data-testid=grid]") ? "grid"
    : element?.closest(".answers") ? "prediction"
    : element?.dataset?.testid ?? element?.localName ?? "";
}""")


def sizes(page: Page) -> dict[str, list[tuple[float, str]]]:
    """The smaller sides of all controls and the sizes of all texts, in pixels, and pictures without a name."""
    found: dict[str, list[tuple[float, str]]] = page.evaluate(SIZES)
    return found


def smaller(found: list[tuple[float, str]], least: float) -> list[tuple[float, str]]:
    """The entries smaller than `least`."""
    return [(size, name) for size, name in found if size < least]


def drawn(visitor: Visitor, name: str) -> Page:
    """A page once it is drawn and no longer changes."""
    page = opened(visitor, PLACES[name])
    come_to_rest(page)
    return page


def tabs(page: Page) -> list[str]:
    """The successive tab stops, from the page's load until the focus leaves the page."""
    stops: list[str] = []
    while len(stops) < MOST_TABS:
        page.keyboard.press("Tab")
        stop = str(page.evaluate(FOCUSED))
        if stop == "body":
            break
        stops.append(stop)
    return stops


def print_sizes(context: BrowserContext, address: str) -> None:
    """Prints a line for each page."""
    print("| page | controls | under 24 px | under 44 px | smallest | texts under 12 px | smallest |")
    print("|---|---|---|---|---|---|---|")
    for name in PAGES:
        page = drawn(Visitor(context.new_page(), address), name)
        found = sizes(page)
        sides, texts = found["sides"], found["texts"]
        print(
            f"| {name} | {len(sides)} | {len(smaller(sides, 24))} | {len(smaller(sides, 44))} | {min(sides)[0]:.0f} "
            f"| {len(smaller(texts, 12))} of {len(texts)} | {min(texts)[0]:.1f} |"
        )
        page.close()


def print_tabs(context: BrowserContext, address: str) -> None:
    """Prints each page's number of tab stops, and the stops to Explore's parts, with and without the sidebar."""
    for name in PAGES:
        page = drawn(Visitor(context.new_page(), address), name)
        stops = tabs(page)
        skipped = stops.index("stMain")  # the target of the skip link
        ways = {
            part: (stops.index(part) + 1, stops.index(part) - skipped + 1)
            for part in ("sentence", "grid", "prediction")
            if part in stops
        }
        print(f"{name}: {len(stops)} tab stops, {len(stops) - skipped} behind the skip link {ways}")
        page.close()


def print_bytes(browser: Browser, address: str) -> None:
    """Prints the bytes received until the first heads are painted, and the time that takes."""
    page = browser.new_page()
    client = page.context.new_cdp_session(page)
    client.send("Network.enable")
    slow = {"offline": False, "latency": 0, "downloadThroughput": SLOW, "uploadThroughput": SLOW}
    client.send("Network.emulateNetworkConditions", slow)
    names: dict[str, str] = {}
    received: dict[str, int] = {}

    def start(event: dict[str, Any]) -> None:
        names[event["requestId"]] = event["request"]["url"].removeprefix(address)

    def finish(event: dict[str, Any]) -> None:
        received[names.get(event["requestId"], "?")] = int(event["encodedDataLength"])

    client.on("Network.requestWillBeSent", start)
    client.on("Network.loadingFinished", finish)
    began = monotonic()
    page.goto(address, wait_until="commit")
    page.locator('[data-testid="instrument"][data-painted]').wait_for(timeout=1e3 * MOST_SECONDS)
    ours = {name: size for name, size in received.items() if name.startswith(("/api/", "/modules/"))}
    print(
        f"before the first heads, {monotonic() - began:.0f} s at {8 * SLOW / 1e3:.0f} kbit/s: "
        f"{len(received)} files, {sum(received.values()) / 1e3:,.0f} kB; "
        f"of these ours: {len(ours)} files, {sum(ours.values()) / 1e3:,.0f} kB"
    )
    for name, size in sorted(received.items(), key=lambda item: -item[1])[:25]:
        print(f"  {size / 1e3:8.1f} kB {name[:110]}")


def main() -> None:
    """Print the tables."""
    expect.set_options(timeout=1e3 * PATIENCE)  # as in the tests, whose pages these are
    with chromium.launched() as browser, TemporaryDirectory() as folder, serve(Path(folder)) as server:
        print_bytes(browser, server.url)
        phone = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
        screen = browser.new_context(viewport={"width": 1440, "height": 900})
        for context, show in ((phone, print_sizes), (screen, print_tabs)):
            context.add_init_script(f"({BEEN_HERE})()")
            watch(context)
            show(context, server.url)
        browser.close()


if __name__ == "__main__":
    main()
