// Runs the engine for the tests in Python: `node run_engine.js FOLDER` reads plan.json, weights.bin and requests.json
// there, and writes what each run recorded to answers.json and numbers.bin.

import { readFileSync, writeFileSync } from "node:fs";
import { openEngine } from "../../../app/headlight_app/live/frontend/engine/engine.ts";
import { Refused } from "../../../app/headlight_app/live/frontend/engine/refused.ts";

/** @import { Edit, Engine, Value } from "../../../app/headlight_app/live/frontend/engine/types.ts" */
/** @typedef {{ ids: number[], edits: string[], encoding: string | null, rows: number[] }} Request */

const [folder] = process.argv.slice(2);
const requests = /** @type {Request[]} */ (JSON.parse(readFileSync(`${folder}/requests.json`, "utf8")));
const file = readFileSync(`${folder}/weights.bin`);
const weights = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength);
const engine = await openEngine(JSON.parse(readFileSync(`${folder}/plan.json`, "utf8")), weights);

/** @type {Float32Array[]} */
const numbers = [];
const answers = requests.map((request) => answered(engine, request));
writeFileSync(`${folder}/answers.json`, JSON.stringify(answers));
writeFileSync(`${folder}/numbers.bin`, Buffer.concat(numbers.map((each) => Buffer.from(each.slice().buffer))));

/**
 * The shape of every value, whose numbers are kept; or the sentence of a refusal.
 *
 * @param {Engine} engine
 * @param {Request} request
 */
function answered(engine, { ids, edits, encoding, rows }) {
  try {
    const trace = engine.run(ids, edited(edits), encoding ?? undefined);
    const single = rows.map((row) => trace.logits(row)); // before all are computed
    const values = trace.paths.map((path) => {
      const value = trace.value(path);
      numbers.push(value.numbers);
      return { path, shape: value.shape };
    });
    numbers.push(...single);
    return { values, rows: single.map((row) => row.length) };
  } catch (error) {
    if (error instanceof Refused) return { error: error.message };
    throw error;
  }
}

/**
 * What a few kinds of edits do: PATH[INDEX]=OPERATION:NUMBER, with whole numbers and `:` as indices.
 *
 * @param {string[]} edits
 * @returns {Edit}
 */
function edited(edits) {
  const parsed = edits.map((edit) => {
    const [, path, index, operation, number] = /** @type {string[]} */ (edit.match(/^(.+?)(?:\[(.*)\])?=(\w+):?(.*)$/));
    const pattern = new RegExp(`^${path.replaceAll(".", "\\.").replace("*", "\\d+")}$`);
    return { pattern, index: (index ?? "").split(",").map(Number.parseFloat), operation, number: Number(number) };
  });
  /** @type {Value} */
  let mask;
  return (path, value) => {
    if (path.endsWith(".mask")) mask = value;
    for (const { pattern, index, operation, number } of parsed)
      if (pattern.test(path))
        for (const at of cells(value.shape, index)) {
          const { numbers } = value;
          if (operation === "set") numbers[at] = number;
          else if (operation === "add") numbers[at] += number;
          else if (operation === "scale") numbers[at] *= number;
          else numbers[at] = uniform(value, mask, at);
        }
    if (path.endsWith(".mask")) mask = value;
  };
}

/**
 * The cells within an index of the first axes; NaN stands for all of an axis.
 *
 * @param {readonly number[]} shape
 * @param {number[]} index
 */
function cells(shape, index) {
  let found = [0];
  for (const [axis, size] of shape.entries())
    found = found.flatMap((start) =>
      Array.from({ length: size }, (_, i) => i)
        .filter((i) => Number.isNaN(index[axis] ?? Number.NaN) || index[axis] === i)
        .map((i) => start * size + i),
    );
  return found;
}

/**
 * An equal share of each cell that the mask allows in its row.
 *
 * @param {Value} value
 * @param {Value} mask
 * @param {number} at
 */
function uniform({ shape }, mask, at) {
  const count = /** @type {number} */ (shape.at(-1));
  const row = mask.numbers.subarray(at - (at % count), at - (at % count) + count);
  const allowed = row.reduce((sum, cell) => sum + cell, 0);
  return allowed ? mask.numbers[at] / allowed : 0;
}
