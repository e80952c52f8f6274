// The picture of the chosen heads as numbers: out of the grid's own bytes at once, exact as soon as the server has it.
//
// A view has `rows` and `columns` ({ names, tokens }), `numbers` (NaN where attending is forbidden), `each` (the same for
// every collected head), the ends `low` and `high` of its scale, and `said`: every rule by which it was made.

import { WEIGHT_OF_CODE } from "../ui/colours.js";
import { currentGrid, headName, selectedHeads } from "./head_selection.js";
import { keyTokens, queryTokens } from "./token_selection.js";

export const FORBIDDEN = 0;
export const SHOWN = 1;
export const LEFT_OUT = 2;
const REQUEST_DELAY = 40; // milliseconds; a head that somebody walks past is not asked about
export const MAX_LINE_HEADS = 16; // heads whose lines can still be told apart

/** The question of the view that is chosen; only what matters to it, so that equal ones are asked once. */
export function matrixQuery(self) {
  const { choice } = self;
  const grid = currentGrid(self);
  const kind = currentQuantity(self);
  const asked = { attention: grid.name, view: choice.view };
  if (choice.heads.length > 1) Object.assign(asked, { heads: selectedHeads(self).map(headName), rule: choice.rule });
  else [asked.layer, asked.head] = selectedHeads(self)[0];
  if (choice.hide) Object.assign(asked, { hide: choice.hide, rest: choice.rest });
  if (kind.additive && choice.unit !== "tokens") asked.unit = choice.unit;
  if (kind.additive && choice.mass < 100) asked.mass = choice.mass;
  if (grid.pairs && choice.pair) asked.pair = choice.pair;
  if (choice.window && choice.picture === "map") asked.window = choice.window;
  if (choice.view === "head") asked.versus = choice.versus;
  if (choice.view === "text") asked.other = choice.other;
  if (choice.view === "gradient") Object.assign(asked, { query: choice.query, target: choice.target });
  if (asked.heads && choice.picture === "lines") asked.each = true;
  return asked;
}

export function currentQuantity(self) {
  return self.kinds.find((kind) => kind.name === self.choice.view) || self.kinds[0];
}

/** Whether the grid's bytes already say what is asked for. */
export function isPlainWeights(self, asked) {
  return !currentGrid(self).pending && asked.view === "weights" && !["hide", "unit", "mass", "pair", "window"].some((name) => name in asked);
}

/** The view to paint now. What the server alone can tell leaves the last one on the screen until it is here. */
export function currentMatrix(self) {
  const asked = matrixQuery(self);
  const plain = isPlainWeights(self, asked);
  const found = self.wanted("view", asked, plain ? REQUEST_DELAY : 0);
  self.trouble = found?.meta.error || "";
  self.late = !found && !plain && Boolean(self.shown);
  if (found && !found.meta.error) return (self.shown = found.view ??= exactMatrix(self, found));
  if (!self.late) self.shown = quantizedMatrix(self);
  return self.shown;
}

export function exactMatrix(self, found) {
  const { rows, columns, each, signed, scale, low, high, said } = found.meta;
  const cells = rows.names.length * columns.names.length;
  const all = found.numbers;
  return withIndex({
    rows, columns, signed, scale, low, high, said, exact: true, kind: currentQuantity(self),
    height: rows.names.length, width: columns.names.length, numbers: all.subarray(0, cells),
    each: Array.from({ length: each }, (_, head) => all.subarray((head + 1) * cells, (head + 2) * cells)),
    states: new Uint8Array(all.buffer, all.byteOffset + 4 * cells * (each + 1), cells),
  });
}

/** The weights as the grid's bytes have them: each a byte, and the largest of a block where the text is long. */
export function quantizedMatrix(self) {
  const grid = currentGrid(self);
  const heads = selectedHeads(self);
  const [height, width] = grid.cells;
  const each = heads.map(([layer, head]) => Float32Array.from(headCodes(self, grid, layer, head), (code) => WEIGHT_OF_CODE[code]));
  const axis = (tokens) => ({ names: tokens.map((token) => token.piece), tokens: tokens.map((_, place) => [place]) });
  const rule = `${self.choice.rule} of ${heads.length} heads`;
  return withIndex({
    rows: axis(queryTokens(self)), columns: axis(keyTokens(self)), height, width, each,
    numbers: each.length > 1 ? combineHeads(each, self.choice.rule) : each[0],
    signed: false, scale: "share", low: 0, high: 1, exact: false, kind: self.kinds[0],
    said: [self.kinds[0].about, ...(heads.length > 1 ? [rule] : [])],
  });
}

