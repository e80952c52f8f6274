"""Touch targets, text sizes, focus rings, and the loading order over a slow network."""

import io
import re

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Visit
from tests.browser.elements import script
from tests.browser.journeys import with_journeys
from tests.browser.reach import FOCUSED, PAGES, drawn, sizes, smaller, tabs
from tests.browser.rest import come_to_rest
from tests.browser.test_accessibility import SCHEMES, wear
from tests.browser.visitor import Visitor, shown_instrument, wait_until

# The focused element: its name, its kind (with its label's), and the box that its focus ring surrounds.
FOCUS = script("""() => {
  const element = window.focused = focused();
  const label = element.closest("label");
  const around = element.closest(".box") ?? (element.localName === "input" ? label : null) ?? element;
  const { x, y, width, height } = around.getBoundingClientRect();
  const named = (element) => `${element.localName} ${element.className.replace(/st-emotion\\S+/g, "")}`;
  const kind = [element, label].filter(Boolean).map(named).join(" in ");
  return { kind, name: element.ariaLabel || element.textContent.slice(0, 30), box: [x, y, width, height] };
}""")
LOOK = """element => {
  const { backgroundColor, outlineStyle, outlineColor } = getComputedStyle(element);
  return `${backgroundColor} ${outlineStyle} ${outlineColor}`;
}"""
MOST_TABS = 60
MARGIN = 8  # pixels around an element that contain its ring
LEAST_RING = 0.75  # of a one-pixel outline; less than 1, since rings have round corners
LATER = r"/api/(?!trace$|head_view$)"  # answers that no head is drawn from


@pytest.mark.parametrize("name", with_journeys(PAGES, "heads", "question"))
def test_on_a_phone_everything_is_hit_read_and_named(visit: Visit, name: str) -> None:
    page = drawn(visit(width=390, height=844, touch=True), name)
    found = sizes(page)
    assert smaller(found["texts"], 12) == []
    assert smaller(found["sides"], 24) == []
    assert found["unnamed"] == []
    expect(page.locator("h1")).to_have_count(1)
    expect(page.locator("[aria-current=page]")).to_have_count(1)
    heads = page.locator("[role=gridcell]").all()
    # All eight heads of a layer are side by side: 24 pixels is what WCAG 2.2 AA asks of a target.
    assert all(box["width"] >= 24 and box["height"] >= 44 for head in heads if (box := head.bounding_box()))


def test_all_heads_of_a_layer_are_beside_its_number_without_scrolling_sideways(visit: Visit) -> None:
    page = visit(width=390, height=844, touch=True).explore("model=stories-causal")
    last = page.get_by_test_id("head-3-7")
    last.scroll_into_view_if_needed()
    assert page.get_by_test_id("grid").evaluate("grid => grid.scrollLeft") == 0
    label, grid, box = (
        part.bounding_box() for part in (page.get_by_test_id("layer-3"), page.get_by_test_id("grid"), last)
    )
    assert label and grid and box
    assert grid["x"] <= label["x"] < label["x"] + label["width"] <= box["x"]
    assert box["x"] + box["width"] <= grid["x"] + grid["width"]
    last.tap()
    shown_instrument(page)
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 3 · Head 7")


@pytest.mark.parametrize("path", with_journeys(["/", "/compare", "/generate", "/models"], "/"))
def test_the_ring_of_the_focus_stands_out_from_what_is_behind_it(shared_visitor: Visitor, path: str) -> None:
    page = shared_visitor.open(path=path)
    expect(page.locator(".stApp h1").first).to_be_attached()
    come_to_rest(page)  # drawn anew meanwhile, an element would lose the focus
    for scheme in SCHEMES:
        wear(page, scheme)
        pale = pale_rings(page)
        assert not pale, f"{scheme}: {pale}"


@pytest.mark.parametrize(
    ("path", "name", "choice", "height"),
    [
        ("/", "Explore", "presenter=1", 800),
        ("/", "Explore", "embedded=1", 800),
        ("/", "Explore", "", 390),  # a phone in landscape
        ("/compare", "Compare", "presenter=1", 800),
        ("/compare", "Compare", "", 390),
        ("/generate", "Generate", "presenter=1", 800),
        ("/generate", "Generate", "", 390),
    ],
)
def test_the_name_of_a_page_is_heard_where_it_is_not_seen(
    visit: Visit, path: str, name: str, choice: str, height: int
) -> None:
    page = visit(width=844, height=height).open(f"model=next&{choice}", path)
    heading = page.get_by_role("heading", name=name, level=1, exact=True)
    expect(heading).to_have_count(1)
    expect(page.locator(".lead")).to_have_css("clip-path", "inset(50%)")
    expect(page.locator(".lead")).to_have_css("position", "absolute")
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


def pale_rings(page: Page) -> list[str]:
    """Tab stops without a focus ring of contrast 3:1; only the first of each kind is checked."""
    seen: set[str] = set()
    pale: list[str] = []
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        if focus["kind"].startswith("body"):
            break
        if focus["kind"] not in seen and (ring := ring_share(page, focus["box"])) < LEAST_RING:
            pale.append(f"{focus['kind']} {focus['name']!r}: {ring:.2f}")
        seen.add(focus["kind"])
    page.evaluate("window.focused.blur()")
    return pale


