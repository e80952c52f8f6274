// A change from one number to another, part by part: each bar begins where the previous one ended.

import { formatSigned } from "../charts/charts.js";
import { createBar } from "../charts/track.js";
import { createElement } from "../dom/dom.js";

/** @import { ChangesView, Pick, Picks } from "./types.js" */

/** @param {ChangesView} view @param {Picks | undefined} picks */
export function createChanges({ parts, start, end, picks: choices, marked }, picks) {
  const values = parts.map(([, number]) => Number(number));
  const reached = [Number(start[1])];
  for (const value of values) reached.push(reached[reached.length - 1] + value);
  const [low, high] = [Math.min(...reached), Math.max(...reached)];
  const range = high - low || 1;
  const items = parts.map(([name], place) => {
    const bar = createBar(values[place] < 0 ? "minus" : "plus", Math.abs(values[place]) / range);
    bar.style.left = `${(100 * (Math.min(reached[place], reached[place + 1]) - low)) / range}%`;
    const pick = choices[place] && Object.keys(choices[place]).length ? choices[place] : null;
    return createItem(place === marked ? "marked" : "", createName(name, pick, picks), [bar], values[place]);
  });
  const list = createElement("ol", "changes-list", [createTotal(start), ...items, createTotal(end)]);
  list.style.setProperty("--start", `${(100 * (reached[0] - low)) / range}%`);
  return list;
}

/** @param {ChangesView["start"]} total */
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