export function combineHeads(each, rule) {
  return each[0].map((_, cell) => {
    const seen = each.map((numbers) => numbers[cell]).filter((number) => !Number.isNaN(number));
    if (!seen.length) return NaN;
    return rule === "mean" ? seen.reduce((sum, number) => sum + number, 0) / each.length : Math.max(...seen);
  });
}

/** The view with an index from a token's position to its row and to its column. */
function withIndex(view) {
  const index = (axis) => new Map(axis.tokens.flatMap((places, line) => places.map((place) => [place, line])));
  return { ...view, rowOf: index(view.rows), columnOf: index(view.columns) };
}

/** Where the number of a row and a column stands. */
function cellIndex(view, row, column) {
  const { height, width, rows, columns } = view;
  const down = height === rows.names.length ? row : Math.min(Math.floor((row * height) / rows.names.length), height - 1);
  const right = width === columns.names.length ? column : Math.min(Math.floor((column * width) / columns.names.length), width - 1);
  return down * width + right;
}

export function valueAt(view, row, column, numbers = view.numbers) {
  return numbers[cellIndex(view, row, column)];
}

export function stateAt(view, row, column) {
  const cell = cellIndex(view, row, column);
  if (view.states) return view.states[cell];
  return Number.isNaN(view.numbers[cell]) ? FORBIDDEN : SHOWN;
}

/** How far along the scale a number lies, from 0 to 1. */
function scaleFraction(view, number) {
  const share = Math.min(Math.max((number - view.low) / (view.high - view.low || 1), 0), 1);
  return view.signed || view.scale === "linear" ? share : Math.sqrt(share);
}

/** How much a number matters, from 0 to 1: what lines and tokens are drawn by. */
export function magnitude(view, number) {
  if (!Number.isFinite(number)) return 0;
  return view.signed ? Math.min(Math.abs(number) / (view.high || 1), 1) : Math.min(Math.max((number - view.low) / (view.high - view.low || 1), 0), 1);
}

/** One byte for each cell, as the colours have them; nothing for what is not shown. */
export function matrixCodes(view) {
  view.codes ??= Uint8Array.from(view.numbers, (number, cell) => {
    const state = view.states ? view.states[cell] : Number.isNaN(number) ? FORBIDDEN : SHOWN;
    return state === SHOWN ? 1 + Math.round(254 * scaleFraction(view, number)) : 0;
  });
  return view.codes;
}

/** The sum over some rows, column by column; NaN where none of them may look. */
export function columnSums(view, rows) {
  return view.columns.names.map((_, column) => {
    let [sum, seen] = [0, false];
    for (const row of rows) {
      if (stateAt(view, row, column) !== SHOWN) continue;
      sum += valueAt(view, row, column);
      seen = true;
    }
    return seen ? sum : NaN;
  });
}

/** A number of the view as a reader wants it; approximate while only its byte is here. */
export function formatValue(view, number, places = 5) {
  if (!Number.isFinite(number)) return "–";
  if (!view.exact) return `≈ ${number.toFixed(2)}`;
  const size = Math.abs(number);
  const digits = size >= 10 ** -places * 5 || size === 0 ? size.toFixed(view.scale === "linear" && !view.signed ? 4 : places) : size.toExponential(1);
  return `${number < 0 ? "−" : view.signed ? "+" : ""}${digits}`;
}

/** The tokens that a row and a column of the view begin with. */
export function tokensAt(view, row, column) {
  return { query: view.rows.tokens[row]?.[0] ?? null, key: view.columns.tokens[column]?.[0] ?? null };
}

// how much is left of a head that is off

/** The byte codes of one head, straight out of the answer. */
export function headCodes(self, grid, layer, head) {
  const size = grid.cells[0] * grid.cells[1];
  const from = grid.offset + (layer * grid.heads + head) * size;
  return self.answer.bytes.subarray(from, from + size);
}
