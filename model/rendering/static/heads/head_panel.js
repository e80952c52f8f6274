// The chosen heads, large: one of several pictures of one view, and the words that go with all of them.

import { drawAttentionLines, lineTokenAt } from "../plots/attention_lines.js";
import { drawImageOverlay, imageArrowStep, imageTokenAt, scaleText } from "../plots/image_overlay.js";
import { drawTable, markTable, tableTokenAt } from "../plots/number_table.js";
import { drawQueryKeyPlot, pointTokenAt } from "../plots/query_key_plot.js";
import { drawShadedText, shadeWords, wordTokenAt } from "../plots/shaded_text.js";
import { currentMatrix, matrixCodes, tokensAt } from "../state/head_matrix.js";
import { currentGrid, isOff, selectHead, selectedHeads } from "../state/head_selection.js";
import { activeRows, hoveredColumn } from "../state/token_selection.js";
import { HEAD_COLOURS, SIGNED_COLOURS, WEIGHT_COLOURS, paintCodes, paintScale } from "../ui/colours.js";
import { blit, createElement, drawChoices, updateChildren } from "../ui/dom.js";
import { cellAtPointer, drawHeatmap } from "../ui/heatmap.js";
import { drawOptions } from "./display_options.js";
import { currentStyle, measuredWidth, plotHeight } from "./measurements.js";
import { drawReadout, formatBrief } from "./readout.js";
import { shadeTokens } from "./token_strip.js";

// A row may be for models of texts or of pictures `only`, have words of its own for its scale, and keys of its own.
export const PLOTS = Object.freeze({
  photo: { title: "Picture", draw: drawImageOverlay, under: imageTokenAt, jump: imageArrowStep, only: "pictures", scale: scaleText },
  map: { title: "Map", draw: drawAttentionMap, under: mapTokenAt },
  lines: { title: "Lines", draw: drawAttentionLines, under: lineTokenAt },
  text: { title: "Text", only: "texts", draw: drawShadedText, mark: shadeWords, under: wordTokenAt },
  table: { title: "Table", draw: drawTable, mark: markTable, under: tableTokenAt },
  points: { title: "q · k", about: "Queries and keys of the head in one plane", draw: drawQueryKeyPlot, under: pointTokenAt },
});

/** The names and rows of the pictures that there are of what the model read. */
function availablePlots(self) {
  const read = self.answer.patches ? "pictures" : "texts";
  return Object.entries(PLOTS).filter(([, { only }]) => !only || only === read);
}

export function activePlot(self) {
  const names = availablePlots(self).map(([name]) => name);
  return names.includes(self.choice.picture) ? self.choice.picture : names[0];
}

/** Everything in the panel of the chosen heads. */
export function drawHeadPanel(self) {
  const open = activePlot(self);
  const view = currentMatrix(self);
  const { parts } = self;
  drawTitle(self);
  drawOptions(self);
  parts.trouble.hidden = !self.trouble;
  parts.trouble.textContent = self.trouble;
  parts.stage.hidden = Boolean(self.trouble);
  parts.canvas.hidden = !["map", "lines", "points", "photo"].includes(open);
  parts.prose.hidden = open !== "text";
  parts.sheet.hidden = open !== "table";
  parts.stage.dataset.picture = open;
  const width = measuredWidth(self, "stage");
  const drawn = `${open} ${width}`;
  // A picture that is about to be replaced stays as it is: its words may be about another text.
  if (self.trouble || (self.late && self.drawnHead === drawn)) return;
  self.drawnHead = drawn;
  self.style = currentStyle(self);
  if (width) paintPlot(self, PLOTS[open].draw, view, width);
  drawDetails(self, view);
}

/** The pointer has moved: only marks are painted anew, where a picture can do that. */
export function markPointer(self) {
  if (!self.shown || self.trouble) return;
  const { draw, mark } = PLOTS[activePlot(self)];
  const width = measuredWidth(self, "stage");
  if (width) paintPlot(self, mark || draw, self.shown, width);
  drawDetails(self, self.shown);
}

/** Painted aside, then put up: on the page itself each font that is set would first lay out all that has changed. */
function paintPlot(self, draw, view, width) {
  const { canvas } = self.parts;
  self.paper ??= document.createElement("canvas");
  draw(self, view, width);
  if (!canvas.hidden) blit(self.paper, canvas);
}

