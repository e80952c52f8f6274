"""Text and formulas are in the fonts that the server sends, and legible on a phone without these."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import CDPSession, Page, Route

from headlight.course.chapters import CHAPTERS
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.nn.masks import MASKS
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight_app.ui.component import VIEW_STYLES, read
from headlight_app.ui.modules import FILES, FONT, ROOT
from tests.browser.conftest import Visit
from tests.browser.elements import script
from tests.browser.rest import come_to_rest
from tests.browser.visitor import Visitor, shown_instrument
from tests.javascript import node

FORMULAS = sorted(
    {formula for row in CHAPTERS.values() for screen in row.screens.values() for formula in screen.formulas}
    | {row.formula for table in (ATTENTION_FUNCTIONS, MASKS, POSITIONAL_ENCODINGS) for row in table.values()} - {""}
)
MATHEMATICS = "STIX Two Math"
LINE = 300  # pixels; the room for a formula on a phone
# Draws each formula in a line of its own. Returns its smallest text, and whether its line scrolls if it must.
DRAW = """async ({ formulas, line }) => {
  const { createFormulas } = await import(`./sources/ui/frontend/formulas/formulas.ts`);
  const blocks = formulas.map((formula) => createFormulas({ formulas: [formula], symbols: [] }));
  document.body.style.width = `${line}px`;
  document.body.append(...blocks);
  await document.fonts.ready;
  for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  return blocks.map((block, index) => {
    const texts = [...block.querySelectorAll("math *")].filter((element) => !element.children.length);
    const lines = block.querySelector(".formulas");
    return {
      formula: formulas[index],
      smallest: Math.min(...texts.map((element) => parseFloat(getComputedStyle(element).fontSize))),
      reached: lines.scrollWidth <= lines.clientWidth || lines.tabIndex === 0,
    };
  });
}"""
STATUS = "family => [...document.fonts].filter((font) => font.family.includes(family)).map(({ status }) => status)"
WORDS = script("""() => everything().filter((element) =>
  element.checkVisibility() && !element.closest("style, script, svg, .katex-mathml, [data-testid=stIconMaterial]")
  && [...element.childNodes].some((node) => node.nodeType === 3 && /[\\p{L}\\d]/u.test(node.data)))""")


@pytest.fixture
def phone(visit: Visit) -> Visitor:
    """A phone that can open an empty page of the server, with the style sheets of formulas, and import modules."""
    visitor = visit(width=390, height=844, touch=True)
    styles = "\n".join(map(read, ("course/frontend/course.css", *VIEW_STYLES)))
    page = f"<!doctype html><title>Formulas</title><style>{styles}</style><body>"
    visitor.page.route("**/empty", lambda route: route.fulfill(body=page, content_type="text/html"))
    visitor.page.route("**/sources/**", send_source)
    return visitor


def send_source(route: Route) -> None:
    """Answer with a module and its imports, or with the font beside it; a page has the bundle of all."""
    path = ROOT / route.request.url.partition("/sources/")[2]
    if path.name == FONT:
        return route.fulfill(path=FILES[FONT])
    done = node.npm("exec", "--silent", "--", "esbuild", str(path), "--bundle", "--format=esm")
    route.fulfill(body=done.stdout, content_type="text/javascript")


def draw_formulas(visitor: Visitor) -> list[dict[str, Any]]:
    visitor.page.goto(f"{visitor.url}/empty")
    drawn: list[dict[str, Any]] = visitor.page.evaluate(DRAW, {"formulas": FORMULAS, "line": LINE})
    return drawn


def fonts_of(page: Page, elements: str) -> Iterator[tuple[str, str]]:
    """Each font that draws text of the elements that a script returns, with the text; a system font in brackets."""
    client = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        client.send(f"{domain}.enable")
    client.send("DOM.getDocument", {"depth": 0})
    found = client.send("Runtime.evaluate", {"expression": elements})["result"]["objectId"]
    for element in _properties(client, found):
        node = client.send("DOM.requestNode", {"objectId": element})["nodeId"]
        text = client.send("Runtime.callFunctionOn", {"objectId": element, "functionDeclaration": TEXT})
        for font in client.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]:
            name = font["familyName"]
            yield (name if font["isCustomFont"] else f"[{name}]"), text["result"]["value"]
    client.detach()


TEXT = "function () { return this.textContent.slice(0, 40); }"


def _properties(client: CDPSession, array: str) -> Iterator[str]:
    listed = client.send("Runtime.getProperties", {"objectId": array, "ownProperties": True})["result"]
    return (each["value"]["objectId"] for each in listed if each["name"].isdecimal())


def test_every_formula_is_drawn_in_the_mathematics_font_and_is_legible(phone: Visitor) -> None:
    drawn = draw_formulas(phone)
    assert phone.page.evaluate(STATUS, MATHEMATICS) == ["loaded"]
    leaves = "[...document.querySelectorAll('math *')].filter((element) => !element.children.length)"
    different = f"[...new Map({leaves}.map((leaf) => [`${{leaf.localName}} ${{leaf.textContent}}`, leaf])).values()]"
    fonts = list(fonts_of(phone.page, different))
    assert len(fonts) > 100
    assert [each for each in fonts if each[0] != MATHEMATICS] == []
    assert [each for each in drawn if each["smallest"] < 12 or not each["reached"]] == []


def test_without_the_mathematics_font_every_formula_is_legible(phone: Visitor) -> None:
    phone.page.route("**/*.woff2", lambda route: route.abort())
    phone.provoked = "Failed to load resource"
    drawn = draw_formulas(phone)
    assert phone.page.evaluate(STATUS, MATHEMATICS) == ["error"]
    assert [each for each in drawn if each["smallest"] < 12 or not each["reached"]] == []


def test_the_walkthrough_loads_the_mathematics_font_and_the_heads_do_not(visitor: Visitor) -> None:
    page = visitor.explore("model=stories-causal")
    assert page.evaluate(STATUS, MATHEMATICS) == []
    visitor.open("model=stories-causal&tab=walkthrough")
    page.locator(".values .value").first.wait_for()
    page.wait_for_function(f"({STATUS})({MATHEMATICS!r}).join() === 'loaded'")
    come_to_rest(page)  # drawn anew meanwhile, its elements could not be asked
    formula = script("() => everything().filter((element) => element.matches('.formula :not(.equation)'))")
    fonts = {name for name, _ in fonts_of(page, f"({formula})()")}
    assert fonts == {MATHEMATICS}


@pytest.mark.parametrize("place", ["/", "/course", "/positions", "/models"])
def test_words_are_in_the_fonts_that_the_server_sends(shared_visitor: Visitor, place: str) -> None:
    page = shared_visitor.open(path=place)
    if place == "/":
        shown_instrument(page)
    page.locator("h1").first.wait_for()
    page.evaluate("document.fonts.ready")
    fonts = list(fonts_of(page, f"({WORDS})()"))
    assert len(fonts) > 5
    assert [each for each in fonts if each[0].startswith("[")] == []
