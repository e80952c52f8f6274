// The panels that the picture opens, which are the rows of TABS in Python. Each has a module that draws it. Only the
// open panel is drawn.

import { askUntilAnswered, failureText } from "../../ui/frontend/server.js";
import { remembered } from "../../ui/frontend/state/memory.js";
import { drawHint } from "./examples.js";

/** @import { ExploreAnswer, ExplorePage, Tab, TabRow } from "./types.js" */

const ROOT = new URL("../../", import.meta.url); // the package's URL

/** The loaded tabs, and the answer that each has drawn. */
const memory = remembered((/** @type {ExplorePage} */ _) => ({
  tabs: /** @type {Map<string, Tab>} */ (new Map()),
  drawn: /** @type {Map<string, ExploreAnswer>} */ (new Map()),
}));

/**
 * Fetches the module of the open tab, which is drawn when it arrives; returns a function that fetches the others.
 * @param {ExplorePage} page
 */
export function loadTabs(page) {
  const { tabs: rows } = page.state.catalogue;
  const open = activeTab(page);
  const load = (/** @type {boolean} */ isOpen) =>
    loadModules(
      page,
      rows.filter(({ name }) => (name === open) === isOpen),
      memory(page).tabs,
      () => activeTab(page),
    );
  load(true);
  return () => load(false);
}

/**
 * Fetches the modules of some rows into a map; the open one is drawn when it arrives.
 * @param {ExplorePage} page @param {TabRow[]} rows @param {Map<string, Tab>} loaded @param {() => string} active
 */
export function loadModules(page, rows, loaded, active) {
  for (const { name, module } of rows) {
    /** @param {{ default: Tab }} found */
    const keep = (found) => {
      loaded.set(name, found.default);
      if (active() === name) page.view.redraw(true);
    };
    fetchModule(module).then(keep, (error) => page.view.showProblem(failureText(error)));
  }
}

/** Imports a module by its path in the package, and retries while the network fails. @param {string} module */
export function fetchModule(module) {
  const address = new URL(module, ROOT).href;
  // Some browsers cache the failed import of a URL.
  return askUntilAnswered((attempt) => import(attempt ? `${address}?${attempt}` : address));
}

/** The name of the open tab. @param {ExplorePage} page */
export function activeTab(page) {
  const { tabs } = page.state.catalogue;
  return (tabs.find(({ name }) => name === page.state.choice.tab) ?? tabs[0]).name;
}

/** Draws the open tab, and hides the others. @param {ExplorePage} page */
export function drawActiveTab(page, fresh = false) {
  const answer = page.state.latestAnswer;
  if (!answer) return;
  const open = activeTab(page);
  const { tabs, drawn } = memory(page);
  // Until the module is loaded, clicks would be lost.
  for (const [name, panel] of Object.entries(page.view.panels)) panel.hidden = name !== open || !tabs.has(open);
  page.view.elements.board.dataset.tab = open;
  drawHint(page, open);
  const tab = tabs.get(open);
  if (!tab) return;
  // A tab that was closed when the answer arrived must draw all of it.
  const stale = drawn.get(open) !== answer;
  drawn.set(open, answer);
  tab.draw(page, fresh || stale);
}

/** Marks the token under the pointer in the open tab, without a full redraw. @param {ExplorePage} page */
export function markActiveTab(page) {
  memory(page).tabs.get(activeTab(page))?.markPointer?.(page);
}

/** The drawing of the open tab for export; null if it has none. @param {ExplorePage} page */
export async function exportOpenTab(page) {
  return (await memory(page).tabs.get(activeTab(page))?.exported?.(page)) ?? null;
}
