// Edits for the tests in Python: `node run_edits.js FOLDER` reads facts.json, cases.json and values.bin there, applies the
// edits of each case to its values in turn, and writes the sentences of refusals to answers.json and values to answers.bin.

import { readFileSync, writeFileSync } from "node:fs";
import { changesOf } from "../../../app/headlight_app/live/frontend/answers/edits/hook.ts";
import { parseEdit } from "../../../app/headlight_app/live/frontend/answers/edits/syntax.ts";
import { Refused } from "../../../app/headlight_app/live/frontend/engine/refused.ts";

const [folder] = process.argv.slice(2);
/** @param {string} name */
const read = (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));

const facts = read("facts");
const values = /** @type {{ path: string, shape: number[] }[]} */ (read("values"));
const cases = /** @type {string[][]} */ (read("cases"));
const numbers = new Float32Array(Uint8Array.from(readFileSync(`${folder}/values.bin`)).buffer);

let start = 0;
const errors = cases.map((edits) => {
  const first = start;
  start += values.reduce((sum, { shape }) => sum + shape.reduce((one, other) => one * other, 1), 0);
  try {
    applyTo(edits, first);
    return "";
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
});
writeFileSync(`${folder}/answers.json`, JSON.stringify(errors));
writeFileSync(`${folder}/answers.bin`, Buffer.from(numbers.buffer));

/**
 * @param {string[]} edits
 * @param {number} place of the first value's numbers
 */
function applyTo(edits, place) {
  const parsed = edits.map((edit) => parseEdit(edit, facts));
  const { edit, requireAllApplied } = changesOf(parsed, null, facts);
  let at = place;
  for (const { path, shape } of values) {
    const size = shape.reduce((one, other) => one * other, 1);
    edit(path, { shape, numbers: numbers.subarray(at, at + size) });
    at += size;
  }
  requireAllApplied();
}
