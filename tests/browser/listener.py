"""Screen-reader announcements of a page: the text of its live regions, as they change."""

from playwright.sync_api import Page, expect

from tests.browser.elements import script
from tests.browser.rest import come_to_rest
from tests.browser.visitor import wait_until

LISTEN = """
window.announced = [];
const LIVE = "[role=status], [role=alert], [aria-live=polite], [aria-live=assertive]";
const say = region => {
  const words = region.textContent.replace(/\\s+/g, " ").trim();
  if (words && region.ariaLive !== "off" && region.checkVisibility()) window.announced.push(words);
};
const hear = changes => {
  const regions = new Set();
  for (const { target, addedNodes } of changes) {
    const element = target instanceof Element ? target : target.parentElement;
    regions.add(element?.closest(LIVE));
    for (const node of addedNodes)
      if (node instanceof Element)
        for (const each of [node, ...node.querySelectorAll("[role=alert]")]) regions.add(each.closest("[role=alert]"));
  }
  regions.delete(null);
  regions.delete(undefined);
  regions.forEach(say);
};
const listen = root =>
  new MutationObserver(hear).observe(root, { childList: true, subtree: true, characterData: true });
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) {
  const root = attach.call(this, options);
  listen(root);
  return root;
};
listen(document);
"""
FOCUSED = script("() => focused()?.dataset?.testid ?? focused()?.id ?? ''")
MOST_TABS = 80


def announced(page: Page) -> list[str]:
    """All announcements since the last call, once the page is at rest."""
    come_to_rest(page)
    said: list[str] = page.evaluate("announced.splice(0)")
    return said


def next_announced(page: Page) -> list[str]:
    """The same, after waiting for at least one announcement."""
    wait_until(page, lambda: page.evaluate("announced"), bool)
    return announced(page)


def wait_to_hear(page: Page, words: str) -> None:
    """Waits until these words are announced."""
    wait_until(page, lambda: page.evaluate("announced"), lambda said: any(words in one for one in said))


def focused(page: Page) -> str:
    """The test id of the focused element, or its id; empty if it has neither."""
    return str(page.evaluate(FOCUSED))


def expect_focus(page: Page, name: str) -> None:
    """Waits until the named element has the focus."""
    wait_until(page, lambda: focused(page), lambda found: found == name)


def tab_to(page: Page, name: str, most: int = MOST_TABS, key: str = "Tab") -> None:
    """Presses Tab until the named element has the focus."""
    for _ in range(most):
        page.keyboard.press(key)
        if focused(page).startswith(name):
            return
    raise AssertionError(f"{most} presses of {key} do not lead to {name}, but to {focused(page)}")


def enter(page: Page) -> None:
    """Skips the sidebar after the page is loaded."""
    expect(page.get_by_test_id("stSkipToContent")).to_be_attached()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
