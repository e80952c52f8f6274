// The panels that the picture opens, which are rows of TABS in Python: each has a module that draws it. Only the open one is drawn.

import { askUntilAnswered, failureText } from "../../ui/frontend/server.js";
import { remembered } from "../../ui/frontend/state/memory.js";
import { drawHint } from "./examples.js";

/** @import { ExploreAnswer, ExplorePage, Tab, TabRow } from "./types.js" */

const ROOT = new URL("../../", import.meta.url); // the package, as its modules are served

/** The tabs whose modules are here, and the answer that each has drawn. */
const memory = remembered((/** @type {ExplorePage} */ _) => ({
  tabs: /** @type {Map<string, Tab>} */ (new Map()),
  drawn: /** @type {Map<string, ExploreAnswer>} */ (new Map()),
}));

/** Fetches the module of the open tab, which is drawn when it is here; gives what fetches the others. @param {ExplorePage} page */
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
 * Fetches the modules of some rows into a map; the open one is drawn when it is here.
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

/** A module by its path from the package, fetched again while the network fails. @param {string} module */
export function fetchModule(module) {
  const address = new URL(module, ROOT).href;
  // Some browsers remember that a module did not come, by its address.
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
  // Until its module is here, a click on what is drawn would be lost.
  for (const [name, panel] of Object.entries(page.view.panels)) panel.hidden = name !== open || !tabs.has(open);
  page.view.elements.board.dataset.tab = open;
  drawHint(page, open);
  const tab = tabs.get(open);
  if (!tab) return;
  // A tab that was closed when the answer came has all of it still to draw.
  const stale = drawn.get(open) !== answer;
  drawn.set(open, answer);
  tab.draw(page, fresh || stale);
}

/** The pointer is at another token: the open tab shows it as cheaply as it can. @param {ExplorePage} page */
export function markActiveTab(page) {
  memory(page).tabs.get(activeTab(page))?.markPointer?.(page);
}

/** What the open tab shows, to be exported; null where it shows no picture. @param {ExplorePage} page */
export async function exportOpenTab(page) {
  return (await memory(page).tabs.get(activeTab(page))?.exported?.(page)) ?? null;
}
