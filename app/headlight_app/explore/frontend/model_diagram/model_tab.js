// The tab "Model": the open model as a diagram, whose parts lead to where they are looked at.

import { fillSelect } from "../../../ui/frontend/charts/charts.js";
import { LABEL_SIZE, PRINT_SHEET } from "../../../ui/frontend/charts/figure_text.js";
import { addDrawing, beginFigure, beginSheet, MARGIN } from "../../../ui/frontend/charts/shapes.js";
import { activeElement } from "../../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../../ui/frontend/dom/elements.js";
import { currentStyle } from "../../../ui/frontend/heads/measurements.js";
import { addDiagram } from "../../../ui/frontend/model_diagram/diagram_figure.js";
import { layoutDiagram } from "../../../ui/frontend/model_diagram/diagram_layout.js";
import { drawDiagram } from "../../../ui/frontend/model_diagram/diagram_svg.js";
import { entranceChoice } from "../../../ui/frontend/model_diagram/entrances.js";
import { remembered } from "../../../ui/frontend/state/memory.js";
import { runOf } from "../export/shown_run.js";
import { askFloats } from "../server.js";

/** @import { ShownDrawing } from "../../../ui/frontend/export/types.js" */
/** @import { ModelDiagramAnswer } from "../../../ui/frontend/model_diagram/types.js" */
/** @import { Choice, ExplorePage, Tab } from "../types.js" */

const memory = remembered(() => ({ drawn: "" }));

export default /** @type {Tab} */ ({ draw: drawModel, exported: exportModel });

/** @param {ExplorePage} page */
function drawModel(page) {
  const found = page.server.get("model_diagram", openLayerOf(page));
  if (!found) return; // what was painted stays until the new one is here
  const panel = page.view.panels.model;
  const message = findByTestId(panel, "diagram-silent");
  message.textContent = found.meta.error ?? "";
  message.hidden = !found.meta.error;
  findByTestId(panel, "diagram").hidden = Boolean(found.meta.error);
  if (found.meta.error) return;
  drawLayerSelect(page, found.meta);
  positionsLink(page).onclick = () => {
    page.reporter.flush(); // the address says all that was chosen
    positionsLink(page).href = positionsAddress();
  };
  positionsLink(page).href = positionsAddress();
  drawSvg(page, found.meta);
}

/** @param {ExplorePage} page */
function openLayerOf(page) {
  return { layer: Math.max(page.state.choice.layer, 0) };
}

/** @param {ExplorePage} page @returns {Promise<ShownDrawing>} */
async function exportModel(page) {
  const { meta } = await askFloats(page, "model_diagram", openLayerOf(page));
  return {
    name: "model-diagram",
    shown: "the model from its input down to its answer, with the shape of what leaves each part",
    sides: [runOf(page)],
    draw(width, title) {
      const { figure, y } = beginFigure(width, title);
      const box = { x: MARGIN, y, width: width - 2 * MARGIN };
      const layout = layoutDiagram(meta, (box.width / LABEL_SIZE) * PRINT_SHEET.size, 1);
      const sheet = beginSheet(layout.width, "", PRINT_SHEET);
      addDiagram(sheet, layout);
      return { figure, y: addDrawing(figure, sheet, box) };
    },
    tables: {},
  };
}

/** @param {ExplorePage} page */
function positionsLink(page) {
  return findByTestId(page.view.panels.model, "diagram-positions", HTMLAnchorElement);
}

/** The page Positions with what is chosen here. */
function positionsAddress() {
  return `positions${location.search}`;
}

/** @param {ExplorePage} page @param {ModelDiagramAnswer} diagram */
function drawLayerSelect(page, { stacks }) {
  const select = findByTestId(page.view.panels.model, "diagram-layer", HTMLSelectElement);
  const deepest = stacks.reduce((best, stack) => (stack.layers > best.layers ? stack : best));
  const options = Array.from(
    { length: deepest.layers },
    (_, layer) => /** @type {[number, number]} */ ([layer, layer]),
  );
  fillSelect(select, options, deepest.layer, (value) => openLayer(page, Number(value)));
  if (select.parentElement) select.parentElement.hidden = deepest.layers < 2;
}

/** @param {ExplorePage} page @param {ModelDiagramAnswer} diagram */
function drawSvg(page, diagram) {
  const paper = findByTestId(page.view.panels.model, "diagram");
  const { type, font } = currentStyle(page);
  const width = paper.clientWidth - 4;
  const key = JSON.stringify([diagram, width, type]);
  if (width <= 0 || (memory(page).drawn === key && paper.firstChild)) return;
  memory(page).drawn = key;
  const focused = activeElement(paper)?.dataset ? activeElement(paper) : null;
  const name = paper.contains(focused) ? focused?.getAttribute("data-testid") : null;
  const drawn = drawDiagram(layoutDiagram(diagram, width, type), { type, font }, (kind, stack, layer) => {
    const chosen = entranceChoice(page.state.answer, diagram, { kind, stack, layer });
    return chosen && { words: chosen.words, enter: () => enter(page, chosen.choice) };
  });
  paper.replaceChildren(drawn);
  const again = name && drawn.querySelector(`[data-testid="${name}"]`);
  if (again instanceof SVGElement) again.focus();
}

/**
 * Where a part leads; a tab that opens has the keyboard's focus.
 * @param {ExplorePage} page @param {Partial<Choice> | null} choice
 */
function enter(page, choice) {
  if (!choice) return positionsLink(page).click();
  page.change(choice);
  if (!choice.tab) return;
  const tab = page.view.elements.tabs.querySelector('[aria-selected="true"]');
  if (tab instanceof HTMLElement) tab.focus();
}

/** @param {ExplorePage} page @param {number} layer */
function openLayer(page, layer) {
  page.change({ layer, heads: [] });
}
