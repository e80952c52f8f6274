// Attention of a step's query token: the row of one head, or a mean.

import { encodeWeight } from "../../ui/frontend/weight_code.js";

/** @import { Choice, Mode, AttentionGroupAnswer, StepRecord } from "./types.d.ts" */
/** @import { Generator } from "./generator.js" */
/** @typedef {Pick<Choice, "blend" | "layer" | "head">} HeadChoice */
/** @typedef {{ step: number, record: StepRecord, text: string }} StepRow the step's number, answer and token */

/**
 * The displayed attention: the one with this name, else the first.
 * @param {StepRecord} record @param {string} name
 */
export function groupOf({ attention_groups }, name) {
  return attention_groups.find((group) => group.name === name) ?? attention_groups[0];
}

/** @param {StepRecord} record @param {AttentionGroupAnswer} group @param {number} layer @param {number} head */
export function headRow({ numbers }, group, layer, head) {
  const start = group.offset + (layer * group.heads + head) * group.columns;
  return numbers.subarray(start, start + group.columns);
}

/**
 * The weights that a step gave to each key: of one head, or the mean over a layer's heads, or over all.
 * @param {StepRecord} record @param {AttentionGroupAnswer} group @param {HeadChoice} choice
 */
export function attentionRow(record, group, { blend, layer, head }) {
  if (blend === "head") return headRow(record, group, layer, head);
  const layers = blend === "layer" ? [layer] : Array.from({ length: group.layers }, (_, each) => each);
  const sum = new Float64Array(group.columns);
  for (const each of layers) {
    for (let other = 0; other < group.heads; other++) {
      headRow(record, group, each, other).forEach((weight, key) => {
        sum[key] += weight;
      });
    }
  }
  return sum.map((weight) => weight / (layers.length * group.heads));
}

/**
 * The label of a row whose token is not chosen yet: the mask to fill, or "next…".
 * @param {StepRecord} record @param {{ text: string }[]} tokens @param {Mode} mode
 */
export function openRowText({ position }, tokens, mode) {
  return mode === "fill" ? tokens[position].text : "next…";
}

/**
 * The steps with answers, including the displayed one: their rows form the map.
 * @param {Generator} generator @param {Mode} mode
 */
export function stepRows(generator, mode) {
  const { generated, endReason, tokens } = generator;
  /** @type {StepRow[]} */
  const rows = [];
  for (let step = 0; step <= generated.length; step++) {
    const record = generator.recordAt(step);
    if (!record || record.done || (step === generated.length && endReason)) continue;
    rows.push({ step, record, text: generated[step]?.text ?? openRowText(record, tokens, mode) });
  }
  return rows;
}

/** The largest weight of each of `width` blocks, as byte codes. @param {Float32Array} row @param {number} width */
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
 * @param {StepRecord[]} records @param {string} name of the attention @param {HeadChoice} choice
 * @param {number} columns number of keys of the longest row
 */
export function stepCodes(records, name, choice, columns) {
  const codes = new Uint8Array(records.length * columns);
  records.forEach((record, row) => {
    attentionRow(record, groupOf(record, name), choice).forEach((weight, key) => {
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
