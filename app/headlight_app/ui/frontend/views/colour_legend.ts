// A strip of colours with its ends and what they mean.

import { paintScale } from "../charts/colours.ts";
import { createElement } from "../dom/dom.ts";

export function createColourLegend({
  low,
  high,
  words,
  signed,
}: {
  low: string;
  high: string;
  words: string;
  signed: boolean;
}) {
  const strip = createElement("canvas", signed ? "scale signed" : "scale", [], { width: 256, height: 1 });
  strip.ariaHidden = "true";
  if (!signed) paintScale(strip); // signed colours are the page's own
  const [start, end] = [low, high].map((number) => createElement("span", "", number));
  return createElement("p", "legend", [start, strip, end, createElement("span", "legend-note", words)]);
}
