// The export of a classification: the shares of all labels, and the effects of tokens and heads on one of them.

import { areScores, figureBars } from "../../../ui/frontend/charts/answer_numbers.js";
import { formatSigned } from "../../../ui/frontend/charts/charts.js";
import { colour, hexColour, PURPLE_ORANGE, readableInk } from "../../../ui/frontend/charts/colours.js";
import { addBars } from "../../../ui/frontend/charts/figure_charts.js";
import { PRINT_COLOURS } from "../../../ui/frontend/charts/figure_text.js";
import { addTokens } from "../../../ui/frontend/charts/figure_tokens.js";
import {
  addColourScale,
  addHeatmap,
  addPanels,
  beginFigure,
  colourNames,
  titled,
} from "../../../ui/frontend/charts/shapes.js";
import { inlineText, visibleText } from "../../../ui/frontend/dom/dom.js";
import { createTable, numbered } from "../../../ui/frontend/export/page_export.js";

/** @import { Meaning } from "../../../ui/frontend/charts/answer_numbers.js" */
/** @import { Box, Candidate, Effects, Figure, ShownDrawing, Table } from "../types.js" */
/** @typedef {{ candidates: Candidate[], changed: boolean, tokens: { text: string }[], effects: Effects }} Classification */

/** The number that people read: the probability of log odds, or the score itself. @param {Meaning} meaning @param {number} logOdds */
export function numberOf(meaning, logOdds) {
  return areScores(meaning) ? logOdds : 1 / (1 + Math.exp(-logOdds));
}

/** What falls without a token or a head. @param {Effects} effects */
export function fallWords(effects) {
  const label = inlineText(effects.label);
  return areScores(effects) ? `the score of “${label}” falls` : `the log odds of “${label}” fall`;
}

/** @param {Effects} effects @param {number} lost log odds, or a score @returns {string} */
export function lostText(effects, lost) {
  return formatSigned(areScores(effects) ? lost : Number(lost.toFixed(2)));
}

/**
 * The change with the strongest colour: the largest, and at least `least` log odds; scores have a scale of their own.
 * @param {Effects} effects @param {number[]} without the numbers without each token or head @param {number} least
 */
export function mostLost(effects, without, least) {
  return Math.max(areScores(effects) ? 1e-9 : least, ...without.map((number) => Math.abs(effects.all - number)));
}

/** @param {Classification} shown @returns {ShownDrawing} */
export function exportedClassification(shown) {
  return {
    name: "classify",
    shown: `${areScores(shown.effects) ? "scores" : "shares"} of the labels; by how much ${fallWords(shown.effects)} without each token and each head`,
    draw: (width, heading) => drawClassification(width, heading, shown),
    tables: tablesOf(shown),
  };
}

/** @param {number} width @param {string} heading @param {Classification} shown */
function drawClassification(width, heading, { candidates, changed, tokens, effects }) {
  const { figure, y } = beginFigure(width, heading, true);
  const label = inlineText(effects.label);
  const panels = [
    titled(figure, "Label of the text", (box) => addLabels(figure, candidates, changed, effects, box)),
    titled(figure, `What “${label}” rests on: each token`, (box) => addTokenEffects(figure, tokens, effects, box)),
  ];
  if (effects.heads.length)
    panels.push(
      titled(figure, `What “${label}” rests on: each head (H) of each layer (L)`, (box) =>
        addHeadEffects(figure, effects, box),
      ),
    );
  return { figure, y: addPanels(figure, y, panels, width > 120 ? 2 : 1) };
}

/** @param {Figure} figure @param {Candidate[]} candidates @param {boolean} changed @param {Effects} effects @param {Box} box */
function addLabels(figure, candidates, changed, effects, box) {
  const rows = candidates.map(({ text, before, after }) => ({
    label: visibleText(text),
    values: changed ? [before, after] : [after],
  }));
  const kinds = changed ? ["as trained", "now"] : ["now"];
  return addBars(figure, { rows, kinds, ...figureBars(effects, rows), missing: "" }, box);
}

/** @param {Figure} figure @param {{ text: string }[]} tokens @param {Effects} effects @param {Box} box */
function addTokenEffects(figure, tokens, effects, box) {
  const { all, tokens: without } = effects;
  const most = mostLost(effects, [...without.values()], 1);
  const chips = [...without].map(([position, number]) => {
    const ground = colour(0.5 + (all - number) / most / 2, PURPLE_ORANGE);
    const fill = hexColour(ground);
    const ink = readableInk(ground) === "#fff" ? PRINT_COLOURS.paper : PRINT_COLOURS.ink;
    return { text: tokens[position].text, beneath: [lostText(effects, all - number)], fill, ink };
  });
  return addScale(figure, effects, most, box.x, addTokens(figure, chips, box) + 0.8);
}

/** @param {Figure} figure @param {Effects} effects @param {Box} box */
function addHeadEffects(figure, effects, box) {
  const { all, heads } = effects;
  const most = mostLost(effects, heads.flat(), 0.5);
  const codes = Uint8Array.from(heads.flat(), (without) => 1 + Math.round(127 * (1 + (all - without) / most)));
  const rows = heads.map((_, layer) => `L${layer}`);
  const columns = heads[0].map((_, head) => `H${head}`);
  const map = { rows, columns, axes: { down: "layer", across: "head" }, codes, signed: true };
  return addScale(figure, effects, most, box.x, addHeatmap(figure, map, box) + 0.8);
}

/** @param {Figure} figure @param {Effects} effects @param {number} most @param {number} x @param {number} y */
function addScale(figure, effects, most, x, y) {
  const ends = { low: lostText(effects, -most), high: lostText(effects, most) };
  return addColourScale(figure, { ...ends, words: "orange supports the label", palette: colourNames(true) }, x, y);
}

/** @param {Classification} shown @returns {Record<string, Table>} */
function tablesOf({ candidates, tokens, effects }) {
  const { all, tokens: without, heads } = effects;
  const positions = [...without.keys()];
  const names = numbered(tokens);
  return {
    [areScores(effects) ? "Label scores" : "Label shares"]: createTable(
      areScores(effects) ? "label scores" : "label shares",
      { label: candidates.map(({ text }) => text), model: ["as trained", "now"] },
      candidates.flatMap(({ before, after }) => [before, after]),
    ),
    "What each token adds": createTable(
      "label tokens",
      {
        token: positions.map((position) => names[position]),
        number: [
          `${areScores(effects) ? "score" : "log odds"} lost without it`,
          `${areScores(effects) ? "score" : "share"} without it`,
        ],
      },
      [...without.values()].flatMap((number) => [all - number, numberOf(effects, number)]),
    ),
    ...(heads.length && {
      "What each head adds": createTable(
        "label heads",
        { layer: heads.map((_, layer) => String(layer)), head: heads[0].map((_, head) => String(head)) },
        heads.flat().map((number) => all - number),
      ),
    }),
  };
}
