// The export of token labels: coloured tokens with their labels, and the probability of every label.

import { askFloats } from "../../../explore/frontend/server.js";
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
import { formatPercent } from "../../../ui/frontend/dom/dom.js";
import { createTable, numbered } from "../../../ui/frontend/export/page_export.js";

/** @import { ExplorePage, Figure, ShownDrawing, Table, TokenLabelsAnswer } from "../types.js" */
/** @typedef {{ text: string, special: boolean }} LabelledToken */
/** @typedef {{ tokens: LabelledToken[], meta: TokenLabelsAnswer, kinds: string[], colour: (label: string) => string }} Tags */

const TINT = 0.4; // share of a colour behind a word

/** Every label of every token, the likeliest first. @param {ExplorePage} page @returns {Promise<TokenLabelsAnswer>} */
export async function allLabels(page) {
  return (await askFloats(page, "token_labels", { every_label: true })).meta;
}

/** @param {Tags} tags @returns {ShownDrawing} */
export function exportedTags(tags) {
  return {
    name: "tags",
    shown: "the likeliest label of each token, and its probability",
    draw: (width, heading) => drawTags(width, heading, tags),
    tables: labelTables(tags.tokens, tags.meta),
  };
}

/** @param {number} width @param {string} heading @param {Tags} tags */
function drawTags(width, heading, { tokens, meta, kinds, colour }) {
  const { figure, y: top } = beginFigure(width, heading);
  const chips = meta.labels.flatMap(([best], place) => {
    if (tokens[place].special) return [];
    const was = meta.changed && meta.as_trained[place] !== best.text ? `was ${meta.as_trained[place]}` : "";
    const beneath = [best.text, was || formatPercent(best.after)];
    return [{ text: tokens[place].text, beneath, fill: tinted(colour(best.text)) }];
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
export function labelTables(tokens, { labels, names, changed }) {
  /** @param {"before" | "after"} state @returns {Table} */
  const table = (state) => {
    const values = new Float32Array(tokens.length * names.length).fill(Number.NaN);
    labels.forEach((ranked, place) => {
      for (const label of ranked) values[place * names.length + label.id] = label[state];
    });
    const name = state === "after" ? "label probabilities" : "label probabilities as trained";
    return createTable(name, { token: numbered(tokens), label: names }, values);
  };
  return {
    "Label probabilities": table("after"),
    ...(changed && { "Label probabilities as trained": table("before") }),
  };
}
