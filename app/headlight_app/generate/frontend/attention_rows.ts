// Attention of a step's query token: the row of one head, or a mean.

import { encodeWeight } from "../../ui/frontend/weight_code.ts";
import type { Generator } from "./generator.ts";
import type { AttentionGroupAnswer, Choice, Mode, StepRecord } from "./types.ts";

type HeadChoice = Pick<Choice, "blend" | "layer" | "head">;
export type StepRow = { step: number; record: StepRecord; text: string }; // the step's number, answer and token

/** The displayed attention: the one with this name, else the first. */
export function groupOf({ attention_groups }: StepRecord, name: string) {
  return attention_groups.find((group) => group.name === name) ?? attention_groups[0];
}

export function headRow({ numbers }: StepRecord, group: AttentionGroupAnswer, layer: number, head: number) {
  const start = group.offset + (layer * group.heads + head) * group.columns;
  return numbers.subarray(start, start + group.columns);
}

/** The weights that a step gave to each key: of one head, or the mean over a layer's heads, or over all. */
export function attentionRow(record: StepRecord, group: AttentionGroupAnswer, { blend, layer, head }: HeadChoice) {
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

/** The label of a row whose token is not chosen yet: the mask to fill, or "next…". */
export function openRowText({ position }: StepRecord, tokens: { text: string }[], mode: Mode) {
  return mode === "fill" ? tokens[position].text : "next…";
}

/** The steps with answers, including the displayed one: their rows form the map. */
export function stepRows(generator: Generator, mode: Mode) {
  const { generated, endReason, tokens } = generator;
  const rows: StepRow[] = [];
  for (let step = 0; step <= generated.length; step++) {
    const record = generator.recordAt(step);
    if (!record || record.done || (step === generated.length && endReason)) continue;
    rows.push({ step, record, text: generated[step]?.text ?? openRowText(record, tokens, mode) });
  }
  return rows;
}

/** The largest weight of each of `width` blocks, as byte codes. */
export function pooledCodes(row: Float32Array, width: number) {
  const codes = new Uint8Array(width);
  row.forEach((weight, key) => {
    const block = Math.floor((key * width) / row.length);
    codes[block] = Math.max(codes[block], encodeWeight(weight));
  });
  return codes;
}

/**
 * A row of byte codes for each step, [step key].
 * @param name of the attention @param columns number of keys of the longest row
 */
export function stepCodes(records: StepRecord[], name: string, choice: HeadChoice, columns: number) {
  const codes = new Uint8Array(records.length * columns);
  records.forEach((record, row) => {
    attentionRow(record, groupOf(record, name), choice).forEach((weight, key) => {
      codes[row * columns + key] = encodeWeight(weight);
    });
  });
  return codes;
}

export function blendTitle({ blend, layer, head }: HeadChoice) {
  return {
    head: `Layer ${layer} · Head ${head}`,
    layer: `Layer ${layer} · mean of its heads`,
    all: "Mean of all heads",
  }[blend];
}
