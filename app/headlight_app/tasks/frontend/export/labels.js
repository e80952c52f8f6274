// The export of token labels: coloured tokens with their labels, and the probability of every label.

import { askFloats } from "../../../explore/frontend/server.js";
import { answerNumber, areIndependent, bestWord, unitOf } from "../../../ui/frontend/charts/answer_numbers.js";
import { hexColour, tint } from "../../../ui/frontend/charts/colours.js";
import {
  addLines,
  LABEL_SIZE,
  LINE_HEIGHT,
  PRINT_COLOURS,
  textWidth,
} from "../../../ui/frontend/charts/figure_text.js";
import { addTokens } from "../../../ui/frontend/charts/figure_tokens.js";
import { beginFigure, MARGIN } from "../../../ui/frontend/charts/shapes.js";
import { createTable, numbered } from "../../../ui/frontend/export/page_export.js";

/** @import { ExplorePage, Figure, ShownDrawing, Table, TokenLabelsAnswer } from "../types.js" */
/** @typedef {{ text: string, special: boolean }} LabelledToken */
/** @typedef {{ tokens: LabelledToken[], meta: TokenLabelsAnswer, kinds: string[], colour: (label: string) => string }} Tags */

const TINT = 0.4; // share of a colour behind a word
export const NONE = "–"; // for a token without a label

/** Every label of every token, the likeliest first. @param {ExplorePage} page @returns {Promise<TokenLabelsAnswer>} */
export async function allLabels(page) {
  return (await askFloats(page, "token_labels", { every_label: true })).meta;
}

/**
 * The label of a token, and the note below it: the label as trained, or the number. Labels that do not exclude each other
 * are named only if they are likelier than not; else the label is empty, and the note says which is the likeliest.
 * @param {TokenLabelsAnswer} meta @param {number} place
 */
export function tagOf(meta, place) {
  const [best] = meta.labels[place];
  const number = answerNumber(meta, best.after);
  const label = areIndependent(meta) && best.after < 0.5 ? "" : best.text;
  const was = meta.as_trained[place];
  if (meta.changed && was !== label) return { label, note: `was ${was || NONE}` };
  return { label, note: label ? number : `${best.text} ${number}` };
}

/** @param {Tags} tags @returns {ShownDrawing} */
export function exportedTags(tags) {
  return {
    name: "tags",
    shown: `the ${bestWord(tags.meta)} label of each token, and its ${unitOf(tags.meta)}`,
    draw: (width, heading) => drawTags(width, heading, tags),
    tables: labelTables(tags.tokens, tags.meta),
  };
}

/** @param {number} width @param {string} heading @param {Tags} tags */
function drawTags(width, heading, { tokens, meta, kinds, colour }) {
  const { figure, y: top } = beginFigure(width, heading);
  const chips = tokens.flatMap(({ text, special }, place) => {
    if (special) return [];
    const { label, note } = tagOf(meta, place);
    return [{ text, beneath: [label || NONE, note], fill: tinted(colour(label)) }];
  });
  const box = { x: MARGIN, y: addLegend(figure, kinds, colour, top), width: width - 2 * MARGIN };
  return { figure, y: addTokens(figure, chips, box) + 1 };
}

/** @param {Figure} figure @param {string[]} kinds @param {(label: string) => string} colour @param {number} y */
function addLegend(figure, kinds, colour, y) {
  let x = MARGIN;
  for (const kind of kinds) {
    const long = textWidth(kind, LABEL_SIZE) + 8;
    if (x > MARGIN && x + long > figure.width) [x, y] = [MARGIN, y + LABEL_SIZE * LINE_HEIGHT];
    figure.shapes.push({ kind: "rectangle", x, y: y + 0.8, width: 2.2, height: 2.2, fill: tinted(colour(kind)) });
    addLines(figure, [kind], x + 3.2, y);
    x += long;
  }
  return kinds.length ? y + LABEL_SIZE * LINE_HEIGHT : y;
}

/** A tint light enough for text; white if there is no colour. @param {string} colour as #rrggbb */
function tinted(colour) {
  return colour ? hexColour(tint(colour, TINT)) : PRINT_COLOURS.paper;
}

/** @param {LabelledToken[]} tokens @param {TokenLabelsAnswer} meta @returns {Record<string, Table>} */
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
