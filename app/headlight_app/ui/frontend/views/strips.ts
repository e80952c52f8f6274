// Strips of equal length, one below the other, each of parts side by side.

import { createElement } from "../dom/dom.ts";
import { colourOfGroup, createGroupNames } from "./tokens/tokens.ts";
import type { StripsView } from "./types.ts";

const MOST_CELLS = 128; // more have no room for lines between them
const MOST_NAMED = 16; // strips; more are too low for their labels

export function createStrips(view: StripsView) {
  const { labels, ends, group_titles, high, title, note } = view;
  const strips = labels.flatMap((label, index) => [
    createElement("span", "quiet", labels.length > MOST_NAMED ? "" : label),
    createStrip(view, index),
  ]);
  const list = createElement("div", "strip-list", strips, {
    role: "img",
    ariaLabel: title || note || labels.join(", "),
  });
  list.style.setProperty("--strips", String(labels.length));
  list.style.setProperty("--cells", String(high));
  list.classList.toggle("cells", high > 1 && high <= MOST_CELLS);
  if (ends.some(Boolean))
    list.append(
      createElement(
        "span",
        "quiet ends",
        ends.map((end) => createElement("span", "", end)),
      ),
    );
  return createElement("div", "", [...createGroupNames(group_titles), list]);
}

function createStrip({ parts, heights, high, at }: StripsView, index: number) {
  const strip = createElement("span", "strip");
  for (const [length, group] of parts[index]) {
    const part = createElement("i");
    part.style.width = `${(100 * Number(length)) / high}%`;
    part.style.height = `${100 * (heights[index] ?? 1)}%`;
    part.style.setProperty("--tint", colourOfGroup(group) || null);
    strip.append(part);
  }
  if (at === null) return strip;
  const arrow = createElement("b", "arrow");
  arrow.style.left = `${(100 * at) / high}%`;
  strip.append(arrow);
  return strip;
}
