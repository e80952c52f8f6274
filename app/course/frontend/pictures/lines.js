// Lines over an axis, with a legend.

import { HEAD_COLOURS } from "../../../../model/rendering/static/ui/colours.js";
import { createElement } from "../../../../model/rendering/static/ui/dom.js";
import { formatMark } from "./drawing/numbers.js";
import { createSheet, powersOfTen, svg, ticks } from "./drawing/svg.js";

/** @import { LinesPicture } from "../types.d.ts" */
/** @typedef {{ low: number, high: number, marks: number[], place: (value: number) => number }} Scale */

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [420, 240, 54, 14, 12, 42];

/** @param {LinesPicture} picture */
export function createLines(picture) {
  const { x, series, x_title, y_title, broken, log_x, log_y } = picture;
  const names = Object.keys(series);
  const along = createScale(x.map(Number), log_x, LEFT, WIDTH - RIGHT);
  const up = createScale(Object.values(series).flat().map(Number), log_y, HEIGHT - BOTTOM, TOP, true);
  const sheet = createSheet(WIDTH, HEIGHT, `${y_title} over ${x_title}: ${names.join(", ")}`);
  sheet.append(...drawAxes(along, up, x_title, y_title));
  names.forEach((name, index) => {
    const points = series[name].map((value, place) => [along.place(Number(x[place])), up.place(Number(value))]);
    const path = points
      .map(([left, top], place) =>
        Number.isFinite(top)
          ? `${place && Number.isFinite(points[place - 1][1]) ? "L" : "M"}${left.toFixed(1)} ${top.toFixed(1)}`
          : "",
      )
      .join("");
    const dash = broken.includes(name) ? "6 4" : "none";
    sheet.append(
      svg("path", {
        d: path,
        fill: "none",
        stroke: HEAD_COLOURS[index % 8],
        "stroke-width": 2.5,
        "stroke-dasharray": dash,
      }),
    );
  });
  const box = createElement("div", "chart");
  box.append(sheet, createLegend(names, broken));
  return box;
}

/**
 * @param {number[]} values @param {boolean} isLog @param {number} start @param {number} end in pixels
 * @param {boolean} [fromZero] whether 0 belongs to it @returns {Scale}
 */
function createScale(values, isLog, start, end, fromZero = false) {
  const finite = values.filter((value) => Number.isFinite(value) && (!isLog || value > 0));
  let [low, high] = [Math.min(...finite), Math.max(...finite)];
  if (fromZero && !isLog) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  if (!finite.length) [low, high] = [isLog ? 1 : 0, 1];
  if (low === high) high = isLog ? low * 10 : low + 1;
  const to = isLog ? Math.log10 : (/** @type {number} */ value) => value;
  const all = isLog ? powersOfTen(low, high) : ticks(low, high);
  const marks = all.filter(
    (mark) => mark >= low * (1 - 1e-9) - (isLog ? 0 : 1e-9) && mark <= high * (1 + 1e-9) + (isLog ? 0 : 1e-9),
  );
  return { low, high, marks, place: (value) => start + ((to(value) - to(low)) / (to(high) - to(low))) * (end - start) };
}

/** @param {Scale} along @param {Scale} up @param {string} x_title @param {string} y_title */
function drawAxes(along, up, x_title, y_title) {
  const bottom = HEIGHT - BOTTOM;
  return [
    ...up.marks.flatMap((mark) => [
      svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: up.place(mark), y2: up.place(mark), class: "grid-line" }),
      svg("text", { x: LEFT - 7, y: up.place(mark) + 4, "text-anchor": "end" }, [formatMark(mark)]),
    ]),
    ...along.marks.map((mark) =>
      svg("text", { x: along.place(mark), y: bottom + 17, "text-anchor": "middle" }, [formatMark(mark)]),
    ),
    svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: bottom, y2: bottom, class: "axis-line" }),
    svg("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 5, "text-anchor": "middle" }, [x_title]),
    svg(
      "text",
      { x: 13, y: (TOP + bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 13 ${(TOP + bottom) / 2})` },
      [y_title],
    ),
  ];
}

/** The colour of each name. @param {string[]} names @param {string[]} [broken] */
export function createLegend(names, broken = []) {
  const legend = createElement("p", "legend");
  legend.append(
    ...names.map((name, index) => {
      const entry = createElement("span", "legend-entry");
      const line = createElement("i", broken.includes(name) ? "swatch-line broken" : "swatch-line");
      line.style.borderColor = HEAD_COLOURS[index % 8];
      entry.append(line, name);
      return entry;
    }),
  );
  legend.hidden = names.length < 2;
  return legend;
}
