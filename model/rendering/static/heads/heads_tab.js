// The room of heads: all of them as thumbnails, and the chosen ones large.

import { clampHead, currentGrid, selectedHeads, toggleHeads } from "../state/head_selection.js";
import { setHover } from "../state/token_selection.js";
import { paintScale } from "../ui/colours.js";
import { drawChoices } from "../ui/dom.js";
import { listenToOptions } from "./display_options.js";
import { drawGrid, markHeads, metricsOf, onGridClick, onGridKey } from "./head_grid.js";
import { drawHeadMetrics } from "./head_metrics.js";
import { drawHeadPanel, markPointer } from "./head_panel.js";
import { clearMeasurements, currentStyle, measuredWidth } from "./measurements.js";
import { onPlotClick, onPlotKey, onPlotMove } from "./plot_events.js";
import { drawZoomButton, listenToZoom, loadPendingGrid } from "./zoom.js";

export const HEADS_TAB = {
  title: "Heads",

  /** `fresh`: there is a new answer, or other colours; else only a choice changed. */
  draw(self, fresh) {
    const grid = currentGrid(self);
    if (!grid) return;
    clampHead(self, grid);
    const room = self.rooms.heads;
    const large = self.choice.size === "large";
    if (room.classList.contains("large") !== large) clearMeasurements(self);
    room.classList.toggle("large", large);
    const laid = `${grid.name} ${self.choice.sort} ${Boolean(metricsOf(self, grid))} ${measuredWidth(self, "grid")} ${currentStyle(self).raised} ${devicePixelRatio}`;
    if (fresh || self.laid !== laid) drawGrid(self);
    self.laid = laid;
    drawAttentionChoices(self);
    markHeads(self);
    drawHeadMetrics(self);
    drawHeadPanel(self);
    drawZoomButton(self);
    loadPendingGrid(self).catch(() => {}); // the next answer says what is wrong
  },

  /** The pointer is at another token, or nowhere. */
  point: markPointer,
};

function drawAttentionChoices(self) {
  const { grids } = self.answer;
  self.parts.kinds.hidden = grids.length < 2;
  const options = grids.map((grid) => [grid.name, grid.title]);
  drawChoices(self.parts.kinds, "attention", options, currentGrid(self).name, (attention) => self.change({ attention }));
}

/** The elements that these pictures need: tokens, predictions, and all of the heads' panels. */
export function headElements(named) {
  return {
    tokens: named("tokens"), sourceTokens: named("source-tokens"), predictions: named("predictions"), kinds: named("kinds"),
    grid: named("grid"), habits: named("habits"), title: named("head-title"), off: named("head-switch"), collected: named("collected"),
    picture: named("picture"), options: named("options"), optionsButton: named("options-button"), grow: named("grow"),
    trouble: named("trouble"), stage: named("stage"), canvas: named("head-canvas"), prose: named("prose"), sheet: named("sheet"),
    gridScale: named("grid-scale"), low: named("low"), high: named("high"), scale: named("scale"), said: named("said"), reading: named("reading"),
  };
}

export function listenToHeads(self) {
  const { parts } = self;
  paintScale(parts.gridScale);
  parts.grid.onclick = (event) => onGridClick(self, event);
  parts.grid.onkeydown = (event) => onGridKey(self, event);
  parts.off.onclick = () => toggleHeads(self, selectedHeads(self));
  parts.stage.onmousemove = (event) => onPlotMove(self, event);
  parts.stage.onmouseleave = () => setHover(self, null);
  parts.stage.onclick = (event) => onPlotClick(self, event);
  parts.stage.onkeydown = (event) => onPlotKey(self, event);
  listenToOptions(self);
  listenToZoom(self);
}
