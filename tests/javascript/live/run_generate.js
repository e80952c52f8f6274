// Parts of Generate for the tests in Python: JSON lines [name, arguments] in, JSON lines of results out.

import { createInterface } from "node:readline";
import { randomNumber } from "../../../app/headlight_app/live/frontend/answers/generate/random.ts";
import { followed } from "../../../app/headlight_app/live/frontend/answers/generate/rules.ts";
import { sampled } from "../../../app/headlight_app/live/frontend/answers/generate/sampling.ts";
import { extended } from "../../../app/headlight_app/live/frontend/answers/masks.ts";
import * as written from "../../../app/headlight_app/live/frontend/page/written.ts";

/** @param {(number | string)[]} numbers */
const numbersOf = (numbers) => numbers.map(Number);
/** @type {Record<string, (...given: any[]) => unknown>} */
const FUNCTIONS = {
  random: randomNumber,
  sampled(logits, step, sampling) {
    const { probabilities, order, ...rest } = sampled(Float64Array.from(numbersOf(logits)), step, sampling);
    return { probabilities: [...probabilities], order: [...order], ...rest };
  },
  followed: (rules, logits, ids, length) => [...followed(rules, Float32Array.from(logits), ids, length)].map(String),
  extended,
  ...written,
};

for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
  const [name, given] = JSON.parse(line);
  try {
    console.log(JSON.stringify(FUNCTIONS[name](...given)));
  } catch (error) {
    console.log(JSON.stringify({ error: error instanceof Error ? error.message : `${error}` }));
  }
}
