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

/**
 * A change from one number to another, part by part: each bar begins where the previous one ended.
 * @param {HTMLElement} list @param {number} before @param {RankedEntry[]} entries the parts; a total has no bar
 */
export function drawFlow(list, before, entries) {
  let reached = before;
  const ends = entries.map(({ value, total }) => {
    const start = reached;
    if (!total) reached += value;
    return [start, reached];
  });
  const [low, high] = [Math.min(...ends.flat()), Math.max(...ends.flat())];
  const range = high - low || 1;
  const items = entries.map((entry, place) => {
    const item = createItem(entry, range);
    const bar = /** @type {HTMLElement | null} */ (item.querySelector(".track i"));
    if (bar) Object.assign(bar.style, { left: `${(100 * (Math.min(...ends[place]) - low)) / range}%`, right: "auto" });
    return item;
  });
  list.style.setProperty("--zero", `${(100 * (before - low)) / range}%`);
  updateChildren(list, ...items);
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
