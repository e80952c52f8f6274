// Views by their kind, with a title above, a note below, and a sign before them.

import { createElement } from "../dom/dom.ts";
import { table } from "../dom/table.ts";
import { titleNodes } from "../formulas/formula.ts";
import { createBars } from "./bars.ts";
import { createChanges } from "./changes.ts";
import { drawControl, isControl } from "./controls.ts";
import { createFile, createSound } from "./files.ts";
import { createFlow } from "./flow/flow.ts";
import { createGraph } from "./graphs/graph.ts";
import { createModelDiagram } from "./graphs/model_diagram.ts";
import { createTree } from "./graphs/tree.ts";
import { createHeatMap } from "./heat_map.ts";
import { createImage } from "./image.ts";
import { createLines } from "./lines.ts";
import { createMatrix } from "./matrix.ts";
import { arrowsPlane } from "./plane/arrows.ts";
import { createMovingPoints } from "./plane/moving_points.ts";
import { createPlane } from "./plane/plane.ts";
import { pointsPlane } from "./plane/points.ts";
import { createSpans } from "./spans.ts";
import { createStrips } from "./strips.ts";
import { createClaims, createEquations, createTable, createVerdict } from "./texts.ts";
import { createAlignment } from "./tokens/alignment.ts";
import { createTokens } from "./tokens/tokens.ts";
import type { ChoiceView, InputView, Picks, Surroundings, View } from "./types.ts";

const NO_PICKS: Picks = { choose: () => {}, isChosen: () => false };

type Draw = (view: View, surroundings: Surroundings, note: HTMLElement) => Element; // the note may be told otherwise

const DRAWINGS: {
  [Kind in View["kind"]]: (
    view: Extract<View, { kind: Kind }>,
    surroundings: Surroundings,
    note: HTMLElement,
  ) => Element;
} = table({
  matrix: (view, { picks }, note) => createMatrix(view, picks, note),
  heat_map: createHeatMap,
  moving_points: createMovingPoints,
  bars: (view, { picks }) => createBars(view, picks),
  changes: (view, { picks }) => createChanges(view, picks),
  choice: createControl,
  input: createControl,
  lines: createLines,
  arrows: (view) => createPlane(arrowsPlane(view)),
  points: (view) => createPlane(pointsPlane(view)),
  tokens: createTokens,
  tree: createTree,
  table: (view, { picks }) => createTable(view, picks),
  model_diagram: (view, { explore }) => createModelDiagram(view, explore ?? null),
  claims: (view, { linkTo }) => createClaims(view, linkTo),
  image: createImage,
  alignment: createAlignment,
  spans: createSpans,
  strips: createStrips,
  graph: createGraph,
  flow: createFlow,
  sound: createSound,
  file: createFile,
  equations: createEquations,
  verdict: createVerdict,
});

function createControl(view: ChoiceView | InputView, { picks = NO_PICKS }: Surroundings) {
  const place = createElement("div", "control-place");
  drawControl(place, view, picks);
  return place;
}

/** Draws a row's controls again where they are. */
export function redrawControls(row: HTMLElement, views: View[], { picks = NO_PICKS }: Surroundings) {
  const places = row.querySelectorAll(".control-place") as NodeListOf<HTMLElement>;
  views.filter(isControl).forEach((view, place) => {
    drawControl(places[place], view, picks);
  });
}

export function createView(view: View, surroundings: Surroundings) {
  const figure = createElement("figure", `view-${view.kind}`, [], { testid: `view-${view.kind}` });
  if (view.title && !isControl(view)) figure.append(createCaption(view.title, surroundings));
  const note = createElement("p", "quiet note", view.note, { testid: "view-note" });
  const draw = DRAWINGS[view.kind] as Draw;
  figure.append(draw(view, surroundings, note));
  if (view.note) figure.append(note);
  if (!view.before) return figure;
  return createElement("div", "joined", [createElement("span", "before", view.before), figure]);
}

/** On a page of views it is a heading. */
function createCaption(title: string, { isPage }: Surroundings) {
  const words = titleNodes(title);
  return createElement("figcaption", "", isPage ? [createElement("h3", "", words)] : words);
}
