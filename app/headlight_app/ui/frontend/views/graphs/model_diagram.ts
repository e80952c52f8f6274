// The diagram of a model, laid out for the available width.

import { createElement } from "../../dom/dom.ts";
import { layoutDiagram } from "../../model_diagram/diagram_layout.ts";
import { drawDiagram } from "../../model_diagram/diagram_svg.ts";
import { entranceChoice } from "../../model_diagram/entrances.ts";
import type { DiagramChoice, DiagramPlace } from "../../model_diagram/types.ts";
import type { Link, ModelDiagramView } from "../types.ts";

const FONT_SIZE = 15; // pixels of the page's font at which the diagram's has its normal size

export function createModelDiagram({ diagram, enterable }: ModelDiagramView, link: Link) {
  const paper = createElement("div", "chart diagram");
  paper.classList.toggle("two", diagram.stacks.length > 1);
  const entrance = (place: DiagramPlace) => {
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

/** The address of a choice: on the page Explore, or without a choice on the page Positions. */
function addressOf(choice: DiagramChoice | null, link: Record<string, string>) {
  if (!choice) return `positions?${new URLSearchParams({ model: link.model })}`;
  const chosen = Object.entries(choice).map(([name, value]) => [name, String(value)]);
  return `./?${new URLSearchParams({ ...link, ...Object.fromEntries(chosen) })}`;
}
