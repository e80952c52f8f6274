// What the chosen head does, in numbers: each line is a metric, and puts the heads in its order.

import { currentGrid } from "../state/head_selection.js";
import { createElement, updateChildren } from "../ui/dom.js";
import { formatMetric, metricRows, metricsOf, metricsTrouble } from "./head_order.js";

/** @import { Metric, Page } from "../types.js" */

/** @param {Page} page */
export function drawHeadMetrics(page) {
  const grid = currentGrid(page);
  const values = metricsOf(page, grid);
  const [layer, head] = [page.state.choice.layer, page.state.choice.head];
  const place = layer * grid.heads + head;
  const trouble = metricsTrouble(page, grid);
  page.view.elements.metrics.hidden = !values && !trouble;
  if (trouble) updateChildren(page.view.elements.metrics, createElement("p", "quiet", trouble));
  if (!values) return;
  const known = metricRows(page).filter(({ name }) => values[name]);
  const lines = known.map((metric) => metricRow(page, metric, values[metric.name], place));
  const title = createElement("h4", "", `What layer ${layer}, head ${head} looks at`);
  const list = createElement("div", "metric-list");
  list.append(...lines);
  updateChildren(page.view.elements.metrics, title, list);
}

/** @param {Page} page @param {Metric} options @param {(number | null)[]} values @param {number} place */
function metricRow(page, { name, title, description, unit }, values, place) {
  const value = values[place];
  const numbers = values.filter((number) => number !== null);
  const most = unit ? Math.max(...numbers, 1e-9) : 1;
  const before = numbers.filter((number) => value !== null && number > value).length;
  const line = createElement("button", "metric");
  line.dataset.testid = `metric-${name}`;
  line.setAttribute("aria-pressed", String(page.state.choice.sort === name));
  const track = createElement("span", "track");
  const bar = createElement("i", "bar");
  bar.style.width = `${((value ?? 0) / most) * 100}%`;
  track.append(bar);
  line.append(
    createElement("span", "metric-name", title),
    track,
    createElement("span", "number", unit && value !== null ? value.toFixed(1) : formatMetric(page, name, value)),
  );
  const rank =
    value === null
      ? "This text gives no occasion for it"
      : `${formatMetric(page, name, value)}: number ${before + 1} of ${numbers.length}`;
  line.title = `${unit ? "" : "To "}${description}: ${rank}. Click: the heads in this order`;
  line.onclick = () => page.change({ sort: page.state.choice.sort === name ? "layer" : name });
  return line;
}
