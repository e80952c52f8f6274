// The largest numbers as bars from zero, which stands where there is room.

import { formatSigned } from "../../../../model/rendering/static/ui/charts.js";
import { createElement, updateChildren } from "../../../../model/rendering/static/ui/dom.js";

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
  const item = createElement("li", total ? "total" : chosen ? "chosen" : "");
  const track = createElement("span", "track");
  const bar = createElement("i", value < 0 ? "minus" : "plus");
  bar.style.width = `${(100 * Math.abs(value)) / range}%`;
  if (!total) track.append(bar);
  item.append(
    pick ? createNameButton(title, pick) : createElement("span", "name", title),
    track,
    createElement("output", "", formatSigned(value)),
  );
  return item;
}

/** @param {string} title @param {() => void} pick */
function createNameButton(title, pick) {
  const button = createElement("button", "name", title);
  button.onclick = pick;
  return button;
}
