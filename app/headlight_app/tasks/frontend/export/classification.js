// The export of a classification: the shares of all labels, and the effects of tokens and heads on one of them.

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
import { formatPercent, inlineText, visibleText } from "../../../ui/frontend/dom/dom.js";
import { createTable, numbered } from "../../../ui/frontend/export/page_export.js";

/** @import { Box, Candidate, Effects, Figure, ShownDrawing, Table } from "../types.js" */
/** @typedef {{ candidates: Candidate[], changed: boolean, tokens: { text: string }[], effects: Effects }} Classification */

/** @param {number} logOdds */
export function shareOf(logOdds) {
  return 1 / (1 + Math.exp(-logOdds));
}

/** @param {Classification} shown @returns {ShownDrawing} */
export function exportedClassification(shown) {
  const { label } = shown.effects;
  return {
    name: "classify",
    shown: `shares of the labels; by how much the log odds of “${inlineText(label)}” fall without each token and each head`,
    draw: (width, heading) => drawClassification(width, heading, shown),
    tables: tablesOf(shown),
  };
}

/** @param {number} width @param {string} heading @param {Classification} shown */
function drawClassification(width, heading, { candidates, changed, tokens, effects }) {
  const { figure, y } = beginFigure(width, heading, true);
  const label = inlineText(effects.label);
  const panels = [
    titled(figure, "Label of the text", (box) => addLabels(figure, candidates, changed, box)),
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

/** @param {Figure} figure @param {Candidate[]} candidates @param {boolean} changed @param {Box} box */
function addLabels(figure, candidates, changed, box) {
  const rows = candidates.map(({ text, before, after }) => ({
    label: visibleText(text),
    values: changed ? [before, after] : [after],
  }));
  const kinds = changed ? ["as trained", "now"] : ["now"];
  return addBars(figure, { rows, kinds, most: 1, format: formatPercent, missing: "" }, box);
}

/** @param {Figure} figure @param {{ text: string }[]} tokens @param {Effects} effects @param {Box} box */
function addTokenEffects(figure, tokens, { all, tokens: without }, box) {
  const most = Math.max(1, ...[...without.values()].map((number) => Math.abs(all - number)));
  const chips = [...without].map(([position, number]) => {
    const ground = colour(0.5 + (all - number) / most / 2, PURPLE_ORANGE);
    const fill = hexColour(ground);
    const ink = readableInk(ground) === "#fff" ? PRINT_COLOURS.paper : PRINT_COLOURS.ink;
    return { text: tokens[position].text, beneath: [formatSigned(Number((all - number).toFixed(1)))], fill, ink };
  });
  return addScale(figure, most, box.x, addTokens(figure, chips, box) + 0.8);
}

/** @param {Figure} figure @param {Effects} effects @param {Box} box */
function addHeadEffects(figure, { all, heads }, box) {
  const most = Math.max(0.5, ...heads.flat().map((without) => Math.abs(all - without)));
  const codes = Uint8Array.from(heads.flat(), (without) => 1 + Math.round(127 * (1 + (all - without) / most)));
  const rows = heads.map((_, layer) => `L${layer}`);
  const columns = heads[0].map((_, head) => `H${head}`);
  const map = { rows, columns, axes: { down: "layer", across: "head" }, codes, signed: true };
  return addScale(figure, most, box.x, addHeatmap(figure, map, box) + 0.8);
}

/** @param {Figure} figure @param {number} most @param {number} x @param {number} y */
function addScale(figure, most, x, y) {
  const ends = { low: `−${most.toFixed(1)}`, high: `+${most.toFixed(1)}` };
  return addColourScale(figure, { ...ends, words: "orange supports the label", palette: colourNames(true) }, x, y);
}

/** @param {Classification} shown @returns {Record<string, Table>} */
function tablesOf({ candidates, tokens, effects: { all, tokens: without, heads } }) {
  const positions = [...without.keys()];
  const names = numbered(tokens);
  return {
    "Label shares": createTable(
      "label shares",
      { label: candidates.map(({ text }) => text), model: ["as trained", "now"] },
      candidates.flatMap(({ before, after }) => [before, after]),
    ),
    "What each token adds": createTable(
      "label tokens",
      { token: positions.map((position) => names[position]), number: ["log odds lost without it", "share without it"] },
      [...without.values()].flatMap((number) => [all - number, shareOf(number)]),
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
