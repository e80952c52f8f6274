// The metrics of the chosen head, one on each line; a click on a line sorts the heads by it.

import { createTrack } from "../charts/track.ts";
import { createElement, updateChildren } from "../dom/dom.ts";
import { remembered } from "../dom/memory.ts";
import { currentGroup } from "../state/head_selection.ts";
import type { MetricRow, Page } from "../types.ts";
import { formatMetric, metricRows, metricsOf, metricsTrouble } from "./head_order.ts";

const memory = remembered(() => ({ drawn: [] as unknown[] }));

export function drawHeadMetrics(page: Page) {
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

function metricRow(
  page: Page,
  { name, title, description, unit, elsewhere }: MetricRow,
  values: (number | null)[],
  place: number,
) {
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
