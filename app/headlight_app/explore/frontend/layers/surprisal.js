// The surprisal of each token, its negative log-likelihood, as a shade.

import { formatNumber } from "../../../ui/frontend/charts/charts.js";
import { formatPercent, quotedToken } from "../../../ui/frontend/dom/dom.js";
import { createLitToken, layerElement } from "./layer_panel.js";

/** @import { ExplorePage, Token } from "../types.js" */

const FULL_SHADE = Math.log2(1000); // bits

/** Requests the text part by part, and draws the known values. @param {ExplorePage} page */
export function drawSurprisal(page) {
  const { tokens } = page.state.answer;
  const bits = new Float32Array(tokens.length).fill(Number.NaN);
  let part = page.server.get("negative_log_likelihood", { first: 0 });
  let first = 0;
  let shifted = false;
  while (part && !part.meta.error) {
    bits.set(part.numbers, first);
    ({ shifted } = part.meta);
    first += part.meta.count;
    if (first >= bits.length) break;
    part = page.server.get("negative_log_likelihood", { first }); // requested once the previous part has arrived
  }
  if (first === 0 || part?.meta.error) return;
  // If the true token of a position is the next token, its surprisal belongs to that token.
  drawTokens(
    page,
    tokens.map((_, position) => bits[position - (shifted ? 1 : 0)] ?? Number.NaN),
  );
  layerElement(page, "surprisal-reading").textContent = describeMean(bits, tokens, !shifted);
}

/** @param {ExplorePage} page @param {number[]} surprisal of each token, in bits */
function drawTokens(page, surprisal) {
  const reading = layerElement(page, "surprisal-reading");
  const spans = page.state.answer.tokens.map((token, position) => {
    const bits = surprisal[position];
    const [share, likely] = Number.isNaN(bits)
      ? [0, "unknown"]
      : [Math.min(bits / FULL_SHADE, 1), formatPercent(2 ** -bits)];
    const read = () => reading.replaceChildren(quotedToken(token), `: ${describe(bits)}`);
    return createLitToken(token, share, likely, { read });
  });
  layerElement(page, "surprisal").replaceChildren(...spans);
}

/** @param {number} bits */
function describe(bits) {
  if (Number.isNaN(bits)) return "its probability is unknown";
  return `${formatPercent(2 ** -bits)}, a surprisal of ${formatNumber(bits, 3)} bits`;
}

/**
 * The average surprisal in words. For a model that fills masks, only masked tokens count: it reads all others.
 * @param {Float32Array} bits at each position, NaN where the true token is not known
 * @param {Pick<Token, "masked">[]} tokens @param {boolean} fillsMasks
 */
export function describeMean(bits, tokens, fillsMasks) {
  const known = bits.filter((number, position) => !Number.isNaN(number) && (!fillsMasks || tokens[position].masked));
  if (!known.length)
    return fillsMasks ? "Mask a token to see how surprising it is: the model reads all unmasked tokens." : "";
  const mean = known.reduce((sum, number) => sum + number, 0) / known.length;
  const [which, hint] = fillsMasks ? ["masked token", " Unmasked tokens do not count."] : ["token", ""];
  const surprisal = `On average a ${which} had a surprisal of ${formatNumber(mean, 3)} bits`;
  return `${surprisal}; the geometric mean of the probabilities is ${formatPercent(2 ** -mean)}.${hint}`;
}
