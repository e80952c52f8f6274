// The chosen heads as lines between two columns of tokens, each head in its colour.

import { plotHeight } from "../heads/measurements.js";
import { MAX_LINE_HEADS, SHOWN, magnitude, stateAt, valueAt } from "../state/head_matrix.js";
import { activeRows, hoveredColumn } from "../state/token_selection.js";
import { HEAD_COLOURS, NEGATIVE_COLOUR } from "../ui/colours.js";
import { hidpiContext, inlineText, truncateText } from "../ui/dom.js";

const MANY_TOKENS = 100; // tokens; past that only the strongest lines of each are drawn
const LINES_PER_ROW = 6;

function layoutLines(context, self, view, width) {
  const large = self.choice.size === "large";
  const { type } = self.style;
  const rows = Math.max(view.rows.names.length, view.columns.names.length);
  const step = rows > 200 ? Math.max(2600 / rows, 3) : Math.min(Math.max((plotHeight(self) - 40) / rows, 13 * type), (large ? 40 : 28) * type);
  const size = (step < 16 * type ? 10 : 12.5) * type;
  context.font = `600 ${size}px ${self.style.font}`;
  const longest = (names) => Math.max(...names.slice(0, 400).map((name) => context.measureText(inlineText(name)).width), 30);
  const side = (names) => Math.min(longest(names) + 14, width * 0.34);
  return { rows, step, left: side(view.rows.names), right: width - side(view.columns.names), top: 14 + 12 * type, width, size };
}

export function drawAttentionLines(self, view, width) {
  const sizes = (self.lines = layoutLines(self.paper.getContext("2d"), self, view, width));
  const context = hidpiContext(self.paper, width, sizes.top + sizes.rows * sizes.step + 6);
  context.textBaseline = "middle";
  const rows = activeRows(self, view);
  const column = hoveredColumn(self, view);
  drawTokenColumn(context, self, view.rows.names, sizes, "right", sizes.left - 8, "query", rows);
  drawTokenColumn(context, self, view.columns.names, sizes, "left", sizes.right + 8, "key", column === undefined ? [] : [column]);
  const chosen = lineFilter(self, view);
  const heads = view.each.length > 1 ? view.each.slice(0, MAX_LINE_HEADS) : [view.numbers];
  for (const strong of [false, true]) {
    heads.forEach((numbers, place) => {
      const head = heads.length > 1 ? { colour: HEAD_COLOURS[place % HEAD_COLOURS.length], broken: place >= HEAD_COLOURS.length } : null;
      view.rows.names.forEach((_, row) => drawRowLines(context, self, view, sizes, { row, numbers, head, strong, chosen }));
    });
  }
}

/** Which lines are told apart from the rest: of the queries at hand, or those that end in the key under the pointer. */
function lineFilter(self, view) {
  const column = hoveredColumn(self, view);
  const hovered = self.hovered?.query !== null && self.hovered?.query !== undefined;
  const { locked } = self.choice;
  if (!hovered && !locked.length) return column === undefined ? null : (_, other) => other === column;
  const rows = new Set(activeRows(self, view));
  return (row, other) => rows.has(row) && (column === undefined || other === column);
}

function drawTokenColumn(context, self, names, sizes, align, x, title, hot) {
  context.textAlign = align;
  context.font = `600 ${11 * self.style.type}px ${self.style.font}`;
  context.fillStyle = self.style.quiet;
  context.fillText(title, x, 10 * self.style.type);
  const every = Math.max(Math.ceil((11 * self.style.type) / sizes.step), 1);
  names.forEach((name, line) => {
    const marked = hot.includes(line);
    if (line % every && !marked) return;
    context.font = `${marked ? "600 " : ""}${sizes.size}px ${self.style.font}`;
    context.fillStyle = marked ? self.style.ink : self.style.quiet;
    context.fillText(truncateText(context, inlineText(name), (align === "right" ? x : sizes.width - x) - 4), x, sizes.top + (line + 0.5) * sizes.step);
  });
}

/** The columns to which a row of one head has lines: all that are shown, or of a long text the strongest. */
export function visibleKeys(view, row, numbers) {
  const count = view.columns.names.length;
  const ends = [];
  for (let column = 0; column < count; column++) {
    if (view.each.length < 2 && stateAt(view, row, column) !== SHOWN) continue;
    const number = valueAt(view, row, column, numbers);
    if (magnitude(view, number) > 0.01) ends.push({ column, number });
  }
  if (count <= MANY_TOKENS) return ends;
  return ends.sort((one, other) => magnitude(view, other.number) - magnitude(view, one.number)).slice(0, LINES_PER_ROW);
}

/** Every row's lines of one head, found once for each view. */
function rowLines(view, numbers) {
  view.fans ??= new Map();
  if (!view.fans.has(numbers)) view.fans.set(numbers, view.rows.names.map((_, row) => visibleKeys(view, row, numbers)));
  return view.fans.get(numbers);
}

/** All lines of one row of one head; in a first round the faint ones, in a second those that stand out. */
function drawRowLines(context, self, view, sizes, { row, numbers, head, strong, chosen }) {
  const from = sizes.top + (row + 0.5) * sizes.step;
  const middle = (sizes.left + sizes.right) / 2;
  context.setLineDash(head?.broken ? [4, 3] : []);
  for (const { column, number } of rowLines(view, numbers)[row]) {
    const strength = magnitude(view, number);
    if ((!chosen || chosen(row, column)) !== strong) continue;
    const to = sizes.top + (column + 0.5) * sizes.step;
    context.strokeStyle = head ? head.colour : view.signed && number < 0 ? NEGATIVE_COLOUR : self.style.beam;
    context.globalAlpha = Math.min(strength * 1.1, 1) * (strong ? 1 : 0.06);
    context.lineWidth = (0.5 + 3.5 * strength) * self.style.type;
    context.beginPath();
    context.moveTo(sizes.left, from);
    context.bezierCurveTo(middle, from, middle, to, sizes.right, to);
    context.stroke();
  }
  context.globalAlpha = 1;
  context.setLineDash([]);
}

/** The token under the pointer: a query on the left and between the columns, a key on the right. */
export function lineTokenAt(self, event) {
  const frame = self.parts.canvas.getBoundingClientRect();
  const line = Math.floor((event.clientY - frame.top - self.lines.top) / self.lines.step);
  const key = event.clientX - frame.left > self.lines.right;
  const { rows, columns } = self.shown;
  if (line < 0 || line >= (key ? columns : rows).names.length) return null;
  return key ? { query: null, key: columns.tokens[line][0] } : { query: rows.tokens[line][0], key: null };
}
