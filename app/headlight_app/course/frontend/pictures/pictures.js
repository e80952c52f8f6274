// Pictures by their kind, with a title above, a note below, and a sign before them.

import { createElement } from "../../../ui/frontend/dom/dom.js";
import { table } from "../../../ui/frontend/dom/table.js";
import { titleNodes } from "../formulas/formula.js";
import { createArrows } from "./arrows.js";
import { createBars } from "./bars.js";
import { createClaims } from "./claims.js";
import { createFile, createSound } from "./files.js";
import { createGraph } from "./graph.js";
import { createHeatMap } from "./heat_map.js";
import { createImage } from "./image.js";
import { createLines } from "./lines.js";
import { createMatrix } from "./matrix.js";
import { createModelDiagram } from "./model_diagram.js";
import { createMovingPoints } from "./moving_points.js";
import { createPoints } from "./points.js";
import { createEquations, createTable, createTokens, createVerdict } from "./texts.js";

/** @import { Picture } from "../types.d.ts" */
/** @import { Surroundings } from "../links.js" */

/** @type {{ [Kind in Picture["kind"]]: (picture: Extract<Picture, { kind: Kind }>, surroundings: Surroundings) => Element }} */
const DRAWINGS = table({
  matrix: createMatrix,
  heat_map: (picture, { width }) => createHeatMap(picture, width),
  moving_points: createMovingPoints,
  bars: createBars,
  lines: createLines,
  arrows: createArrows,
  points: createPoints,
  tokens: createTokens,
  table: createTable,
  model_diagram: (picture, { explore }) => createModelDiagram(picture, explore),
  claims: (picture, { linkTo }) => createClaims(picture, linkTo),
  image: createImage,
  graph: createGraph,
  sound: createSound,
  file: createFile,
  equations: createEquations,
  verdict: createVerdict,
});

/** @param {Picture} picture @param {Surroundings} surroundings */
export function createPicture(picture, surroundings) {
  const figure = createElement("figure", `picture-${picture.kind}`, [], { testid: `picture-${picture.kind}` });
  if (picture.title) figure.append(createElement("figcaption", "", titleNodes(picture.title)));
  const draw = /** @type {(picture: Picture, surroundings: Surroundings) => Element} */ (DRAWINGS[picture.kind]);
  figure.append(draw(picture, surroundings));
  if (picture.note) figure.append(createElement("p", "quiet note", picture.note));
  if (!picture.before) return figure;
  return createElement("div", "joined", [createElement("span", "before", picture.before), figure]);
}