function drawDetails(self, view) {
  drawLegend(self, view);
  drawReadout(self, view);
  shadeTokens(self, view);
}

function drawTitle(self) {
  const { parts } = self;
  const grid = currentGrid(self);
  const heads = selectedHeads(self);
  const [[layer, head]] = heads;
  const off = heads.every((one) => isOff(self, grid, ...one));
  const several = heads.length > 1;
  parts.title.textContent = several ? `${heads.length} heads` : `Layer ${layer} · Head ${head}`;
  parts.off.setAttribute("aria-checked", String(!off));
  parts.off.setAttribute("aria-label", several ? `The ${heads.length} collected heads` : `Head ${head} of layer ${layer}`);
  parts.off.lastElementChild.textContent = off ? "off" : "on";
  drawChoices(parts.picture, "picture", availablePlots(self).map(([name, { title }]) => [name, title]), activePlot(self), (picture) => self.change({ picture }));
  parts.picture.lastChild.title = PLOTS.points.about;
  parts.collected.hidden = !several;
  if (several) updateChildren(parts.collected, ...heads.map((one, place) => headPill(self, one, place)), clearSelectionButton(self));
}

function headPill(self, [layer, head], place) {
  const pill = createElement("button", "pill", `L${layer} H${head}`);
  pill.type = "button";
  pill.title = "Leave this head out";
  const mark = createElement("i", `swatch${place >= HEAD_COLOURS.length ? " broken" : ""}`);
  mark.style.setProperty("--mine", HEAD_COLOURS[place % HEAD_COLOURS.length]);
  pill.prepend(mark);
  pill.onclick = () => selectHead(self, layer, head, true);
  return pill;
}

function clearSelectionButton(self) {
  const all = createElement("button", "pill all", "Let go");
  all.type = "button";
  all.dataset.testid = "let-go";
  all.onclick = () => self.change({ heads: [] });
  return all;
}

/** The scale with its ends, and every rule by which the picture was made. */
function drawLegend(self, view) {
  const { parts } = self;
  const open = activePlot(self);
  const own = open === "text" && Number.isFinite(self.darkest); // a text's shades end at its largest number
  const high = own ? self.darkest : view.high;
  const end = (number) => (view.scale === "share" && Number.isInteger(number) ? String(number) : formatBrief(view, number));
  parts.low.textContent = end(own && view.signed ? -high : view.low);
  parts.high.textContent = open === "map" ? end(high) : `to ${end(high)}`;
  parts.low.hidden = parts.high.hidden = Boolean(PLOTS[open].scale); // which a word describes
  parts.scale.hidden = open !== "map";
  if (open === "map") paintScale(parts.scale, view.signed ? SIGNED_COLOURS : WEIGHT_COLOURS);
  const scale = { share: "square-root scale", root: "square-root scale", linear: view.signed ? "white at zero" : "linear scale" }[view.scale];
  const several = view.each.length > 1 && open === "lines" ? "a colour for each head, words for all together" : "";
  parts.said.textContent = [...view.said, open === "map" ? scale : open === "text" ? "strongest at the largest" : PLOTS[open].scale?.(view), several].filter(Boolean).join(" · ");
}

function drawAttentionMap(self, view, width) {
  const image = (self.small ??= document.createElement("canvas"));
  paintCodes(image, matrixCodes(view), view.height, view.width, view.signed ? SIGNED_COLOURS : WEIGHT_COLOURS);
  const rows = activeRows(self, view);
  const column = hoveredColumn(self, view);
  self.map = drawHeatmap(self.paper, width, {
    queries: view.rows.names.map((piece) => ({ piece })),
    keys: view.columns.names.map((piece) => ({ piece })),
    image,
    alpha: 1,
    ground: view.signed,
    tall: plotHeight(self),
    hot: { query: rows.at(-1) ?? null, key: column ?? null },
    rows,
    style: self.style,
  });
}


function mapTokenAt(self, event) {
  const cell = cellAtPointer(self.parts.canvas, self.map, event);
  return cell && tokensAt(self.shown, cell.query, cell.key);
}
