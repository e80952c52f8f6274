// The values of a step: a row for each, with its symbol and its numbers as bars.

import { barAtPointer, drawBars, extentOf, formulaNodes } from "../../../ui/frontend/charts/charts.ts";
import { createElement, inlineText, quotedToken } from "../../../ui/frontend/dom/dom.ts";
import { HORIZONTAL_STEPS, onArrows } from "../../../ui/frontend/dom/keyboard.ts";
import { formatNumber } from "../../../ui/frontend/dom/numbers.ts";
import { table } from "../../../ui/frontend/dom/table.ts";
import { currentStyle } from "../../../ui/frontend/plots/measurements.ts";
import type { ExplorePage } from "../types.ts";
import type { Step, StepValue } from "./walkthrough.ts";
import { namedAxis, openStep, walkthroughMemory } from "./walkthrough.ts";

type StepRow = StepValue & { axis: string }; // a value with an axis

const [LOW, TALL] = [54, 124]; // heights in pixels; bars with labels are tall
const UNITS = table({ d_ff: "neuron", expert: "expert" } as Record<string, string>);
const MAX_RATIO = 20; // between the longest bars of two vectors on one scale; beyond it, the shorter would be invisible

/** One element for each value: its symbol, and its bars or single number. */
export function createValues(page: ExplorePage, { values }: Step) {
  return values.map((value) => {
    const sign = createElement("span", "sign", formulaNodes(value.symbol));
    return createElement("div", isRow(value) ? "value" : "value single", [
      sign,
      isRow(value) ? createBars(page, value) : createElement("output", "", formatNumber(value.numbers[0])),
    ]);
  });
}

function isRow(value: StepValue): value is StepRow {
  return Boolean(value.axis);
}

function createBars(page: ExplorePage, { axis, count, numbers, symbol }: StepRow) {
  const { low, high } = extentOf([numbers]);
  const canvas = createElement("canvas", "", [], {
    tabIndex: 0,
    role: "img",
    ariaLabel: `${symbol.replace(/[_{}]/g, "")}: ${count} numbers from ${formatNumber(low)} to ${formatNumber(high)}`,
  });
  canvas.onmousemove = (event) => pointAt(page, axis, barAtPointer(canvas, event, count));
  canvas.onmouseleave = () => pointAt(page, axis, -1);
  canvas.onclick = () => {
    const { pointer } = walkthroughMemory(page);
    if (pointer?.axis === axis) namedAxis(page, axis)?.choose(pointer.index);
  };
  onArrows(canvas, HORIZONTAL_STEPS, (by) =>
    pointAt(page, axis, Math.min(Math.max((walkthroughMemory(page).pointer?.index ?? -1) + by, 0), count - 1)),
  );
  return createElement("div", "bars-of", [canvas]);
}

function pointAt(page: ExplorePage, axis: string, index: number) {
  walkthroughMemory(page).pointer = index < 0 ? null : { axis, index };
  drawValues(page);
}

/** The index marked in all rows along an axis, or -1. */
function markedIndex(page: ExplorePage, axis: string) {
  const { pointer } = walkthroughMemory(page);
  const named = namedAxis(page, axis);
  if (pointer?.axis === axis && pointer.index < (named?.tokens.length ?? Infinity)) return pointer.index;
  return named?.chosen ?? -1;
}

/** The shared scale of several vectors, or null if one of them would be too small on it. */
function sharedExtent(rows: StepRow[]) {
  const longest = rows.map(({ numbers }) => Math.max(...numbers.map(Math.abs))).filter(Boolean);
  return Math.max(...longest) > MAX_RATIO * Math.min(...longest) ? null : extentOf(rows.map(({ numbers }) => numbers));
}

/**
 * Vectors share one scale if all are visible on it; rows along keys or answers have their own scale, and the last of
 * them has labels.
 */
export function drawValues(page: ExplorePage) {
  const { values: container, readout } = walkthroughMemory(page).elements;
  const { values } = openStep(page);
  const rows = values.filter(isRow);
  const shared = sharedExtent(rows.filter(({ axis }) => !namedAxis(page, axis)));
  const last = rows.findLast(({ axis }) => namedAxis(page, axis));
  const canvases = [...container.querySelectorAll("canvas")];
  rows.forEach((row, place) => {
    const { axis, numbers } = row;
    const named = namedAxis(page, axis);
    drawBars(canvases[place], numbers, {
      style: currentStyle(page),
      hot: markedIndex(page, axis),
      height: row === last ? TALL : LOW,
      reach: (!named && shared) || extentOf([numbers]),
      labels: row === last && named ? named.tokens.map(({ text }) => inlineText(text)) : null,
    });
  });
  readout.replaceChildren(...describeValues(page, rows, shared));
}

function describeValues(page: ExplorePage, rows: StepRow[], shared: { low: number; high: number } | null) {
  if (!rows.length) return [];
  const axis = walkthroughMemory(page).pointer?.axis ?? (namedAxis(page, rows[0].axis) ? rows[0].axis : null);
  const marked = axis === null ? -1 : markedIndex(page, axis);
  if (marked < 0) {
    const scale = shared
      ? `All bars share one scale, from ${formatNumber(shared.low)} to ${formatNumber(shared.high)}`
      : "Each row has its own scale";
    return [`${scale}. Point at a bar to read it.`];
  }
  const token = namedAxis(page, axis)?.tokens[marked];
  const place = token ? quotedToken(token) : `${UNITS[axis ?? ""] ?? "channel"} ${marked}`;
  const words = rows
    .filter((row) => row.axis === axis)
    .flatMap(({ symbol, numbers }) => [" · ", ...formulaNodes(symbol), ` ${formatNumber(numbers[marked])}`]);
  return ["at ", place, ...words];
}
