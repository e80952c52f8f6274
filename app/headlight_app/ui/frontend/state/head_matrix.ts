// The selected heads as a matrix of numbers: at once from the group's byte codes, exact once the server has answered.

import { remembered } from "../dom/memory.ts";
import { formatNumber, formatPlaces } from "../dom/numbers.ts";
import type {
  AttentionGroup,
  Details,
  Found,
  HeadChoice,
  HeadMatrix,
  HeadViewAnswer,
  HeadViewRequest,
  MatrixAxis,
  Page,
  Token,
} from "../types.ts";
import { decodeWeight } from "../weight_code.ts";
import { currentColourRange, weightQuantile } from "./colour_range.ts";
import { currentGroup, headName, selectedHeads } from "./head_selection.ts";
import { keysAreFrames, keysArePatches, keyTokens, queryTokens } from "./token_selection.ts";

export const FORBIDDEN = 0;
export const SHOWN = 1;
export const LEFT_OUT = 2;
const REQUEST_DELAY = 40; // milliseconds; heads that the pointer only passes over are not requested
export const MAX_LINE_HEADS = 16; // the lines of more heads cannot be distinguished

const memory = remembered(
  () =>
    ({ matrix: null, shown: null, trouble: "", late: false }) as {
      matrix: HeadMatrix | null;
      shown: HeadMatrix | null;
      trouble: string;
      late: boolean;
    },
);

/** Copies of a matrix with colours fitted to its numbers, by the kind of fit. */
const fittedOf: (matrix: HeadMatrix) => Map<string, HeadMatrix> = remembered(() => new Map());

/** Whether the heatmap is open: by choice, or as the default for a text. */
function opensHeatmap(page: Page) {
  const { plot } = page.state.choice;
  return plot === "heatmap" || (plot === "" && !keysArePatches(page) && !keysAreFrames(page));
}

/** The request for the chosen matrix, with only the fields that matter, so that equal requests are sent once. */
export function matrixQuery(page: Page): Details<HeadViewRequest> {
  const { choice } = page.state;
  const group = currentGroup(page);
  const quantity = currentQuantity(page);
  const asked: Partial<HeadChoice> = { attention: group.name, quantity: choice.quantity };
  if (choice.heads.length > 1)
    Object.assign(asked, { heads: selectedHeads(page).map(headName), head_reduction: choice.head_reduction });
  else [asked.layer, asked.head] = selectedHeads(page)[0];
  if (choice.hide) Object.assign(asked, { hide: choice.hide, renormalize: choice.renormalize });
  if (quantity.additive && choice.unit !== "tokens") asked.unit = choice.unit;
  if (quantity.additive && choice.top_mass < 100) asked.top_mass = choice.top_mass;
  if (group.has_segments && choice.segments) asked.segments = choice.segments;
  if (choice.zoom && opensHeatmap(page)) asked.zoom = choice.zoom;
  if (choice.quantity === "minus_head") asked.other_head = choice.other_head;
  if (choice.quantity === "minus_text") asked.other_text = choice.other_text;
  if (choice.quantity === "gradient") Object.assign(asked, { query: choice.query, target_token: choice.target_token });
  return { choice: asked, ...(asked.heads && choice.plot === "lines" ? { per_head: true } : {}) };
}

export function currentQuantity(page: Page) {
  return (
    page.state.catalogue.quantities.find((kind) => kind.name === page.state.choice.quantity) ||
    page.state.catalogue.quantities[0]
  );
}

/** The quantity of the numbers on the screen: `moved` may replace the weights. */
function shownQuantity(page: Page) {
  const quantity = currentQuantity(page);
  const { shows } = currentGroup(page);
  return shows && quantity.name === "weights" ? { ...quantity, name: "moved", description: shows } : quantity;
}

/** Whether the group's byte codes already contain the requested numbers. */
export function isPlainWeights(page: Page, asked: Partial<HeadChoice>) {
  return (
    !currentGroup(page).pending &&
    asked.quantity === "weights" &&
    !["hide", "unit", "top_mass", "segments", "zoom"].some((name) => name in asked)
  );
}

/** The matrix to paint now. While numbers that only the server has are loading, the last matrix stays on the screen. */
export function currentMatrix(page: Page) {
  const asked = matrixQuery(page);
  const plain = isPlainWeights(page, asked.choice);
  const found = page.server.get("head_view", asked, plain ? REQUEST_DELAY : 0);
  const drawn = memory(page);
  drawn.trouble = found?.meta.error || "";
  drawn.late = !found && !plain && drawn.shown !== null;
  if (found && !found.meta.error) {
    found.matrix ??= exactMatrix(page, found);
    drawn.matrix = found.matrix;
  } else if (!drawn.late || !drawn.matrix) drawn.matrix = quantizedMatrix(page);
  drawn.shown = fitColours(page, drawn.matrix, page.state.choice.plot === "lines");
  return drawn.shown;
}

