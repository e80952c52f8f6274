// How a token is sampled from logits, as `SamplingConfig` in model/headlight/generation/step.py, in float64. Exponentials
// and sums of JavaScript and NumPy may differ in the last of 53 bits, so that from the same logits a draw differs only if
// its random number is nearer than about 1e-14 to the border of two tokens.

import type { Sampling } from "../../../../ui/frontend/contract.ts";
import { randomNumber } from "./random.ts";

/** `chosen` is the token whose interval of the cumulative distribution, in `order`, contains `random`. */
export interface Sample {
  /** By token. */
  readonly probabilities: Float64Array;
  /** The tokens, the most probable first. */
  readonly order: Int32Array;
  readonly random: number;
  readonly chosen: number;
}

/** The sample of step `step`, counted from 0; temperature 0 takes the most probable token. */
export function sampled(logits: Float64Array, step: number, sampling: Sampling): Sample {
  const order = fallingOrder(logits);
  const ranked = sampling.temperature === 0 ? firstOnly(order.length) : rankedProbabilities(logits, order, sampling);
  const probabilities = new Float64Array(order.length);
  for (let rank = 0; rank < order.length; rank++) probabilities[order[rank]] = ranked[rank];
  const random = randomNumber(sampling.seed, step);
  return { probabilities, order, random, chosen: order[rankAt(random, ranked)] };
}

/** The tokens by falling logits; of equal ones the earlier first. */
export function fallingOrder(logits: ArrayLike<number>): Int32Array {
  return Int32Array.from({ length: logits.length }, (_, token) => token).sort(
    (one, other) => Math.sign(logits[other] - logits[one]) || one - other, // infinite ones are equal: NaN
  );
}

function firstOnly(length: number): Float64Array {
  return new Float64Array(length).fill(1, 0, 1);
}

/** The probabilities that remain, in the order of the tokens. */
function rankedProbabilities(logits: Float64Array, order: Int32Array, sampling: Sampling): Float64Array {
  const [top_k, top_p] = [sampling.top_k || order.length, sampling.top_p < 1 ? sampling.top_p : 2];
  const most = logits[order[0]];
  const exponentials = logits.map((logit) => Math.exp((logit - most) / sampling.temperature));
  const total = sumOf(exponentials);
  const ranked = Float64Array.from(order, (token) => exponentials[token] / total);
  let cumulative = 0;
  const kept = ranked.map((share, rank) => {
    cumulative += share;
    return rank < top_k && cumulative - share < top_p ? share : 0;
  });
  const left = sumOf(kept);
  return kept.map((share) => share / left);
}

/** The rank whose interval contains a random number. */
function rankAt(random: number, ranked: Float64Array): number {
  let total = 0;
  for (const share of ranked) total += share;
  const kept = ranked.reduce((count, share) => count + Number(share > 0), 0);
  let [cumulative, rank] = [ranked[0], 0];
  while (rank < kept - 1 && cumulative <= random * total) cumulative += ranked[++rank];
  return rank;
}

function sumOf(numbers: Float64Array): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