def ring_share(page: Page, box: tuple[float, float, float, float]) -> float:
    """The number of pixels that the focus changes by 3:1, as a share of the element's perimeter."""
    left, top = (max(0.0, side - MARGIN) for side in box[:2])
    size = page.viewport_size or {"width": 0, "height": 0}
    right = min(box[0] + box[2] + MARGIN, size["width"])
    bottom = min(box[1] + box[3] + MARGIN, size["height"])
    clip = (left, top, right, bottom)
    with_ring = luminance(page, clip)
    page.evaluate("window.focused.blur()")
    without = luminance(page, clip)
    page.evaluate("window.focused.focus({ preventScroll: true, focusVisible: true })")
    contrast = (np.maximum(with_ring, without) + 0.05) / (np.minimum(with_ring, without) + 0.05)
    return float((contrast >= 3).sum() / (2 * (right - left + bottom - top - 4 * MARGIN)))


def luminance(page: Page, clip: tuple[float, float, float, float]) -> np.ndarray:
    """The relative luminance of each pixel within left, top, right and bottom."""
    left, top, right, bottom = clip
    area = {"x": left, "y": top, "width": right - left, "height": bottom - top}
    shot = page.screenshot(clip=area, animations="disabled", caret="hide")  # type: ignore[arg-type]
    share = np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    bright: np.ndarray = linear @ np.array([0.2126, 0.7152, 0.0722])
    return bright


def test_in_landscape_the_prediction_is_near_and_nothing_lies_over_the_page(visit: Visit) -> None:
    page = visit(width=844, height=390, touch=True).explore("model=stories-causal")
    sentence, prediction = (page.get_by_test_id(name).bounding_box() for name in ("sentence", "part-prediction"))
    assert sentence and prediction
    assert prediction["y"] + prediction["height"] - sentence["y"] < 1.2 * 390
    expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()


@pytest.mark.journey
def test_by_two_tabs_to_the_sentence_and_by_landmarks_to_the_rest(page: Page) -> None:
    shown_instrument(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) == "sentence"
    for name, heading in (("All heads", "All heads"), ("Prediction", "Next token")):
        part = page.get_by_role("region", name=name, exact=True)
        expect(part.get_by_role("heading", name=heading)).to_be_visible()
    expect(page.get_by_test_id("stage")).to_have_accessible_description(re.compile(r" looks at .* [\d.]+ %"))


def test_the_charts_of_positions_are_no_row_of_tab_stops(visitor: Visitor) -> None:
    stops = tabs(drawn(visitor, "positions"))
    assert len(stops) - stops.index("stMain") <= 20


def test_forced_colours_tell_apart_what_colours_told(shared_visitor: Visitor) -> None:
    shared_visitor.page.emulate_media(forced_colors="active")
    page = shared_visitor.explore("model=stories-causal&pinned=3&layer=2&head=5")
    for one, other in (
        ('[data-testid="head-2-5"] .tile', '[data-testid="head-2-4"] .tile'),
        ('[data-testid="tokens"] .chip.locked', '[data-testid="tokens"] .chip:not(.locked)'),
        ('[data-testid="plot"] [aria-pressed="true"]', '[data-testid="plot"] [aria-pressed="false"]'),
        (".predictions .bar", ".predictions .track"),
        (".metric .bar", ".metric .track"),
    ):
        assert look(page, one) != look(page, other), one
    switch = '[data-testid="head-switch"] i'
    on = look(page, switch)
    page.locator(switch).click()
    wait_until(page, lambda: look(page, switch), lambda off: off != on)
    page = shared_visitor.open("model=stories-causal", "/compare")
    distances = page.locator(".apart td[data-row]")
    expect(distances.first).to_be_visible()
    assert len(set(distances.evaluate_all(f"cells => cells.map({LOOK})"))) > 10


def look(page: Page, selector: str) -> str:
    """The background and the outline of an element."""
    return str(page.locator(selector).first.evaluate(LOOK))


def test_the_first_heads_wait_for_one_script_and_for_no_answer_but_their_own(visitor: Visitor) -> None:
    held: list[Route] = []
    requested: list[str] = []
    visitor.page.route(re.compile(LATER), lambda route: held.append(route))
    visitor.page.on("request", lambda request: requested.append(request.url))
    page = visitor.open("model=stories-causal")
    shown_instrument(page)
    expect(page.locator('[data-testid="instrument"][data-painted]')).to_be_visible()
    assert len([url for url in requested if re.search(r"/modules/.*\.js$", url)]) == 1
    assert held
    page.unroute_all()  # the held requests continue
    page.get_by_test_id("export-menu-button").click()
    expect(page.get_by_test_id("export-csv")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_test_id("part-network-decoder-2").click()
    expect(page.get_by_test_id("panel-layers")).to_be_visible()