/**
 * The matrix with the colour range that is chosen for weights; other quantities keep their own. `each`: its heads are
 * drawn one by one.
 */
export function fitColours(page: Page, matrix: HeadMatrix, each: boolean): HeadMatrix {
  const range = currentColourRange(page);
  if (range.quantile === null || matrix.scale !== "probability") return matrix;
  const key = `${range.name} ${each}`;
  const known = fittedOf(matrix).get(key);
  if (known) return known;
  const { numbers, states, per_head } = matrix;
  const together = states ? numbers.map((number, cell) => (states[cell] === SHOWN ? number : NaN)) : numbers;
  const high = weightQuantile(each && per_head.length > 1 ? per_head : [together], range.quantile);
  const fitted = { ...matrix, high, fitted: range };
  fittedOf(matrix).set(key, fitted);
  return fitted;
}

/** The matrix that is on the screen. */
export function shownMatrix(page: Page) {
  return memory(page).shown;
}

/** The reason why there is no matrix, and whether a new one is loading in place of the shown one. */
export function matrixStatus(page: Page) {
  const { trouble, late } = memory(page);
  return { trouble, late };
}

/** Sets the error of a plot that needs another answer besides the matrix. */
export function reportTrouble(page: Page, sentence: string) {
  memory(page).trouble = sentence;
}

export function exactMatrix(page: Page, found: Found<HeadViewAnswer>) {
  const { rows, columns, per_head, signed, scale, low, high, rules } = found.meta;
  const cells = rows.labels.length * columns.labels.length;
  const all = found.numbers;
  return withIndex({
    rows,
    columns,
    signed,
    scale,
    low,
    high,
    rules,
    exact: true,
    quantity: shownQuantity(page),
    height: rows.labels.length,
    width: columns.labels.length,
    numbers: all.subarray(0, cells),
    per_head: Array.from({ length: per_head }, (_, head) => all.subarray((head + 1) * cells, (head + 2) * cells)),
    states: new Uint8Array(all.buffer, all.byteOffset + 4 * cells * (per_head + 1), cells),
  });
}

/** The weights decoded from the group's byte codes: for a long text, the largest of each block. */
export function quantizedMatrix(page: Page) {
  const group = currentGroup(page);
  const heads = selectedHeads(page);
  const [height, width] = group.pooled_shape;
  const each = heads.map(([layer, head]) => Float32Array.from(headCodes(page, group, layer, head), decodeWeight));
  const axis = (tokens: Token[]) => ({
    labels: tokens.map((token) => token.text),
    tokens: tokens.map((_, place) => [place]),
  });
  const [quantity] = page.state.catalogue.quantities;
  const rule = `${page.state.choice.head_reduction === "max" ? "largest" : "mean"} of ${heads.length} heads`;
  return withIndex({
    rows: axis(queryTokens(page).slice(0, group.rows)),
    columns: axis(keyTokens(page).slice(0, group.columns)),
    height,
    width,
    per_head: each,
    numbers: each.length > 1 ? combineHeads(each, page.state.choice.head_reduction) : each[0],
    states: null,
    signed: false,
    scale: "probability",
    low: 0,
    high: 1,
    exact: false,
    quantity: { ...quantity, ...(group.shows ? { name: "moved" } : {}) },
    rules: [group.shows || quantity.description, ...(heads.length > 1 ? [rule] : [])],
  });
}

export function combineHeads(each: Float32Array[], rule: string) {
  return each[0].map((_, cell) => {
    const seen = each.map((numbers) => numbers[cell]).filter((number) => !Number.isNaN(number));
    if (!seen.length) return NaN;
    return rule === "mean" ? seen.reduce((sum, number) => sum + number, 0) / each.length : Math.max(...seen);
  });
}

/** The matrix with an index from a token's position to its row and to its column. */
function withIndex(matrix: Omit<HeadMatrix, "rowOf" | "columnOf">): HeadMatrix {
  const index = (axis: MatrixAxis) =>
    new Map(axis.tokens.flatMap((places, line) => places.map((place) => [place, line] as [number, number])));
  return { ...matrix, rowOf: index(matrix.rows), columnOf: index(matrix.columns) };
}

