// The largest numbers as bars; the zero line is placed by their range.

import { formatSigned } from "../../../ui/frontend/charts/charts.js";
import { createBar } from "../../../ui/frontend/charts/track.js";
import { createElement, updateChildren } from "../../../ui/frontend/dom/dom.js";

/** @import { RankedEntry } from "../types.js" */

/** @param {HTMLElement} list @param {RankedEntry[]} entries */
export function drawRankedBars(list, entries) {
  const values = entries.filter(({ total }) => !total).map(({ value }) => value);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const range = high - low || 1;
  list.style.setProperty("--zero", `${(100 * -low) / range}%`);
  updateChildren(list, ...entries.map((entry) => createItem(entry, range)));
}

/** @param {RankedEntry} entry @param {number} range that the track is as long as */
function createItem({ title, value, pick, total, chosen }, range) {
  const track = createElement("span", "track");
  if (!total) track.append(createBar(value < 0 ? "minus" : "plus", Math.abs(value) / range));
  return createElement("li", total ? "total" : chosen ? "chosen" : "", [
    pick ? createElement("button", "name", title, { onclick: pick }) : createElement("span", "name", title),
    track,
    createElement("output", "", formatSigned(value)),
  ]);
}
