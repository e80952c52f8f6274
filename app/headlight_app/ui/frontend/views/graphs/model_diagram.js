// The diagram of a model, laid out for the available width.

import { createElement } from "../../dom/dom.js";
import { layoutDiagram } from "../../model_diagram/diagram_layout.js";
import { drawDiagram } from "../../model_diagram/diagram_svg.js";
import { entranceChoice } from "../../model_diagram/entrances.js";

/** @import { DiagramChoice, DiagramPlace } from "../../model_diagram/types.js" */
/** @import { Link, ModelDiagramView } from "../types.js" */

const FONT_SIZE = 15; // pixels of the page's font at which the diagram's has its normal size

/** @param {ModelDiagramView} view @param {Link} link */
export function createModelDiagram({ diagram, enterable }, link) {
  const paper = createElement("div", "chart diagram");
  paper.classList.toggle("two", diagram.stacks.length > 1);
  /** @param {DiagramPlace} place */
  const entrance = (place) => {
    const found = enterable && link ? entranceChoice({ predictions: diagram.head }, diagram, place) : null;
    return found && { words: found.words, enter: () => location.assign(addressOf(found.choice, link ?? {})) };
  };
  let drawn = 0;
  new ResizeObserver(() => {
    const width = paper.clientWidth;
    if (!width || width === drawn) return;
    drawn = width;
    const { fontFamily, fontSize } = getComputedStyle(paper);
    const type = Number.parseFloat(fontSize) / FONT_SIZE;
    const layout = layoutDiagram(diagram, width, type);
    paper.replaceChildren(
      drawDiagram(layout, { type, font: fontFamily }, (kind, stack, layer) => entrance({ kind, stack, layer })),
    );
  }).observe(paper);
  return paper;
}

/**
 * The address of a choice: on the page Explore, or without a choice on the page Positions.
 * @param {DiagramChoice | null} choice @param {Record<string, string>} link
 */
function addressOf(choice, link) {
  if (!choice) return `positions?${new URLSearchParams({ model: link.model })}`;
  const chosen = Object.entries(choice).map(([name, value]) => [name, String(value)]);
  return `./?${new URLSearchParams({ ...link, ...Object.fromEntries(chosen) })}`;
}
