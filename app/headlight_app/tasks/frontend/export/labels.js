// The export of token labels: the probability of every label.

import { askFloats } from "../../../explore/frontend/server.js";
import { unitOf } from "../../../ui/frontend/charts/answer_numbers.js";
import { createTable, numbered } from "../../../ui/frontend/export/page_export.js";

/** @import { ExplorePage, Table, TokenLabelsAnswer } from "../types.js" */

/** Every label of every token, the likeliest first. @param {ExplorePage} page @returns {Promise<TokenLabelsAnswer>} */
export async function allLabels(page) {
  return (await askFloats(page, "token_labels", { every_label: true })).meta;
}

/** @param {{ text: string }[]} tokens @param {TokenLabelsAnswer} meta @returns {Record<string, Table>} */
export function labelTables(tokens, { labels, names, changed, problem_type }) {
  const numbers = unitOf({ problem_type }) === "score" ? "scores" : "probabilities";
  /** @param {"before" | "after"} state @returns {Table} */
  const table = (state) => {
    const values = new Float32Array(tokens.length * names.length).fill(Number.NaN);
    labels.forEach((ranked, place) => {
      for (const label of ranked) values[place * names.length + label.id] = label[state];
    });
    const name = state === "after" ? `label ${numbers}` : `label ${numbers} as trained`;
    return createTable(name, { token: numbered(tokens), label: names }, values);
  };
  return { [`Label ${numbers}`]: table("after"), ...(changed && { [`Label ${numbers} as trained`]: table("before") }) };
}
