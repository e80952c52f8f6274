// Lines over an axis, with a legend.

import { HEAD_COLOURS } from "../charts/colours.js";
import { addLineChart } from "../charts/figure_charts.js";
import { beginSheet } from "../charts/figure_text.js";
import { figureSheet } from "../charts/svg.js";
import { createElement } from "../dom/dom.js";

/** @import { LinesView } from "./types.js" */

const [WIDTH, MARGIN] = [420, 6]; // pixels

/** @param {LinesView} view */
export function createLines(view) {
  const names = namedLines(view);
  const axes = [view.y_title, view.x_title].filter(Boolean).join(" over ");
  const figure = beginSheet(WIDTH, `${axes}: ${names.join(", ")}`);
  const chart = { ...lineChart(view), hasLegend: false }; // the legend is HTML, so that its text can be copied
  figure.height = addLineChart(figure, chart, { x: MARGIN, y: 0, width: WIDTH - 3 * MARGIN }) + MARGIN;
  return createElement("div", "chart", [figureSheet(figure), createLegend(names, view.broken)]);
}

/** The lines that are named: the strong ones, or all. @param {LinesView} view */
function namedLines({ series, strong }) {
  return strong.length ? strong : Object.keys(series);
}

/** Lines as a chart of a figure. @param {LinesView} view */
export function lineChart({ x, series, x_title, y_title, x_labels, broken, strong, log_x, log_y }) {
  const lines = Object.entries(series).map(([name, values]) => {
    const place = strong.indexOf(name);
    const isBroken = broken.includes(name);
    const line = { name, values: values.map(Number), isBroken };
    if (!strong.length) return line;
    return place < 0 ? { ...line, isFaint: true } : { ...line, stroke: HEAD_COLOURS[place % HEAD_COLOURS.length] };
  });
  return {
    series: lines,
    hasLegend: !strong.length,
    x: x.map(Number),
    ...(x_labels.length && { labels: x_labels }),
    xTitle: x_title,
    yTitle: y_title,
    isLogX: log_x,
    isLogY: log_y,
    fromZero: true,
    parts: 5,
  };
}

/** The colour of each name. @param {string[]} names @param {string[]} [broken] */
export function createLegend(names, broken = []) {
  const legend = createElement("p", "legend", [
    ...names.map((name, index) => {
      const line = createElement("i", broken.includes(name) ? "swatch-line broken" : "swatch-line");
      line.style.borderColor = HEAD_COLOURS[index % 8];
      return createElement("span", "legend-entry", [line, name]);
    }),
  ]);
  legend.hidden = names.length < 2;
  return legend;
}
