// What the asking token of a step attends to: the row of one head, or a mean.

import { encodeWeight } from "../../ui/frontend/weight_code.js";

/** @import { Choice, StepGrid, StepRecord } from "./types.d.ts" */
/** @typedef {Pick<Choice, "blend" | "layer" | "head">} HeadChoice */

/**
 * The attention that is shown: the one of that name, else the first.
 * @param {StepRecord} record
 * @param {string} name
 */
export function gridOf({ grids }, name) {
  return grids.find((grid) => grid.name === name) ?? grids[0];
}

/**
 * @param {StepRecord} record
 * @param {StepGrid} grid
 * @param {number} layer
 * @param {number} head
 */
export function headRow({ numbers }, grid, layer, head) {
  const start = grid.offset + (layer * grid.heads + head) * grid.columns;
  return numbers.subarray(start, start + grid.columns);
}

/**
 * The weights that a step gave to each key: of one head, or the mean over a layer's heads, or over all.
 * @param {StepRecord} record
 * @param {StepGrid} grid
 * @param {HeadChoice} choice
 */
export function attentionRow(record, grid, { blend, layer, head }) {
  if (blend === "head") return headRow(record, grid, layer, head);
  const layers = blend === "layer" ? [layer] : Array.from({ length: grid.layers }, (_, each) => each);
  const sum = new Float64Array(grid.columns);
  for (const each of layers) {
    for (let other = 0; other < grid.heads; other++) {
      headRow(record, grid, each, other).forEach((weight, key) => {
        sum[key] += weight;
      });
    }
  }
  return sum.map((weight) => weight / (layers.length * grid.heads));
}

/**
 * The largest weight of each of `width` blocks, as byte codes.
 * @param {Float32Array} row
 * @param {number} width
 */
export function pooledCodes(row, width) {
  const codes = new Uint8Array(width);
  row.forEach((weight, key) => {
    const block = Math.floor((key * width) / row.length);
    codes[block] = Math.max(codes[block], encodeWeight(weight));
  });
  return codes;
}

/**
 * A row of byte codes for each step, [step key].
 * @param {StepRecord[]} records
 * @param {string} name of the attention
 * @param {HeadChoice} choice
 * @param {number} columns how many keys the longest row has
 */
export function stepCodes(records, name, choice, columns) {
  const codes = new Uint8Array(records.length * columns);
  records.forEach((record, row) => {
    attentionRow(record, gridOf(record, name), choice).forEach((weight, key) => {
      codes[row * columns + key] = encodeWeight(weight);
    });
  });
  return codes;
}

/** @param {HeadChoice} choice */
export function blendTitle({ blend, layer, head }) {
  return {
    head: `Layer ${layer} · Head ${head}`,
    layer: `Layer ${layer} · mean of its heads`,
    all: "Mean of all heads",
  }[blend];
}
