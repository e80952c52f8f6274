// Lines over an axis, with a legend, and their numbers at the place under the pointer.

import { HEAD_COLOURS } from "../charts/colours.ts";
import { addLineChart } from "../charts/figure_charts.ts";
import { beginSheet } from "../charts/figure_text.ts";
import { figureSheet } from "../charts/svg.ts";
import { createElement } from "../dom/dom.ts";
import { formatNumber } from "../dom/numbers.ts";
import type { Figure } from "../export/types.ts";
import type { LinesView, Surroundings } from "./types.ts";

const [WIDEST, WIDEST_BESIDE] = [900, 420]; // pixels: in a panel of its own, and where others may be beside it
const MARGIN = 6; // pixels

export function createLines(view: LinesView, { width: room, isPage }: Surroundings) {
  const names = namedLines(view);
  const axes = [view.y_title, view.x_title].filter(Boolean).join(" over ");
  const widest = isPage ? WIDEST : WIDEST_BESIDE;
  const width = Math.min(room || widest, widest); // scaling it down would shrink its texts, too
  const figure = beginSheet(width, `${axes}: ${names.join(", ")}`);
  const chart = { ...lineChart(view), hasLegend: false }; // the legend is HTML, so that its text can be copied
  figure.height = addLineChart(figure, chart, { x: MARGIN, y: 0, width: width - 3 * MARGIN }) + MARGIN;
  const sheet = figureSheet(figure);
  const legend = createLegend(names, brokenLines(view));
  const read = addNumbers(legend, view, names);
  sheet.addEventListener("mousemove", (event) => {
    read(placeAt(figure, sheet, event as MouseEvent, view));
  });
  const box = createElement("div", "chart", [sheet, legend]);
  box.onmouseleave = () => read(-1);
  return box;
}

/**
 * Gives each line of a legend room for its number at one place, and the place room at the end, so that nothing moves.
 * One line alone has no name; its number is written with the place. Returns what writes them.
 */
function addNumbers(
  legend: HTMLElement,
  { x, series, x_title, x_labels }: LinesView,
  names: string[],
): (place: number) => void {
  const placed = (place: number) => x_labels[place] ?? formatNumber(Number(x[place]));
  const numbers = names.map(() => createElement("span", "readout", "", { ariaHidden: "true" }));
  const end = createElement("span", "quiet readout", "", { ariaHidden: "true" });
  const longest = Math.max(0, ...x.map((_, place) => placed(place).length));
  end.style.setProperty("--letters", String(x_title.length + 1 + longest));
  [...legend.children].forEach((entry, line) => {
    entry.append(numbers[line]);
  });
  const isAlone = names.length === 1;
  if (isAlone) legend.replaceChildren(end);
  else legend.append(end);
  legend.hidden = false;
  return (place) => {
    names.forEach((name, line) => {
      numbers[line].textContent = place < 0 ? "" : formatNumber(Number(series[name][place]));
    });
    const number = isAlone ? `: ${numbers[0].textContent}` : "";
    end.textContent = place < 0 ? "" : `${x_title} ${placed(place)}${number}`.trim();
  };
}

/** The place of `x` that is nearest to the pointer; -1 if it is beside the axes. */
function placeAt({ width, shapes }: Figure, sheet: Element, event: MouseEvent, { x, log_x }: LinesView) {
  const line = shapes.find((shape) => shape.kind === "polyline"); // the first line of the grid is as long as the axis
  if (line?.kind !== "polyline") return -1;
  const [left, , right] = line.points;
  const frame = sheet.getBoundingClientRect();
  const share = (((event.clientX - frame.left) * width) / (frame.width || width) - left) / (right - left);
  const places = x.map((value) => (log_x ? Math.log(Number(value)) : Number(value)));
  const [first, last] = [places[0], places[places.length - 1]];
  if (share < 0 || share > 1 || !(first < last)) return -1;
  const at = first + share * (last - first);
  return places.reduce((near, value, place) => (Math.abs(value - at) < Math.abs(places[near] - at) ? place : near), 0);
}

/** The dashed lines: also the named ones that have the colour of an earlier one. */
function brokenLines(view: LinesView) {
  return [...view.broken, ...namedLines(view).slice(HEAD_COLOURS.length)];
}

/** The lines that are named: the strong ones, or all. */
function namedLines({ series, strong }: LinesView) {
  return strong.length ? strong : Object.keys(series);
}

/** Lines as a chart of a figure. */
export function lineChart(view: LinesView) {
  const { x, series, x_title, y_title, x_labels, strong, log_x, log_y, from_zero } = view;
  const broken = brokenLines(view);
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
    fromZero: from_zero,
    parts: 5,
  };
}

/** The colour of each name. */
export function createLegend(names: string[], broken: string[] = []) {
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
