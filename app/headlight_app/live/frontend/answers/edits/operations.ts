// What edits do with a value, as EDIT_OPERATIONS in model/headlight/tracing/interventions.py, in 32 bits as there.

import { Refused } from "../../engine/refused.ts";
import type { Value } from "../../engine/types.ts";
import type { ModelFacts } from "../types.ts";
import { hookPointOf } from "./paths.ts";
import { editText, type Intervention, type Range } from "./syntax.ts";

const TOKEN_AXES = ["pos", "query", "pixel_row", "pixel_column", "sound_step"];
const MOST = 3.4028234663852886e38 / 2; // of an edited number: the smallest one marks forbidden cells

/** The selected cells, a row after the other, of a value and of the mask that its rows have. */
interface Selection {
  readonly value: Value;
  readonly cells: readonly number[];
  /** How many cells of a row are selected. */
  readonly width: number;
  readonly allowed: Float32Array | null;
  readonly axes: readonly string[];
  readonly title: string;
  readonly isMask: boolean;
}

/** The number of each selected cell. */
type Operation = (selection: Selection, number: number) => ArrayLike<number>;

const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["set", ({ cells }, number) => cells.map(() => number)],
  ["scale", ({ value, cells }, number) => cells.map((cell) => value.numbers[cell] * number)],
  ["add", ({ value, cells }, number) => cells.map((cell) => value.numbers[cell] + number)],
  ["mean", mean],
  ["uniform", uniform],
]);

/** Applies an edit to a value in place; `allowed` is the mask of its attention, if it was seen before. */
export function applyEdit(edit: Intervention, path: string, value: Value, allowed: Value | null, facts: ModelFacts) {
  const hookPoint = hookPointOf(path);
  const { axes, title } = facts.hook_points[hookPoint];
  const { hook_points } = facts.operations[edit.operation];
  if (hook_points.length && !hook_points.includes(hookPoint))
    throw new Refused(`${edit.operation} is for ${hook_points.join(" and ")} only, not for ${path}.`);
  const ranges = rangesOf(edit, path, value.shape, axes, facts);
  const isPaired = axes.at(-1) === "key";
  const isMask = hookPoint === "mask";
  const [first, end] = ranges.at(-1) as [number, number];
  const cells = cellsOf(value.shape, ranges);
  const mask = isPaired && allowed ? allowed.numbers : null;
  const selection = { value, cells, width: end - first, allowed: mask, axes, title, isMask };
  const operation = OPERATIONS.get(edit.operation) as Operation;
  const results = operation(selection, Math.fround(edit.number));
  cells.forEach((cell, place) => {
    value.numbers[cell] = isMask
      ? Number(results[place] !== 0)
      : limited(Math.fround(results[place]), value.numbers[cell]);
  });
}

/** What Python's floats in 32 bits can be after an edit; a number that stays is not limited. */
function limited(result: number, before: number): number {
  return result === before || Number.isNaN(result) ? result : Math.min(Math.max(result, -MOST), MOST);
}

/** What an index selects along each axis: [first, end]. */
function rangesOf(
  edit: Intervention,
  path: string,
  shape: readonly number[],
  axes: readonly string[],
  facts: ModelFacts,
): [number, number][] {
  const { index } = edit;
  if (index.length > shape.length)
    throw new Refused(
      `The edit ${editText(edit, facts)} counts along ${index.length} axes, but ${path} has ${shape.length} here.`,
    );
  return shape.map((size, axis) => {
    const [first, end] = index[axis] ?? ([0, null] satisfies Range);
    if (axis < index.length && (end ?? first + 1) > size) {
      const wanted = end === null || end === first + 1 ? first : `${first} to ${end - 1}`;
      throw new Refused(
        `The edit ${editText(edit, facts)} asks for ${axes[axis]} ${wanted}, but ${path} has ${size}, counted from 0.`,
      );
    }
    return [first, end ?? size];
  });
}

/** The places of the cells within ranges, row by row. */
function cellsOf(shape: readonly number[], ranges: readonly (readonly [number, number])[]): number[] {
  let found = [0];
  ranges.forEach(([first, end], axis) => {
    const along = Array.from({ length: end - first }, (_, place) => first + place);
    found = found.flatMap((start) => along.map((place) => start * shape[axis] + place));
  });
  return found;
}

/** Spreads the sum of a row's selected cells evenly over the allowed ones among them. */
function uniform({ value, cells, width, allowed }: Selection): Float32Array {
  const mask = allowed as Float32Array; // it is seen before the weights
  return byRow(cells, width, (row, results) => {
    const count = sumOf(row, mask);
    const total = sumOf(row, value.numbers);
    row.forEach((cell, place) => {
      results[place] = count ? (mask[cell] * total) / count : value.numbers[cell];
    });
  });
}

/** Pairs of tokens: the mean of each row's allowed keys. Others: the mean over all tokens. */
function mean({ value, cells, width, allowed, axes, title, isMask }: Selection): Float32Array {
  if (isMask) throw new Refused("mean averages numbers, and a mask has none; set its cells to 0 or 1.");
  if (!axes.some((axis) => TOKEN_AXES.includes(axis)))
    throw new Refused(`mean averages over tokens, and ${`'${title}'`} has one number for all of them.`);
  if (!allowed) return meanOverTokens(value, cells, axes);
  return byRow(cells, width, (row, results) => {
    const kept = row.filter((cell) => allowed[cell]);
    const average = sumOf(kept, value.numbers) / Math.max(1, kept.length);
    row.forEach((cell, place) => {
      results[place] = allowed[cell] ? average : value.numbers[cell];
    });
  });
}

function meanOverTokens({ shape, numbers }: Value, cells: readonly number[], axes: readonly string[]): Float32Array {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((one, other) => one * other, 1));
  const counted = shape.filter((_, axis) => TOKEN_AXES.includes(axes[axis])).reduce((one, other) => one * other, 1);
  const others = shape.map((_, axis) => axis).filter((axis) => !TOKEN_AXES.includes(axes[axis]));
  const groupOf = (cell: number) =>
    others.reduce((sum, axis) => sum + (Math.floor(cell / strides[axis]) % shape[axis]) * strides[axis], 0);
  const sums = new Float64Array(numbers.length);
  numbers.forEach((number, cell) => {
    sums[groupOf(cell)] += number;
  });
  return Float32Array.from(cells, (cell) => sums[groupOf(cell)] / counted);
}

function byRow(
  cells: readonly number[],
  width: number,
  fill: (row: readonly number[], results: Float32Array) => void,
): Float32Array {
  const results = new Float32Array(cells.length);
  for (let start = 0; start < cells.length; start += width)
    fill(cells.slice(start, start + width), results.subarray(start, start + width));
  return results;
}

function sumOf(cells: readonly number[], numbers: Float32Array): number {
  return cells.reduce((sum, cell) => sum + numbers[cell], 0);
}
