// The large view of the selected heads: one of several plots of the same matrix, with title, legend and reading.

import { HEAD_COLOURS, paintScale, SIGNED_COLOURS, WEIGHT_COLOURS } from "../charts/colours.ts";
import { blit, createButton, createElement, drawChoices, optionsOf, updateChildren } from "../dom/dom.ts";
import { remembered } from "../dom/memory.ts";
import { table } from "../dom/table.ts";
import { ATTENTION_LINES } from "../plots/attention_lines.ts";
import { ATTENTION_MAP } from "../plots/attention_map.ts";
import { IMAGE_OVERLAY } from "../plots/image_overlay.ts";
import { measuredWidth } from "../plots/measurements.ts";
import { NUMBER_TABLE } from "../plots/number_table.ts";
import { QUERY_KEY_PLOT } from "../plots/query_key_plot.ts";
import { largestSum, SHADED_TEXT } from "../plots/shaded_text.ts";
import { SOUND_PLOT } from "../plots/sound_plot.ts";
import { beyondEnd } from "../state/colour_range.ts";
import { isOff } from "../state/head_ablation.ts";
import { currentMatrix, matrixStatus, shownMatrix } from "../state/head_matrix.ts";
import { currentGroup, selectedHeads, selectHead } from "../state/head_selection.ts";
import { keysAreFrames, keysArePatches } from "../state/token_selection.ts";
import type { Head, HeadMatrix, Page, Plot } from "../types.ts";
import { drawOptions } from "./display_options.ts";
import { drawReadout, formatBrief } from "./readout.ts";
import { shadeTokens } from "./token_strip.ts";

const PLOTS: Readonly<Record<string, Plot>> = table({
  overlay: IMAGE_OVERLAY,
  sound: SOUND_PLOT,
  heatmap: ATTENTION_MAP,
  lines: ATTENTION_LINES,
  text: SHADED_TEXT,
  table: NUMBER_TABLE,
  qk_projection: QUERY_KEY_PLOT,
});

const memory = remembered(() => ({ paper: document.createElement("canvas"), drawn: "" }));

/** The plots available for the current attention, with their names. */
function availablePlots(page: Page) {
  const read = keysArePatches(page) ? "image" : keysAreFrames(page) ? "sound" : "text";
  const isAnswered = ({ needs }: Plot) => !needs || page.server.answers(needs);
  return page.state.catalogue.plots.filter(({ name, reads }) => (!reads || reads === read) && isAnswered(PLOTS[name]));
}

/** The name of the plot that is open. */
export function activePlot(page: Page) {
  const names = availablePlots(page).map(({ name }) => name);
  return names.includes(page.state.choice.plot) ? page.state.choice.plot : names[0];
}

export function openPlot(page: Page) {
  return PLOTS[activePlot(page)];
}

/** Draws the whole panel of the selected heads. */
export function drawHeadPanel(page: Page) {
  const open = activePlot(page);
  const matrix = currentMatrix(page);
  const { trouble, late } = matrixStatus(page);
  const { elements } = page.view;
  drawTitle(page);
  drawOptions(page);
  elements.trouble.hidden = !trouble;
  elements.trouble.textContent = trouble;
  elements.stage.hidden = elements.legend.hidden = elements.reading.hidden = Boolean(trouble);
  for (const name of ["canvas", "prose", "sheet"] as const)
    elements[name].hidden = name !== (PLOTS[open].element ?? "canvas");
  elements.stage.dataset.picture = open;
  const width = measuredWidth(page, "stage");
  const drawn = `${open} ${width}`;
  // A plot that is about to be replaced is not redrawn: its labels may belong to another text.
  if (trouble || (late && memory(page).drawn === drawn)) return;
  memory(page).drawn = drawn;
  if (width) paintPlot(page, (paper) => PLOTS[open].draw(page, matrix, width, paper));
  drawDetails(page, matrix);
}

/** Call when the pointer has moved: repaints only marks, if the plot can do that. */
export function markPointer(page: Page) {
  const matrix = shownMatrix(page);
  if (!matrix || matrixStatus(page).trouble) return;
  const plot = openPlot(page);
  const width = measuredWidth(page, "stage");
  if (width) paintPlot(page, (paper) => (plot.mark ? plot.mark(page, matrix) : plot.draw(page, matrix, width, paper)));
  drawDetails(page, matrix);
}

