// Parts of a sum as bars; from a start on, each begins where the previous one ended.

import { formatSigned } from "../charts/charts.js";
import { createBar } from "../charts/track.js";
import { createElement } from "../dom/dom.js";

/** @import { ChangesView, Pick, Picks } from "./types.js" */

/** @param {ChangesView} view @param {Picks | undefined} picks */
export function createChanges({ parts, start, end, picks: choices, marked }, picks) {
  const values = parts.map(([, number]) => Number(number));
  const reached = [start ? Number(start[1]) : 0];
  for (const value of values) reached.push(start ? reached[reached.length - 1] + value : value);
  const [low, high] = [Math.min(...reached), Math.max(...reached)];
  const range = high - low || 1;
  const items = parts.map(([name], place) => {
    const bar = createBar(values[place] < 0 ? "minus" : "plus", Math.abs(values[place]) / range);
    const from = start ? reached[place] : 0;
    bar.style.left = `${(100 * (Math.min(from, reached[place + 1]) - low)) / range}%`;
    const pick = choices[place] && Object.keys(choices[place]).length ? choices[place] : null;
    const isMarked = place === marked || (pick && picks?.isChosen(pick));
    return createItem(isMarked ? "marked" : "", createName(name, pick, picks), [bar], values[place]);
  });
  const totals = (/** @type {ChangesView["start"]} */ total) => (total ? [createTotal(total)] : []);
  const list = createElement("ol", "changes-list", [...totals(start), ...items, ...totals(end)]);
  list.style.setProperty("--start", `${(100 * (reached[0] - low)) / range}%`);
  return list;
}

/** @param {NonNullable<ChangesView["start"]>} total */
function createTotal([name, number]) {
  return createItem("total", createName(name, null), [], Number(number));
}

/** @param {string} name @param {Pick | null} pick @param {Picks} [picks] */
function createName(name, pick, picks) {
  if (!pick || !picks) return createElement("span", "name", name);
  return createElement("button", "name", name, { onclick: () => picks.choose(pick) });
}

/** @param {string} style @param {HTMLElement} name @param {HTMLElement[]} bars @param {number} number */
function createItem(style, name, bars, number) {
  const track = createElement("span", "bar-track", bars);
  return createElement("li", style, [name, track, createElement("output", "", formatSigned(number))]);
}
