// A row of pictures under its title.

import { createElement } from "../../ui/frontend/dom/dom.js";
import { titleNodes } from "./formula.js";
import { createPicture } from "./pictures/pictures.js";

/** @import { Surroundings } from "./links.js" */
/** @import { Row } from "./types.d.ts" */

/** @param {Row} row @param {Surroundings} surroundings */
export function createRow(row, surroundings) {
  const element = createElement("div", "row");
  if (row.title) element.append(createElement("h3", "", titleNodes(row.title)));
  if (row.text) element.append(createElement("p", "quiet", row.text));
  const pictures = row.pictures.map((picture) => createPicture(picture, surroundings));
  element.append(createElement("div", "pictures", pictures));
  return element;
}
