// Spans from one number to another, each beside its label.

import { addBars } from "../charts/figure_charts.ts";
import { createElement, inlineText, onHover } from "../dom/dom.ts";
import { formatPlaces } from "../dom/numbers.ts";
import type { Box, Figure } from "../export/types.ts";
import type { SpansView, Surroundings } from "./types.ts";

export function createSpans(view: SpansView, { picks, mark }: Surroundings) {
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

/** Each span as a bar. Returns the bottom edge. */
export function addSpans(figure: Figure, { labels, spans, unit, high }: SpansView, box: Box) {
  const rows = labels.map((label, place) => {
    const [from, to] = spans[place].map(Number);
    return { label: inlineText(label), values: [to], starts: [from], texts: [spanWords(from, to, unit)] };
  });
  return addBars(figure, { rows, kinds: [""], most: high }, box);
}

function spanWords(from: number, to: number, unit: string) {
  return `${formatPlaces(from, 2)}–${formatPlaces(to, 2)} ${unit}`;
}
