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
  const names = Object.keys(view.series);
  const figure = beginSheet(WIDTH, `${view.y_title} over ${view.x_title}: ${names.join(", ")}`);
  const chart = { ...lineChart(view), hasLegend: false }; // the legend is HTML, so that its text can be copied
  figure.height = addLineChart(figure, chart, { x: MARGIN, y: 0, width: WIDTH - 3 * MARGIN }) + MARGIN;
  return createElement("div", "chart", [figureSheet(figure), createLegend(names, view.broken)]);
}

/** Lines as a chart of a figure. @param {LinesView} view */
export function lineChart({ x, series, x_title, y_title, broken, log_x, log_y }) {
  const names = Object.keys(series);
  return {
    series: names.map((name) => ({ name, values: series[name].map(Number), isBroken: broken.includes(name) })),
    x: x.map(Number),
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
