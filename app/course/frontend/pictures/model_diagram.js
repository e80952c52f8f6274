// A model as a diagram, laid out for the room that there is.

import { createElement } from "../../../../model/rendering/static/ui/dom.js";
import { layoutDiagram } from "../../../ui/frontend/model_diagram/diagram_layout.js";
import { drawDiagram } from "../../../ui/frontend/model_diagram/diagram_svg.js";

/** @import { ModelDiagramPicture } from "../types.d.ts" */

const FONT_SIZE = 15; // pixels of the page's words, with which those of the diagram grow

/** @param {ModelDiagramPicture} picture */
export function createModelDiagram({ diagram }) {
  const paper = createElement("div", "chart diagram");
  paper.classList.toggle("two", diagram.stacks.length > 1);
  let drawn = 0;
  new ResizeObserver(() => {
    const width = paper.clientWidth;
    if (!width || width === drawn) return;
    drawn = width;
    const { fontFamily, fontSize } = getComputedStyle(paper);
    const type = Number.parseFloat(fontSize) / FONT_SIZE;
    paper.replaceChildren(drawDiagram(layoutDiagram(diagram, width, type), { type, font: fontFamily }, () => null));
  }).observe(paper);
  return paper;
}
