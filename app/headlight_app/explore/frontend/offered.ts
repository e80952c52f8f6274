// What the page can show: the tabs, analyses and other parts whose routes have answers. A server answers all of them.

import type { Needs } from "../../ui/frontend/server.ts";
import { hideUnanswered } from "../../ui/frontend/server.ts";
import type { ExplorePage } from "./types.ts";

/** The routes that parts of the HTML need besides those of their panel. */
const PARTS: Needs[] = [
  [".export", ["link", "export_origin"]],
  ['.explain:has([data-testid="positions-link"])', ["views"]],
  ['.lines:has([data-testid="stair-code"])', ["step_code"]],
];

/** Leaves out the parts that need a route without an answer. */
export function hideParts({ server }: ExplorePage, place: ParentNode) {
  hideUnanswered(place, server, PARTS);
}

export function offeredTabs({ state, server }: ExplorePage) {
  return state.catalogue.tabs.filter(({ route }) => server.answers(route));
}

/** Whether a tab can be opened. */
export function offersTab(page: ExplorePage, tab: string) {
  return offeredTabs(page).some(({ name }) => name === tab);
}

export function offeredAnalyses({ state, server }: ExplorePage) {
  return state.catalogue.analyses.filter(({ routes }) => routes.every((route) => server.answers(route)));
}
