// The room of layers: what each layer would say, what each part adds, where it came from, and what goes without a head.

import { currentGrid } from "../../../../model/rendering/static/state/head_selection.js";
import { urlPosition } from "../../../../model/rendering/static/state/token_selection.js";
import { divergingColour, fillSelect, formatShort, formatSigned, tokenOptions } from "../../../../model/rendering/static/ui/charts.js";
import { createElement, drawChoices, formatPercent, inlineText, onHover, updateChildren } from "../../../../model/rendering/static/ui/dom.js";
import { drawAblation } from "./ablation.js";
import { drawContributions } from "./contributions.js";
import { drawFlow } from "./information_flow.js";
import { drawLogitLens } from "./logit_lens.js";

const LAYER_PANELS = [["lens", "Logit lens"], ["parts", "Contributions"], ["flow", "Flow"], ["ablation", "Ablate all"]];
export const LAYERS_TAB = { title: "Layers", draw: drawLayers };

export function layerElement(self, name) {
  return self.rooms.layers.querySelector(`[data-testid="${name}"]`);
}

export function drawLayers(self) {
  const panel = LAYER_PANELS.some(([name]) => name === self.choice.panel) ? self.choice.panel : "lens";
  drawChoices(layerElement(self, "layers-panels"), "panel", LAYER_PANELS, panel, (name) => self.change({ panel: name }));
  for (const section of self.rooms.layers.querySelectorAll("[data-panel]")) section.hidden = section.dataset.panel !== panel;
  showLayersMessage(self, "");
  drawAnswerSelects(self, panel);
  ({ lens: drawLogitLens, parts: drawContributions, flow: drawFlow, ablation: drawAblation })[panel](self);
}

/** A sentence in place of a picture that this model does not have. */
export function showLayersMessage(self, sentence) {
  const silent = layerElement(self, "layers-silent");
  silent.textContent = sentence;
  silent.hidden = !sentence;
  if (sentence) for (const section of self.rooms.layers.querySelectorAll("[data-panel]")) section.hidden = true;
}

/** The token at which an answer is asked for. Answers are of the text, whatever attention is looked at. */
export function answerPosition(self) {
  const { query } = self.choice;
  const { tokens, maskable } = self.answer;
  if (query >= 0 && query < tokens.length) return query;
  const masked = maskable ? tokens.findIndex((token) => token.masked) : -1;
  return masked >= 0 ? masked : tokens.length - 1;
}

function drawAnswerSelects(self, panel) {
  const { tokens, predictions, grids } = self.answer;
  const room = self.rooms.layers;
  const part = (name) => room.querySelector(`[data-part="${name}"]`);
  const position = answerPosition(self);
  fillSelect(layerElement(self, "layers-query"), tokenOptions(tokens), position, (value) =>
    self.change({ query: urlPosition(self, Number(value)), target: -1 }),
  );
  const said = predictions.find((prediction) => prediction.position === position) || predictions.find(() => predictions.length === 1);
  const options = (said?.candidates || []).map((item) => [item.id, `${inlineText(item.piece)}  ${formatPercent(item.after)}`]);
  const listed = options.some(([id]) => id === self.choice.target);
  if (self.choice.target >= 0 && !listed) options.push([self.choice.target, `token ${self.choice.target}`]);
  part("answers").hidden = panel === "lens" || panel === "flow" || !predictions.length;
  fillSelect(layerElement(self, "layers-target"), [[-1, "the likeliest"], ...options], self.choice.target, (value) => self.change({ target: Number(value) }));
  part("attentions").hidden = panel !== "ablation" || grids.length < 2;
  fillSelect(layerElement(self, "layers-attention"), grids.map(({ name, title }) => [name, title]), currentGrid(self)?.name, (attention) => self.change({ attention }));
}

/** Chooses a head from any picture of the room. */
export function selectHeadOf(self, layer, head, kind) {
  const { grids } = self.answer;
  const grid = grids.find((other) => kind && other.stack === grids[0].stack && other.kind === kind) || currentGrid(self);
  self.change({ attention: grid.name, layer, head });
}

export function isCurrentHead(self, layer, head, kind) {
  const grid = currentGrid(self);
  return layer === self.choice.layer && head === self.choice.head && (!kind || grid.kind === kind);
}

/**
 * A table of cells with a colour on either side of zero. `rows` are { label, cells }, a cell { value, title, head } or
 * null; arrow keys walk, and a cell that stands for a head chooses it.
 */
export function drawCellTable(self, table, columns, rows, { most, read, pick }) {
  const head = createElement("tr");
  head.append(createElement("th"), ...columns.map((column) => { const cell = createElement("th", "", column); cell.scope = "col"; return cell; }));
  const lines = rows.map(({ label, cells }) => {
    const line = createElement("tr");
    const name = createElement("th", "", label);
    name.scope = "row";
    line.append(name, ...cells.map((cell) => createCell(self, cell, { most, read, pick })));
    return line;
  });
  updateChildren(table, head, ...lines);
  const buttons = [...table.querySelectorAll("button")];
  const first = buttons.find((button) => button.classList.contains("chosen")) || buttons[0];
  if (first && !table.querySelector('button[tabindex="0"]')) first.tabIndex = 0;
  table.onkeydown = (event) => onCellKey(table, event);
}

function createCell(self, cell, { most, read, pick }) {
  const place = createElement("td");
  if (!cell) return place;
  const button = createElement("button", cell.chosen ? "chosen" : "", cell.value === null ? "" : formatShort(cell.value));
  button.type = "button";
  button.tabIndex = -1;
  button.style.background = cell.value === null ? "" : divergingColour(cell.value / most);
  button.setAttribute("aria-label", `${cell.title}${cell.value === null ? "" : `: ${formatSigned(cell.value)}`}`);
  if (cell.testid) button.dataset.testid = cell.testid;
  button.onfocus = () => read(cell);
  onHover(button, button.onfocus, () => read(null));
  if (cell.head >= 0) button.onclick = () => pick(cell);
  place.append(button);
  return place;
}

export function onCellKey(table, event) {
  const by = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
  const here = event.target.closest("td");
  if (!by || !here) return;
  event.preventDefault();
  let [row, column] = [here.parentElement.rowIndex, here.cellIndex];
  for (;;) {
    row += by[0];
    column += by[1];
    const cell = table.rows[row]?.cells[column];
    if (!cell || column < 1) return;
    const next = cell.querySelector("button");
    if (!next) continue;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    return next.focus();
  }
}

/** A list of the largest numbers as bars from zero, which stands where there is room. `entries` are { title, value, pick? }. */
export function drawRankedBars(list, entries) {
  const values = entries.filter(({ total }) => !total).map(({ value }) => value);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const zero = (100 * -low) / (high - low || 1);
  list.style.setProperty("--zero", `${zero}%`);
  const items = entries.map(({ title, value, pick, total }) => {
    const item = createElement("li", total ? "total" : "");
    const name = pick ? createElement("button", "name", title) : createElement("span", "name", title);
    if (pick) {
      name.type = "button";
      name.onclick = pick;
    }
    const track = createElement("span", "track");
    const bar = createElement("i", value < 0 ? "minus" : "plus");
    bar.style.width = `${(100 * Math.abs(value)) / (high - low || 1)}%`;
    if (!total) track.append(bar);
    item.append(name, track, createElement("output", "", formatSigned(value)));
    return item;
  });
  updateChildren(list, ...items);
}
