// Views by their kind, with a title above, a note below, and a sign before them.

import { createElement } from "../dom/dom.js";
import { table } from "../dom/table.js";
import { titleNodes } from "../formulas/formula.js";
import { createBars } from "./bars.js";
import { createChanges } from "./changes.js";
import { drawControl, isControl } from "./controls.js";
import { createFile, createSound } from "./files.js";
import { createFlow } from "./flow/flow.js";
import { createGraph } from "./graphs/graph.js";
import { createModelDiagram } from "./graphs/model_diagram.js";
import { createTree } from "./graphs/tree.js";
import { createHeatMap } from "./heat_map.js";
import { createImage } from "./image.js";
import { createLines } from "./lines.js";
import { createMatrix } from "./matrix.js";
import { createArrows } from "./plane/arrows.js";
import { createMovingPoints } from "./plane/moving_points.js";
import { createPoints } from "./plane/points.js";
import { createSpans } from "./spans.js";
import { createClaims, createEquations, createTable, createVerdict } from "./texts.js";
import { createAlignment } from "./tokens/alignment.js";
import { createTokens } from "./tokens/tokens.js";

/** @import { ChoiceView, InputView, Picks, Surroundings, View } from "./types.js" */

/** @type {Picks} */
const NO_PICKS = { choose: () => {}, isChosen: () => false };

/** @typedef {(view: View, surroundings: Surroundings, note: HTMLElement) => Element} Draw the note may be told otherwise */

/** @type {{ [Kind in View["kind"]]: (view: Extract<View, { kind: Kind }>, surroundings: Surroundings, note: HTMLElement) => Element }} */
const DRAWINGS = table({
  matrix: (view, { picks }, note) => createMatrix(view, picks, note),
  heat_map: createHeatMap,
  moving_points: createMovingPoints,
  bars: (view, { picks }) => createBars(view, picks),
  changes: (view, { picks }) => createChanges(view, picks),
  choice: createControl,
  input: createControl,
  lines: createLines,
  arrows: createArrows,
  points: createPoints,
  tokens: createTokens,
  tree: createTree,
  table: (view, { picks }) => createTable(view, picks),
  model_diagram: (view, { explore }) => createModelDiagram(view, explore ?? null),
  claims: (view, { linkTo }) => createClaims(view, linkTo),
  image: createImage,
  alignment: createAlignment,
  spans: createSpans,
  graph: createGraph,
  flow: createFlow,
  sound: createSound,
  file: createFile,
  equations: createEquations,
  verdict: createVerdict,
});

/** @param {ChoiceView | InputView} view @param {Surroundings} surroundings */
function createControl(view, { picks = NO_PICKS }) {
  const place = createElement("div", "control-place");
  drawControl(place, view, picks);
  return place;
}

/** Draws a row's controls again where they are. @param {HTMLElement} row @param {View[]} views @param {Surroundings} surroundings */
export function redrawControls(row, views, { picks = NO_PICKS }) {
  const places = /** @type {NodeListOf<HTMLElement>} */ (row.querySelectorAll(".control-place"));
  views.filter(isControl).forEach((view, place) => {
    drawControl(places[place], view, picks);
  });
}

/** @param {View} view @param {Surroundings} surroundings */
export function createView(view, surroundings) {
  const figure = createElement("figure", `view-${view.kind}`, [], { testid: `view-${view.kind}` });
  if (view.title && !isControl(view)) figure.append(createCaption(view.title, surroundings));
  const note = createElement("p", "quiet note", view.note, { testid: "view-note" });
  const draw = /** @type {Draw} */ (DRAWINGS[view.kind]);
  figure.append(draw(view, surroundings, note));
  if (view.note) figure.append(note);
  if (!view.before) return figure;
  return createElement("div", "joined", [createElement("span", "before", view.before), figure]);
}

/** On a page of views it is a heading. @param {string} title @param {Surroundings} surroundings */
function createCaption(title, { isPage }) {
  const words = titleNodes(title);
  return createElement("figcaption", "", isPage ? [createElement("h3", "", words)] : words);
}
