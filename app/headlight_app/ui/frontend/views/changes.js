// Parts of a sum as bars; from a start on, each begins where the previous one ended.

import { formatSigned } from "../charts/charts.js";
import { createBar } from "../charts/track.js";
import { createElement } from "../dom/dom.js";

/** @import { ChangesView, Pick, Picks } from "./types.js" */

/** @param {ChangesView} view @param {Picks | undefined} picks */
export function createChanges(view, picks) {
  const { parts, start, end, picks: choices, marked } = view;
  const extents = extentsOf(view);
  const first = start ? Number(start[1]) : 0;
  const [low, high] = [Math.min(first, ...extents.flat()), Math.max(first, ...extents.flat())];
  const range = high - low || 1;
  const items = parts.map(([name, value], place) => {
    const [from, to] = extents[place];
    const bar = createBar(to < from ? "minus" : "plus", Math.abs(to - from) / range);
    bar.style.left = `${(100 * (Math.min(from, to) - low)) / range}%`;
    const pick = choices[place] && Object.keys(choices[place]).length ? choices[place] : null;
    const isMarked = place === marked || (pick && picks?.isChosen(pick));
    return createItem(isMarked ? "marked" : "", createName(name, pick, picks), [bar], Number(value));
  });
  const totals = (/** @type {ChangesView["start"]} */ total) => (total ? [createTotal(total)] : []);
  const list = createElement("ol", "changes-list", [...totals(start), ...items, ...totals(end)]);
  list.style.setProperty("--start", `${(100 * (first - low)) / range}%`);
  return list;
}

/** Where the bar of each part begins and ends. @param {ChangesView} view */
export function extentsOf({ parts, start }) {
  let reached = start ? Number(start[1]) : 0;
  return parts.map(([, number]) => {
    const from = start ? reached : 0;
    reached = from + Number(number);
    return [from, reached];
  });
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
