// The tab "Heads": all heads as thumbnails, and the chosen ones large.

import { paintScale } from "../charts/colours.js";
import { drawChoices } from "../dom/dom.js";
import { find, findAll, findByTestId } from "../dom/elements.js";
import { remembered } from "../dom/memory.js";
import { clearMeasurements, currentStyle, measuredWidth } from "../plots/measurements.js";
import { clampHead, currentGroup, selectedHeads, toggleHeads } from "../state/head_selection.js";
import { QUERY_KEY, setHover } from "../state/token_selection.js";
import { listenToOptions } from "./display_options.js";
import { clearGrid, drawGrid, markHeads, onGridClick, onGridKey, sortAgain } from "./head_grid.js";
import { drawHeadMetrics } from "./head_metrics.js";
import { forgetOrder, metricsOf } from "./head_order.js";
import { drawHeadPanel, markPointer } from "./head_panel.js";
import { onPlotClick, onPlotKey, onPlotMove } from "./plot_events.js";
import { clampPair, drawPair, pairWeights } from "./query_key_order.js";
import { drawZoomButton, listenToZoom, loadPendingGroup } from "./zoom.js";

/** @import { Page } from "../types.js" */

const memory = remembered(() => ({ layout: "" }));

export default {
  /**
   * `fresh`: after a new answer or other colours; else only a choice has changed.
   * @param {Page} page @param {boolean} fresh
   */
  draw(page, fresh) {
    const group = currentGroup(page);
    if (!group) return;
    clampHead(page, group);
    const tab = page.view.elements.headsTab;
    const large = page.state.choice.panel_size === "large";
    if (tab.classList.contains("large") !== large) clearMeasurements(page);
    tab.classList.toggle("large", large);
    clampPair(page, group);
    const pair = page.state.choice.sort === QUERY_KEY && pairWeights(page, group)?.name;
    const layout = `${group.name} ${page.state.choice.sort} ${page.state.choice.colour_range} ${pair} ${Boolean(metricsOf(page, group))} ${measuredWidth(page, "grid")} ${currentStyle(page).raised} ${devicePixelRatio}`;
    if (fresh || memory(page).layout !== layout) drawGrid(page);
    memory(page).layout = layout;
    drawAttentionChoices(page);
    drawPair(page, group, () => forgetOrder(page));
    markHeads(page);
    drawHeadMetrics(page);
    drawHeadPanel(page);
    drawZoomButton(page);
    loadPendingGroup(page).catch(() => {}); // the next answer reports the error
  },

  /** Call when the pointer has moved to another token, or to none. */
  markPointer,
};

/** @param {Page} page */
function drawAttentionChoices(page) {
  const { attention_groups } = page.state.answer;
  page.view.elements.attentions.hidden = attention_groups.length < 2;
  const options = attention_groups.map((group) => /** @type {[string, string]} */ ([group.name, group.title]));
  drawChoices(page.view.elements.attentions, "attention", options, currentGroup(page).name, (attention) =>
    page.change({ attention }),
  );
}

/**
 * The elements of these drawings: tokens, predictions, and all panels of the heads.
 * @param {ParentNode} place
 */
export function headElements(place) {
  return {
    ...findAll(place, ["tokens", "source-tokens", "predictions", "attentions", "grid", "grid-high", "grid-note"]),
    ...findAll(place, ["pair", "pair-trouble", "metrics", "selected-heads", "options", "trouble", "stage", "prose"]),
    ...findAll(place, ["sheet", "legend", "low", "high", "colour-range", "rules", "reading"]),
    ...findAll(place, ["sort-again", "options-button", "grow"], HTMLButtonElement),
    ...findAll(place, ["pair-query", "pair-key"], HTMLSelectElement),
    ...findAll(place, ["grid-scale", "scale"], HTMLCanvasElement),
    root: find(place, ".instrument"),
    headsTab: findByTestId(place, "panel-heads"),
    title: findByTestId(place, "head-title"),
    off: findByTestId(place, "head-switch", HTMLButtonElement),
    picture: findByTestId(place, "plot"),
    canvas: findByTestId(place, "head-canvas", HTMLCanvasElement),
  };
}

/** Rebuilds the layout of the page. @param {Page} page */
export function clearLayout(page) {
  memory(page).layout = "";
  clearGrid(page);
  clearMeasurements(page);
}

/** @param {Page} page */
export function listenToHeads(page) {
  const { elements } = page.view;
  paintScale(elements.gridScale);
  elements.grid.onclick = (event) => onGridClick(page, event);
  elements.grid.onkeydown = (event) => onGridKey(page, event);
  elements.sortAgain.onclick = () => sortAgain(page);
  elements.off.onclick = () => toggleHeads(page, selectedHeads(page));
  elements.stage.onmousemove = (event) => onPlotMove(page, event);
  elements.stage.onmouseleave = () => setHover(page, null);
  elements.stage.onclick = (event) => onPlotClick(page, event);
  elements.stage.onkeydown = (event) => onPlotKey(page, event);
  listenToOptions(page);
  listenToZoom(page);
}
