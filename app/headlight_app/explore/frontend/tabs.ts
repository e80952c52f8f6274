// The panels that the picture opens, which are the rows of TABS in Python. Only the open panel is drawn.

import { remembered } from "../../ui/frontend/dom/memory.ts";
import { table } from "../../ui/frontend/dom/table.ts";
import { drawHint } from "./examples.ts";
import { offeredTabs } from "./offered.ts";
import * as panels from "./panels.ts";
import type { ExploreAnswer, ExplorePage, Tab } from "./types.ts";

const PANELS: Record<string, Tab> = table({ ...panels });

/** The answer that each tab has drawn. */
const memory = remembered((_: ExplorePage) => new Map() as Map<string, ExploreAnswer>);

/** The name of the open tab. */
export function activeTab(page: ExplorePage) {
  const tabs = offeredTabs(page);
  return (tabs.find(({ name }) => name === page.state.choice.tab) ?? tabs[0]).name;
}

/** Draws the open tab, and hides the others. */
export function drawActiveTab(page: ExplorePage, fresh = false) {
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

/** Marks the token under the pointer in the open tab, without a full redraw. */
export function markActiveTab(page: ExplorePage) {
  PANELS[activeTab(page)]?.markPointer?.(page);
}

/** The drawing of the open tab for export; null if it has none. */
export async function exportOpenTab(page: ExplorePage) {
  return (await PANELS[activeTab(page)]?.exported?.(page)) ?? null;
}
