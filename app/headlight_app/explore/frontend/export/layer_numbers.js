// The numbers of each layer in a figure of all heads, at one token, from the tab "Layers".

import { answerNumber, areScores, bestWord } from "../../../ui/frontend/charts/answer_numbers.js";
import { inlineText } from "../../../ui/frontend/dom/dom.js";
import { currentGroup } from "../../../ui/frontend/state/head_selection.js";
import { answerPosition } from "../layers/layer_panel.js";
import { readCell } from "../layers/logit_lens.js";
import { askFloats } from "../server.js";

/** @import { ExplorePage, Found, LogitAttributionAnswer, LogitLensAnswer, ResidualNormsAnswer } from "../types.js" */
/** @import { LayerColumn } from "./overview_figure.js" */

/** @typedef {{ columns: LayerColumn[], rules: string[] }} LayerNumbers columns, and a description of each in words */

/**
 * Null if this model has no such numbers.
 * @template Answer @param {Promise<Found<Answer>>} asked @returns {Promise<Found<Answer> | null>}
 */
function orNothing(asked) {
  return asked.catch(() => null);
}

/**
 * The numbers of the stack that makes the prediction; an encoder's layers have none.
 * @param {ExplorePage} page @returns {Promise<LayerNumbers>}
 */
export async function fetchLayerNumbers(page) {
  const { attention_groups, tokens } = page.state.answer;
  if (currentGroup(page).stack !== attention_groups[0].stack) return { columns: [], rules: [] };
  const position = answerPosition(page);
  const lens = await orNothing(askFloats(page, "logit_lens", { first: position }));
  const norms = await orNothing(askFloats(page, "residual_norms", {}));
  const details = { query: position, token: page.state.choice.target_token };
  const contributions = await orNothing(askFloats(page, "logit_attribution", details));
  const parts = [
    lens && lensNumbers(lens),
    norms && normNumbers(norms, position),
    contributions && addedLogits(contributions),
  ];
  const found = parts.flatMap((part) => part ?? []);
  const place = `beside each layer, at “${inlineText(tokens[position].text)}” (position ${position})`;
  return {
    columns: found.flatMap(({ columns }) => columns),
    rules: found.length ? [`${place}: ${found.flatMap(({ rules }) => rules).join("; ")}`] : [],
  };
}

/**
 * The likeliest token after each layer, and the rank of the true token.
 * @param {Found<LogitLensAnswer>} found @returns {LayerNumbers}
 */
export function lensNumbers(found) {
  const cells = Array.from({ length: found.meta.depths }, (_, depth) => readCell(found, depth, 0));
  const [target] = found.meta.targets;
  const answer = found.meta.predicts_labels ? "label" : "token";
  const truth =
    target < 0
      ? []
      : [
          column(
            `rank of\n“${inlineText(found.meta.answer_texts[target])}”`,
            cells.map(({ rank }) => String(rank)),
          ),
        ];
  return {
    columns: [
      {
        ...column(
          `${bestWord(found.meta)}\n${answer}`,
          cells.map(({ answers }) => inlineText(answers[0])),
        ),
        align: "start",
      },
      column(
        areScores(found.meta) ? "score" : "p",
        cells.map(({ shares }) => answerNumber(found.meta, shares[0])),
      ),
      ...truth,
    ],
    rules: [
      target < 0
        ? `the ${bestWord(found.meta)} ${answer} by the logit lens and its ${areScores(found.meta) ? "score" : "probability p"}`
        : "the likeliest token by the logit lens, its probability p, and the rank of the true token",
    ],
  };
}

/** @param {Found<ResidualNormsAnswer>} found @param {number} position @returns {LayerNumbers} */
export function normNumbers({ meta: { depths, tokens }, numbers }, position) {
  const norms = Array.from({ length: depths }, (_, depth) => threeDigits(numbers[depth * tokens + position]));
  return { columns: [column("residual\nnorm", norms)], rules: ["the norm of the residual stream"] };
}

/** What each layer's attention and feed-forward add to the logit of an answer. @param {Found<LogitAttributionAnswer>} found @returns {LayerNumbers} */
export function addedLogits({ meta: { components, text }, numbers }) {
  const parts = ["self", "cross", "feed_forward", "layer_embedding"];
  const kinds = parts.filter((kind) => components.some((part) => part.kind === kind));
  const layers = Math.max(...components.map(({ layer }) => layer)) + 1;
  /** @type {Readonly<Record<string, string>>} */
  const titles = {
    self: kinds.includes("cross") ? "self-attention" : "attention",
    cross: "cross-attention",
    feed_forward: "feed-\nforward",
    layer_embedding: "layer\nembedding",
  };
  const columns = kinds.map((kind) => {
    const sums = new Float64Array(layers);
    for (const [place, part] of components.entries()) if (part.kind === kind) sums[part.layer] += numbers[place];
    return column(`${titles[kind]}\nadds`, ["", ...Array.from(sums, signedNumber)]);
  });
  return { columns, rules: [`contribution to the logit of “${inlineText(text)}” (direct logit attribution)`] };
}

/** A number in a column; a large one has all its digits. @param {number} number */
function threeDigits(number) {
  return Math.abs(number) >= 100 ? number.toFixed(0) : number.toPrecision(3);
}

/** A number with two decimals and a sign, so that a column is aligned. @param {number} number */
function signedNumber(number) {
  const size = Math.abs(number).toFixed(2);
  return number < 0 && size !== "0.00" ? `−${size}` : `+${size}`;
}

/** @param {string} title @param {string[]} numbers the embedding's first @returns {LayerColumn} */
function column(title, [embedding, ...layers]) {
  return { title, embedding, layers, align: "end" };
}
