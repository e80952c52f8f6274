// The metrics of the chosen head, one on each line; a click on a line sorts the heads by it.

import { createTrack } from "../charts/track.js";
import { createElement, updateChildren } from "../dom/dom.js";
import { remembered } from "../dom/memory.js";
import { currentGroup } from "../state/head_selection.js";
import { formatMetric, metricRows, metricsOf, metricsTrouble } from "./head_order.js";

/** @import { MetricRow, Page } from "../types.js" */

const memory = remembered(() => ({ drawn: /** @type {unknown[]} */ ([]) }));

/** @param {Page} page */
export function drawHeadMetrics(page) {
  const group = currentGroup(page);
  const values = metricsOf(page, group);
  const [layer, head] = [page.state.choice.layer, page.state.choice.head];
  const place = layer * group.heads + head;
  const trouble = metricsTrouble(page, group);
  const drawn = [values, trouble, layer, head, page.state.choice.sort];
  if (drawn.every((one, index) => one === memory(page).drawn[index])) return;
  memory(page).drawn = drawn;
  page.view.elements.metrics.hidden = !values && !trouble;
  if (trouble) updateChildren(page.view.elements.metrics, createElement("p", "quiet", trouble));
  if (!values) return;
  const known = metricRows(page).filter(({ name }) => values[name]);
  const lines = known.map((metric) => metricRow(page, metric, values[metric.name], place));
  const title = createElement("h4", "", `What layer ${layer}, head ${head} looks at`);
  const list = createElement("div", "metric-list", lines);
  updateChildren(page.view.elements.metrics, title, list);
}

/** @param {Page} page @param {MetricRow} options @param {(number | null)[]} values @param {number} place */
function metricRow(page, { name, title, description, unit, elsewhere }, values, place) {
  const value = values[place];
  const numbers = values.filter((number) => number !== null);
  const most = unit ? Math.max(...numbers, 1e-9) : 1;
  const before = numbers.filter((number) => value !== null && number > value).length;
  const line = createElement("button", "metric", [], { testid: `metric-${name}` });
  line.ariaPressed = String(page.state.choice.sort === name);
  line.append(
    createElement("span", "metric-name", title),
    createTrack((value ?? 0) / most),
    createElement("span", "number", formatMetric(page, name, value, 1)),
  );
  const rank =
    value === null
      ? "does not apply to this text"
      : `${formatMetric(page, name, value)}: number ${before + 1} of ${numbers.length}`;
  const other = elsewhere && `\n${elsewhere}`;
  line.title = `${unit ? "" : "To "}${description}: ${rank}. Click to sort the heads by it${other}`;
  line.onclick = () => page.change({ sort: page.state.choice.sort === name ? "layer" : name });
  return line;
}
