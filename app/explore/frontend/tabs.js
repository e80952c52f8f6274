// The tabs of the page: a row here, a folder with its files, a panel. Only the open tab is drawn.
//
// The name of a tab stands in the page's TABS in Python too, which has its HTML, and among the rooms of app/state.py.

import { HEADS_TAB } from "../../../model/rendering/static/heads/heads_tab.js";
import { remembered } from "../../../model/rendering/static/state/memory.js";
import { createElement } from "../../../model/rendering/static/ui/dom.js";
import { HORIZONTAL_STEPS } from "../../../model/rendering/static/ui/keyboard.js";
import { drawHint } from "./examples.js";
import { LAYERS_TAB } from "./layers/layers_tab.js";
import { WALKTHROUGH_TAB } from "./walkthrough/walkthrough_tab.js";

/** @import { ExploreAnswer, ExplorePage, Tab } from "./types.js" */

/** @type {Readonly<Record<string, Tab>>} */
export const TABS = { heads: HEADS_TAB, walkthrough: WALKTHROUGH_TAB, layers: LAYERS_TAB };

/** The answer that each tab has drawn. */
const drawn = remembered((/** @type {ExplorePage} */ _) => /** @type {Map<string, ExploreAnswer>} */ (new Map()));

/** @param {ExplorePage} page */
function activeTab(page) {
  const { tab } = page.state.choice;
  return tab in TABS ? tab : "heads";
}

/**
 * Draws the open tab, and hides the others.
 * @param {ExplorePage} page
 */
export function drawActiveTab(page, fresh = false) {
  const answer = page.state.latestAnswer;
  if (!answer) return;
  const open = activeTab(page);
  for (const [name, panel] of Object.entries(page.view.panels)) panel.hidden = name !== open;
  page.view.elements.board.dataset.room = open;
  drawHint(page, open);
  drawTabs(page, open);
  // A tab that was closed when the answer came has all of it still to draw.
  const stale = drawn(page).get(open) !== answer;
  drawn(page).set(open, answer);
  TABS[open].draw(page, fresh || stale);
}

/**
 * The pointer is at another token: the open tab shows it as cheaply as it can.
 * @param {ExplorePage} page
 */
export function markActiveTab(page) {
  TABS[activeTab(page)].markPointer?.(page);
}

/** @param {ExplorePage} page @param {string} open */
function drawTabs(page, open) {
  const { tabs } = page.view.elements;
  if (!tabs.children.length)
    tabs.replaceChildren(...Object.entries(TABS).map(([name, { title }]) => createTab(page, name, title)));
  for (const button of /** @type {Iterable<HTMLElement>} */ (tabs.children)) {
    const chosen = button.dataset.testid === `room-tab-${open}`;
    button.setAttribute("aria-selected", String(chosen));
    button.tabIndex = chosen ? 0 : -1;
  }
}

/** @param {ExplorePage} page @param {string} name @param {string} title */
function createTab(page, name, title) {
  const button = createElement("button", "", title);
  button.type = "button";
  button.id = `tab-${name}`;
  button.setAttribute("role", "tab");
  button.dataset.testid = `room-tab-${name}`;
  button.onclick = () => page.change({ tab: name });
  button.onkeydown = (event) => {
    const step = HORIZONTAL_STEPS[event.key];
    const names = Object.keys(TABS);
    if (!step) return;
    event.preventDefault();
    const next = (names.indexOf(name) + step + names.length) % names.length;
    page.change({ tab: names[next] });
    /** @type {HTMLElement} */ (page.view.elements.tabs.children[next]).focus();
  };
  return button;
}
