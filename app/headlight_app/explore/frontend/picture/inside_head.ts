// Links into a head, below its map: query, key and value, the score, the weight, and the head's output.

import { createButton, createElement } from "../../../ui/frontend/dom/dom.ts";
import { offersTab } from "../offered.ts";
import type { ExplorePage } from "../types.ts";

/** Walkthrough steps that every attention has, with their short titles. */
const STEPS: [step: string, title: string][] = [
  ["project", "Q K V"],
  ["mask", "score"],
  ["weights", "weight"],
  ["weighted-sum", "values"],
  ["output", "adds"],
];

/** Adds the steps and the place for a cell's ledger below the reading of the chosen heads, once. */
export function createWayIntoHead(page: ExplorePage) {
  const button = (step: string, title: string) =>
    createButton("small", title, `inside-${step}`, () => page.change({ tab: "walkthrough", step }));
  const steps = STEPS.flatMap(([step, title]) => ["→", button(step, title)]);
  const way = createElement("p", "inside", [button("input", "Step by step"), ...steps]);
  way.hidden = !offersTab(page, "walkthrough");
  const ledger = createElement("section", "why", [], { testid: "ledger", hidden: true });
  page.view.elements.reading.after(way, ledger);
}
