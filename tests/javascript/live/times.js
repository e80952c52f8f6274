// How long the engine takes: `node times.js FOLDER LENGTHS TURNS` prints it; a browser calls timesOf.

import { openEngine } from "../../../app/headlight_app/live/frontend/engine/engine.ts";

/** @import { PlanFile } from "../../../app/headlight_app/live/frontend/engine/types.ts" */

/**
 * The milliseconds until the model is open, and of each run by number of tokens, with the logits of the last.
 *
 * @param {PlanFile} plan
 * @param {ArrayBuffer} weights
 * @param {number[]} lengths
 * @param {number} turns
 */
export async function timesOf(plan, weights, lengths, turns) {
  const began = performance.now();
  const engine = await openEngine(plan, weights);
  const open = performance.now() - began;
  const runs = lengths.map((length) => {
    const ids = Array.from({ length }, (_, place) => (37 * place) % plan.vocabulary_size);
    return Array.from({ length: turns + 3 }, () => {
      const started = performance.now();
      engine.run(ids).logits(length - 1);
      return performance.now() - started;
    }).slice(3); // the first compile
  });
  return { open, runs };
}

if (typeof process !== "undefined" && process.argv[2]) {
  const { readFileSync } = await import("node:fs");
  const [folder, lengths, turns] = process.argv.slice(2);
  const { buffer, byteOffset, byteLength } = readFileSync(`${folder}/weights.bin`);
  const plan = JSON.parse(readFileSync(`${folder}/plan.json`, "utf8"));
  const weights = buffer.slice(byteOffset, byteOffset + byteLength);
  const given = lengths.split(",").map(Number);
  console.log(JSON.stringify(await timesOf(plan, /** @type {ArrayBuffer} */ (weights), given, Number(turns))));
}
