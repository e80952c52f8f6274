// Strips of equal length, one below the other, each of parts side by side.

import { addWords, fitText, LABEL_SIZE, LINE_HEIGHT, PRINT_COLOURS, textWidth } from "../charts/figure_text.ts";
import { createElement } from "../dom/dom.ts";
import type { Box, Figure } from "../export/types.ts";
import { colourOfGroup, createGroupNames, printedGroup } from "./tokens/tokens.ts";
import type { StripsView } from "./types.ts";

const MOST_CELLS = 128; // more have no room for lines between them
const MOST_NAMED = 16; // strips; more are too low for their labels
const [LINE, LOW, BETWEEN] = [LABEL_SIZE * LINE_HEIGHT, 1.2, 0.4]; // millimetres, in a figure

export function createStrips(view: StripsView) {
  const { labels, ends, group_titles, high, title, note } = view;
  const strips = labels.flatMap((label, index) => [
    createElement("span", "quiet", labels.length > MOST_NAMED ? "" : label),
    createStrip(view, index),
  ]);
  const said = title || note ? { ariaHidden: "true" } : { role: "img", ariaLabel: labels.join(", ") };
  const list = createElement("div", "strip-list", strips, said);
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

/** The strips, each beside its label, with the arrow above them and the names of their ends below. Returns the bottom edge. */
export function addStrips(figure: Figure, view: StripsView, { x: left, y: top, width }: Box) {
  const { labels, ends, high, at } = view;
  const names = labels.length > MOST_NAMED ? [] : labels.map((label) => fitText(label, LABEL_SIZE, width / 3));
  const room = Math.max(0, ...names.map((name) => name && textWidth(name, LABEL_SIZE) + 2).map(Number));
  const [x, whole, tall] = [left + room, width - room, names.length ? LINE : LOW];
  const from = at === null ? top : top + 2;
  if (at !== null) addArrow(figure, x + (whole * Number(at)) / high, from);
  labels.forEach((_, index) => {
    const bottom = from + (index + 1) * tall - BETWEEN;
    if (room) addWords(figure, names[index], left, bottom - 0.6, { anchor: "start", room });
    addParts(figure, view, index, { x, y: bottom, width: whole, height: tall - BETWEEN });
  });
  const end = from + labels.length * tall;
  if (!ends.some(Boolean)) return end + 1;
  ends.forEach((words, place) => {
    const anchor = place ? "end" : "start";
    addWords(figure, words, place ? x + whole : x, end + LABEL_SIZE, { anchor, room: whole / 2 });
  });
  return end + LINE + 1;
}

/** @param box with the bottom edge of the strip as `y` */
function addParts(
  figure: Figure,
  { parts, heights, high }: StripsView,
  index: number,
  box: Required<Box> & { height: number },
) {
  let { x } = box;
  const height = box.height * (heights[index] ?? 1);
  const [ground, look] = [{ x, y: box.y - box.height, width: box.width, height: box.height }, PRINT_COLOURS];
  figure.shapes.push({ kind: "rectangle", ...ground, fill: look.ground });
  for (const [length, group] of parts[index]) {
    const width = (box.width * Number(length)) / high;
    const gap = width > 1 ? 0.15 : 0;
    const fill = group < 0 ? look.line : printedGroup(group);
    figure.shapes.push({ kind: "rectangle", x, y: box.y - height, width: width - gap, height, fill });
    x += width;
  }
}

function addArrow(figure: Figure, x: number, y: number) {
  const points = [x - 0.8, y - 1.6, x, y - 0.3, x + 0.8, y - 1.6];
  const line = { stroke: figure.look.ink, stroke_width: figure.look.thick, opacity: 1, dashed: false };
  figure.shapes.push({ kind: "polyline", points, ...line });
}