/** The index of the number of a row and a column. */
function cellIndex(matrix: HeadMatrix, row: number, column: number) {
  const { height, width, rows, columns } = matrix;
  const down =
    height === rows.labels.length ? row : Math.min(Math.floor((row * height) / rows.labels.length), height - 1);
  const right =
    width === columns.labels.length
      ? column
      : Math.min(Math.floor((column * width) / columns.labels.length), width - 1);
  return down * width + right;
}

export function valueAt(matrix: HeadMatrix, row: number, column: number, numbers: Float32Array = matrix.numbers) {
  return numbers[cellIndex(matrix, row, column)];
}

export function stateAt(matrix: HeadMatrix, row: number, column: number) {
  const cell = cellIndex(matrix, row, column);
  if (matrix.states) return matrix.states[cell];
  return Number.isNaN(matrix.numbers[cell]) ? FORBIDDEN : SHOWN;
}

/** The position of a number on the scale, from 0 to 1. */
function scaleFraction(matrix: HeadMatrix, number: number) {
  const share = Math.min(Math.max((number - matrix.low) / (matrix.high - matrix.low || 1), 0), 1);
  return matrix.signed || matrix.scale === "linear" ? share : Math.sqrt(share);
}

/** The magnitude of a number, from 0 to 1, which sets the strength of lines and of token shades. */
export function magnitude(matrix: HeadMatrix, number: number) {
  if (!Number.isFinite(number)) return 0;
  return matrix.signed
    ? Math.min(Math.abs(number) / (matrix.high || 1), 1)
    : Math.min(Math.max((number - matrix.low) / (matrix.high - matrix.low || 1), 0), 1);
}

/** One byte code for each cell; 0 for cells that are not shown. */
export const matrixCodes = remembered((matrix: HeadMatrix) =>
  Uint8Array.from(matrix.numbers, (number, cell) => {
    const state = matrix.states ? matrix.states[cell] : Number.isNaN(number) ? FORBIDDEN : SHOWN;
    return state === SHOWN ? 1 + Math.round(254 * scaleFraction(matrix, number)) : 0;
  }),
);

/** The sum over some rows, column by column; NaN if the mask forbids the column to all of them. */
export function columnSums(matrix: HeadMatrix, rows: number[]) {
  return matrix.columns.labels.map((_, column) => {
    let sum = 0;
    let seen = false;
    for (const row of rows) {
      if (stateAt(matrix, row, column) !== SHOWN) continue;
      sum += valueAt(matrix, row, column);
      seen = true;
    }
    return seen ? sum : NaN;
  });
}

/** A number of the matrix for display; marked as approximate while only its byte code is known. */
export function formatValue(matrix: HeadMatrix, number: number, places: number = 5) {
  if (!Number.isFinite(number)) return "–";
  if (!matrix.exact) return `≈ ${formatPlaces(number, 2)}`;
  const size = Math.abs(number);
  const digits =
    size >= 10 ** -places * 5 || size === 0
      ? formatPlaces(size, matrix.scale === "linear" && !matrix.signed ? 4 : places)
      : formatNumber(size, 2);
  return `${number < 0 ? "−" : matrix.signed ? "+" : ""}${digits}`;
}

/** The tokens of each row or column that has some; the last column may have none. */
export function tokenLines({ tokens }: MatrixAxis) {
  return tokens.filter((places) => places.length);
}

/** The first tokens of a row and a column of the matrix. */
export function tokensAt(matrix: HeadMatrix, row: number, column: number) {
  return { query: matrix.rows.tokens[row]?.[0] ?? null, key: matrix.columns.tokens[column]?.[0] ?? null };
}

/** The byte codes of one head, directly from the answer. */
export function headCodes(page: Page, group: AttentionGroup, layer: number, head: number) {
  const size = group.pooled_shape[0] * group.pooled_shape[1];
  const from = group.offset + (layer * group.heads + head) * size;
  return page.state.answer.bytes.subarray(from, from + size);
}

/** The same for display: a head that is off shows the pattern that it has in the trained model. */
export function patternCodes(page: Page, group: AttentionGroup, layer: number, head: number) {
  const { faded = [], faded_offset = 0, pooled_shape } = group;
  const place = faded.findIndex((pair) => pair[0] === layer && pair[1] === head);
  if (place < 0) return headCodes(page, group, layer, head);
  const size = pooled_shape[0] * pooled_shape[1];
  return page.state.answer.bytes.subarray(faded_offset + place * size, faded_offset + (place + 1) * size);
}
