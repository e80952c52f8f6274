// Sort: the number predicted for each place, beside the numbers that were read.

import { answerNumber } from "../../ui/frontend/charts/answer_numbers.js";
import { announce } from "../../ui/frontend/dom/announce.js";
import { findByTestId } from "../../ui/frontend/dom/elements.js";
import { drawAlignment, markAlignment } from "./alignment.js";
import { exactWeights } from "./alignment_weights.js";
import { exportedAlignment } from "./export/alignment.js";
import { allLabels, labelTables } from "./export/labels.js";

/** @import { ExplorePage, OutputToken, TokenLabelsAnswer } from "./types.js" */

/** @param {ExplorePage} page */
const placeOf = (page) => findByTestId(page.view.elements.root, "sort-alignment");

export default {
  /** @param {ExplorePage} page */
  draw(page) {
    const verdict = findByTestId(page.view.elements.root, "sort-verdict");
    const found = page.server.get("token_labels", {});
    if (!found) return;
    if (found.meta.error) verdict.textContent = found.meta.error;
    if (found.meta.error) return;
    const { tokens, attention_groups } = page.state.answer;
    const { outputs, right } = sortedOutputs(
      tokens.map(({ text }) => text),
      found.meta,
    );
    if (attention_groups.length)
      drawAlignment(page, placeOf(page), {
        attention: attention_groups[0].name,
        inputs: tokens,
        outputs,
        verb: "was found by looking at",
      });
    const read = tokens.map(({ text }) => text.trim());
    const misread = readText(page.state.choice.text, read);
    const words = misread || verdictText(right, tokens.length);
    if (verdict.textContent !== words) announce(verdict, words);
    verdict.textContent = words;
    verdict.classList.toggle("wrong", Boolean(misread) || right < tokens.length);
  },

  /** @param {ExplorePage} page */
  markPointer(page) {
    markAlignment(page, placeOf(page));
  },

  /** @param {ExplorePage} page */
  async exported(page) {
    const { tokens, attention_groups } = page.state.answer;
    const meta = await allLabels(page);
    const read = tokens.map(({ text }) => text);
    const { outputs } = sortedOutputs(read, meta);
    const attention = attention_groups[0]?.name ?? "";
    const alignment = { attention, inputs: tokens, outputs, verb: "" };
    const drawing = exportedAlignment("sort", alignment, await exactWeights(page, attention));
    return { ...drawing, tables: { ...drawing.tables, ...labelTables(tokens, meta) } };
  },
};

/**
 * The answer for each place, and how many are right: 0 if some of the read tokens are not numbers.
 * @param {string[]} read @param {TokenLabelsAnswer} meta @returns {{ outputs: OutputToken[], right: number }}
 */
export function sortedOutputs(read, { labels, as_trained, changed, problem_type }) {
  const numbers = read.map((text) => (/^\s*\d+\s*$/.test(text) ? Number(text) : NaN));
  const isKnown = !numbers.some(Number.isNaN);
  const sorted = [...numbers].sort((one, other) => one - other);
  const outputs = labels.map(([best], place) => {
    const wrong = isKnown && Number(best.text) !== sorted[place];
    const was = changed && as_trained[place] !== best.text ? `was ${as_trained[place]}` : "";
    const note = wrong ? was || `not ${sorted[place]}` : was || answerNumber({ problem_type }, best.after);
    return { text: best.text, query: place, note, wrong, ahead: false };
  });
  return { outputs, right: isKnown ? outputs.filter(({ wrong }) => !wrong).length : 0 };
}

/** A note if the numbers that were read differ from the typed ones; else empty. @param {string} typed @param {string[]} read */
export function readText(typed, read) {
  const isSame = typed.trim().split(/\s+/).join(" ") === read.join(" ");
  if (isSame) return "";
  const unknown = read.includes("[UNK]") ? ", where [UNK] is unknown text" : "";
  return `These are not the numbers you typed. The model only knows integers from 0 to 99, so it read ${read.join(", ")}${unknown}.`;
}

/** @param {number} right @param {number} all */
function verdictText(right, all) {
  if (right === all) return all === 1 ? "The one number is right." : `All ${all} numbers are in order.`;
  return `${right} of ${all} places are right. The others are marked.`;
}
