// The tab "Heads": all heads as thumbnails, and the chosen ones large.

import { paintScale } from "../charts/colours.ts";
import { drawChoices } from "../dom/dom.ts";
import { find, findAll, findByTestId } from "../dom/elements.ts";
import { remembered } from "../dom/memory.ts";
import { clearMeasurements, currentStyle, measuredWidth } from "../plots/measurements.ts";
import { clampHead, currentGroup, selectedHeads, toggleHeads } from "../state/head_selection.ts";
import { QUERY_KEY, setHover } from "../state/token_selection.ts";
import type { Page } from "../types.ts";
import { listenToOptions } from "./display_options.ts";
import { clearGrid, drawGrid, markHeads, onGridClick, onGridKey, sortAgain } from "./head_grid.ts";
import { drawHeadMetrics } from "./head_metrics.ts";
import { forgetOrder, metricsOf } from "./head_order.ts";
import { drawHeadPanel, markPointer } from "./head_panel.ts";
import { onPlotClick, onPlotKey, onPlotMove } from "./plot_events.ts";
import { clampPair, drawPair, pairWeights } from "./query_key_order.ts";
import { drawZoomButton, listenToZoom, loadPendingGroup } from "./zoom.ts";

const memory = remembered(() => ({ layout: "" }));

export default {
  /** `fresh`: after a new answer or other colours; else only a choice has changed. */
  draw(page: Page, fresh: boolean) {
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

function drawAttentionChoices(page: Page) {
  const { attention_groups } = page.state.answer;
  page.view.elements.attentions.hidden = attention_groups.length < 2;
  const options = attention_groups.map((group) => [group.name, group.title] as [string, string]);
  drawChoices(page.view.elements.attentions, "attention", options, currentGroup(page).name, (attention) =>
    page.change({ attention }),
  );
}

/** The elements of these drawings: tokens, predictions, and all panels of the heads. */
export function headElements(place: ParentNode) {
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

/** Rebuilds the layout of the page. */
export function clearLayout(page: Page) {
  memory(page).layout = "";
  clearGrid(page);
  clearMeasurements(page);
}

export function listenToHeads(page: Page) {
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
