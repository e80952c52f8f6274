// Spans from one number to another, each beside its label.

import { addBars } from "../charts/figure_charts.js";
import { createElement, inlineText, onHover } from "../dom/dom.js";

/** @import { Box, Figure } from "../export/types.js" */
/** @import { SpansView, Surroundings } from "./types.js" */

/** @param {SpansView} view @param {Surroundings} surroundings */
export function createSpans(view, { picks, mark }) {
  const rows = view.labels.map((label, place) => {
    const [from, to] = view.spans[place].map(Number);
    const pick = view.picks[place];
    const name = createElement(pick ? "button" : "span", pick ? "name ask-about" : "name", [
      createElement("bdi", "", inlineText(label)),
    ]);
    if (pick && picks) name.onclick = () => picks.choose(pick);
    onHover(name, { read: () => mark?.(view.places[place] ?? null), left: () => mark?.(null) });
    const bar = createElement("i");
    Object.assign(bar.style, { left: `${(100 * from) / view.high}%`, width: `${(100 * (to - from)) / view.high}%` });
    const number = createElement("span", "number", spanWords(from, to, view.unit));
    const row = createElement("li", "", [name, createElement("span", "when", [bar], { ariaHidden: "true" }), number]);
    if (view.places[place]) row.dataset.place = view.places[place].join(" ");
    return row;
  });
  return createElement("ol", "span-list", rows, { ariaLabel: view.title });
}

/** Each span as a bar. Returns the bottom edge. @param {Figure} figure @param {SpansView} view @param {Box} box */
export function addSpans(figure, { labels, spans, unit, high }, box) {
  const rows = labels.map((label, place) => {
    const [from, to] = spans[place].map(Number);
    return { label: inlineText(label), values: [to], starts: [from], texts: [spanWords(from, to, unit)] };
  });
  return addBars(figure, { rows, kinds: [""], most: high }, box);
}

/** @param {number} from @param {number} to @param {string} unit */
function spanWords(from, to, unit) {
  return `${from.toFixed(2)}–${to.toFixed(2)} ${unit}`;
}
