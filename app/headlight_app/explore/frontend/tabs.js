// The panels that the picture opens, which are the rows of TABS in Python. Only the open panel is drawn.

import { remembered } from "../../ui/frontend/dom/memory.js";
import { table } from "../../ui/frontend/dom/table.js";
import { drawHint } from "./examples.js";
import * as panels from "./panels.js";

/** @import { ExploreAnswer, ExplorePage, Tab } from "./types.js" */

/** @type {Record<string, Tab>} */
const PANELS = table({ ...panels });

/** The answer that each tab has drawn. */
const memory = remembered((/** @type {ExplorePage} */ _) => /** @type {Map<string, ExploreAnswer>} */ (new Map()));

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
  const drawn = memory(page);
  for (const [name, panel] of Object.entries(page.view.panels)) panel.hidden = name !== open;
  page.view.elements.board.dataset.tab = open;
  drawHint(page, open);
  // A tab that was closed when the answer arrived must draw all of it.
  const stale = drawn.get(open) !== answer;
  drawn.set(open, answer);
  PANELS[open]?.draw(page, fresh || stale);
}

/** Marks the token under the pointer in the open tab, without a full redraw. @param {ExplorePage} page */
export function markActiveTab(page) {
  PANELS[activeTab(page)]?.markPointer?.(page);
}

/** The drawing of the open tab for export; null if it has none. @param {ExplorePage} page */
export async function exportOpenTab(page) {
  return (await PANELS[activeTab(page)]?.exported?.(page)) ?? null;
}
