// Pictures by their kind, with the title above, the note below, and the sign that stands before them.

import { createElement } from "../../../ui/frontend/dom/dom.js";
import { titleNodes } from "../formula.js";
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

/** @param {Picture} picture @param {Surroundings} surroundings */
export function createPicture(picture, surroundings) {
  const figure = createElement("figure", `picture-${picture.kind}`, [], { testid: `picture-${picture.kind}` });
  if (picture.title) {
    const caption = createElement("figcaption", "", titleNodes(picture.title));
    figure.append(caption);
  }
  figure.append(draw(picture, surroundings));
  if (picture.note) figure.append(createElement("p", "quiet note", picture.note));
  if (!picture.before) return figure;
  return createElement("div", "joined", [createElement("span", "before", picture.before), figure]);
}

/** @param {Picture} picture @param {Surroundings} surroundings @returns {Element} */
function draw(picture, surroundings) {
  switch (picture.kind) {
    case "matrix":
      return createMatrix(picture);
    case "heat_map":
      return createHeatMap(picture, surroundings.width);
    case "moving_points":
      return createMovingPoints(picture);
    case "bars":
      return createBars(picture);
    case "lines":
      return createLines(picture);
    case "arrows":
      return createArrows(picture);
    case "points":
      return createPoints(picture);
    case "tokens":
      return createTokens(picture);
    case "table":
      return createTable(picture);
    case "model_diagram":
      return createModelDiagram(picture, surroundings.explore);
    case "claims":
      return createClaims(picture, surroundings.linkTo);
    case "image":
      return createImage(picture);
    case "graph":
      return createGraph(picture);
    case "sound":
      return createSound(picture);
    case "file":
      return createFile(picture);
    case "equations":
      return createEquations(picture);
    case "verdict":
      return createVerdict(picture);
  }
}