/**
 * Paints on a separate canvas, then copies it: on a canvas in the page, setting a font would force a layout each time.
 */
function paintPlot(page: Page, draw: (paper: HTMLCanvasElement) => void) {
  const { canvas } = page.view.elements;
  draw(memory(page).paper);
  if (!canvas.hidden) blit(memory(page).paper, canvas);
}

function drawDetails(page: Page, matrix: HeadMatrix) {
  drawLegend(page, matrix);
  drawReadout(page, matrix);
  shadeTokens(page, matrix);
}

function drawTitle(page: Page) {
  const { elements } = page.view;
  const group = currentGroup(page);
  const heads = selectedHeads(page);
  const [[layer, head]] = heads;
  const off = heads.every((one) => isOff(page.state.choice.edits, group, ...one));
  const several = heads.length > 1;
  elements.title.textContent = several ? `${heads.length} heads` : `Layer ${layer} · Head ${head}`;
  elements.off.ariaChecked = String(!off);
  elements.off.ariaLabel = several ? `The ${heads.length} selected heads` : `Head ${head} of layer ${layer}`;
  const word = elements.off.lastElementChild;
  if (word) word.textContent = off ? "off" : "on";
  const plots = availablePlots(page);
  drawChoices(elements.picture, "plot", optionsOf(plots), activePlot(page), (plot) => page.change({ plot }));
  plots.forEach(({ description }, place) => {
    if (description) elements.picture.children[place].setAttribute("title", description);
  });
  elements.selectedHeads.hidden = !several;
  if (several)
    updateChildren(
      elements.selectedHeads,
      ...heads.map((one, place) => headPill(page, one, place)),
      createButton("pill all", "Clear selection", "clear-selection", () => page.change({ heads: [] })),
    );
}

function headPill(page: Page, [layer, head]: Head, place: number) {
  const pill = createElement("button", "pill", `L${layer} H${head}`, { title: "Remove this head from the selection" });
  const mark = createElement("i", `swatch${place >= HEAD_COLOURS.length ? " broken" : ""}`);
  mark.style.setProperty("--mine", HEAD_COLOURS[place % HEAD_COLOURS.length]);
  pill.prepend(mark);
  pill.onclick = () => selectHead(page, layer, head, true);
  return pill;
}

/** The scale with its ends, and a description of every step that made the picture. */
function drawLegend(page: Page, matrix: HeadMatrix) {
  const { elements } = page.view;
  const open = activePlot(page);
  const own = open === "text" && Number.isFinite(largestSum(page)); // the shades of a text end at its largest number
  const high = own ? largestSum(page) : matrix.high;
  const end = (number: number) =>
    matrix.scale === "probability" && Number.isInteger(number) ? String(number) : formatBrief(matrix, number);
  elements.low.textContent = end(own && matrix.signed ? -high : matrix.low);
  elements.high.textContent = `${open === "heatmap" ? "" : "to "}${end(high)}${own ? "" : beyondEnd(matrix.fitted)}`;
  elements.low.hidden = elements.high.hidden = Boolean(PLOTS[open].scaleText); // scaleText describes them
  elements.scale.hidden = open !== "heatmap";
  elements.colourRange.hidden = matrix.scale !== "probability" || open === "text" || elements.low.hidden;
  if (open === "heatmap") paintScale(elements.scale, matrix.signed ? SIGNED_COLOURS : WEIGHT_COLOURS);
  const scale = {
    probability: "square-root scale",
    sqrt: "square-root scale",
    linear: matrix.signed ? "white at zero" : "linear scale",
  }[matrix.scale];
  const several =
    matrix.per_head.length > 1 && open === "lines" ? "a colour for each head, the sentence for all together" : "";
  elements.rules.textContent = [
    ...matrix.rules,
    open === "heatmap" ? scale : open === "text" ? "strongest at the largest" : PLOTS[open].scaleText?.(matrix),
    several,
  ]
    .filter(Boolean)
    .join(" · ");
}
