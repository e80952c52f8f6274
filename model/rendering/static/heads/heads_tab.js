// The tab "Heads": all of them as thumbnails, and the chosen ones large.

import { clampHead, currentGrid, selectedHeads, toggleHeads } from "../state/head_selection.js";
import { remembered } from "../state/memory.js";
import { QUERY_KEY, setHover } from "../state/token_selection.js";
import { paintScale } from "../ui/colours.js";
import { drawChoices } from "../ui/dom.js";
import { find, findByTestId } from "../ui/elements.js";
import { listenToOptions } from "./display_options.js";
import { clearGrid, drawGrid, markHeads, onGridClick, onGridKey, sortAgain } from "./head_grid.js";
import { drawHeadMetrics } from "./head_metrics.js";
import { forgetOrder, metricsOf } from "./head_order.js";
import { drawHeadPanel, markPointer } from "./head_panel.js";
import { clearMeasurements, currentStyle, measuredWidth } from "./measurements.js";
import { onPlotClick, onPlotKey, onPlotMove } from "./plot_events.js";
import { clampPair, drawPair, pairWeights } from "./query_key_order.js";
import { drawZoomButton, listenToZoom, loadPendingGrid } from "./zoom.js";

/** @import { HeadElements, Page } from "../types.js" */

const memory = remembered(() => ({ layout: "" }));

export default {
  /**
   * `fresh`: there is a new answer, or other colours; else only a choice changed.
   * @param {Page} page @param {boolean} fresh
   */
  draw(page, fresh) {
    const grid = currentGrid(page);
    if (!grid) return;
    clampHead(page, grid);
    const tab = page.view.elements.headsTab;
    const large = page.state.choice.panel_size === "large";
    if (tab.classList.contains("large") !== large) clearMeasurements(page);
    tab.classList.toggle("large", large);
    clampPair(page, grid);
    const pair = page.state.choice.sort === QUERY_KEY && pairWeights(page, grid)?.name;
    const layout = `${grid.name} ${page.state.choice.sort} ${page.state.choice.colour_range} ${pair} ${Boolean(metricsOf(page, grid))} ${measuredWidth(page, "grid")} ${currentStyle(page).raised} ${devicePixelRatio}`;
    if (fresh || memory(page).layout !== layout) drawGrid(page);
    memory(page).layout = layout;
    drawAttentionChoices(page);
    drawPair(page, grid, () => forgetOrder(page));
    markHeads(page);
    drawHeadMetrics(page);
    drawHeadPanel(page);
    drawZoomButton(page);
    loadPendingGrid(page).catch(() => {}); // the next answer says what is wrong
  },

  /** The pointer is at another token, or nowhere. */
  markPointer,
};

/** @param {Page} page */
function drawAttentionChoices(page) {
  const { attention_groups } = page.state.answer;
  page.view.elements.attentions.hidden = attention_groups.length < 2;
  const options = attention_groups.map((grid) => /** @type {[string, string]} */ ([grid.name, grid.title]));
  drawChoices(page.view.elements.attentions, "attention", options, currentGrid(page).name, (attention) =>
    page.change({ attention }),
  );
}

/**
 * The elements that these drawings need: tokens, predictions, and all of the heads' panels.
 * @param {ParentNode} place @returns {HeadElements}
 */
export function headElements(place) {
  /** @param {string} name */
  const named = (name) => findByTestId(place, name);
  /** @param {string} name */
  const canvas = (name) => findByTestId(place, name, HTMLCanvasElement);
  /** @param {string} name */
  const button = (name) => findByTestId(place, name, HTMLButtonElement);
  return {
    root: find(place, ".instrument"),
    headsTab: named("panel-heads"),
    tokens: named("tokens"),
    sourceTokens: named("source-tokens"),
    predictions: named("predictions"),
    attentions: named("attentions"),
    grid: named("grid"),
    gridScale: canvas("grid-scale"),
    gridHigh: named("grid-high"),
    gridNote: named("grid-note"),
    sortAgain: button("sort-again"),
    pair: named("pair"),
    pairQuery: findByTestId(place, "pair-query", HTMLSelectElement),
    pairKey: findByTestId(place, "pair-key", HTMLSelectElement),
    pairTrouble: named("pair-trouble"),
    metrics: named("metrics"),
    title: named("head-title"),
    off: button("head-switch"),
    collected: named("collected"),
    picture: named("plot"),
    options: named("options"),
    optionsButton: button("options-button"),
    grow: button("grow"),
    trouble: named("trouble"),
    stage: named("stage"),
    canvas: canvas("head-canvas"),
    prose: named("prose"),
    sheet: named("sheet"),
    legend: named("legend"),
    low: named("low"),
    high: named("high"),
    scale: canvas("scale"),
    colourRange: named("colour-range"),
    rules: named("rules"),
    reading: named("reading"),
  };
}

/** What is drawn is laid out anew. @param {Page} page */
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
