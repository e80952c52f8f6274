// The heads without a server: in a notebook's cell, or in a file that somebody saved. What the page would ask the server
// is answered from what came along: the weights of all heads as bytes, and perhaps one picture with its exact numbers.

import { HEADS_TAB, headElements, listenToHeads } from "./heads/heads_tab.js";
import { clearMeasurements } from "./heads/measurements.js";
import { drawPredictions } from "./heads/predictions.js";
import { drawTokenStrips } from "./heads/token_strip.js";
import { combineHeads, isPlainWeights, quantizedMatrix } from "./state/head_matrix.js";
import { currentGrid, selectedHeads } from "./state/head_selection.js";
import { createElement } from "./ui/dom.js";
import { fromBase64, inflate, readFloats, unpack } from "./ui/wire.js";

const DEFAULTS = {
  attention: "", layer: 0, head: 0, heads: [], sort: "layer", view: "weights", versus: "", other: "", rule: "mean", unit: "tokens",
  mass: 100, hide: "", rest: "as-is", pair: "", window: "", picture: "map", size: "panel", query: -1, locked: [], target: -1, edits: [], masked: [],
};
const FIXED = ["text", "source", "edits", "masked", "window"]; // choices that only a model could follow
const NOT_SAVED = "Only what was on the screen when this was saved is here, and the plain weights of all heads. Ask Headlight itself for more.";

/** Draws into `host` what Python's `show` has put together; `numbers` are bytes, deflated, as base64. */
async function openStandalone(host, style, body, meta, numbers) {
  const root = host.attachShadow({ mode: "open" });
  root.innerHTML = `<style>${style}</style>${body}`;
  const named = (name) => root.querySelector(`[data-testid="${name}"]`);
  const parts = { root: root.querySelector(".instrument"), board: root.querySelector(".board"), notes: named("notes"), ...headElements(named) };
  const { kinds, metrics, views } = meta;
  const self = { parts, rooms: { heads: named("room-heads") }, kinds, metrics, views, measured: {}, known: new Map(), hovered: null, serial: 0 };
  Object.assign(self, { change: (patch) => change(self, patch), wanted: (route, details) => savedAnswerTo(self, route, details) });
  Object.assign(self, { redraw: (fresh) => drawRoom(self, fresh), mark: () => HEADS_TAB.point(self) });
  self.choice = { ...DEFAULTS, ...meta.choice };
  self.answer = { ...meta, maskable: false, bytes: await inflate(numbers) };
  self.rooms.heads.hidden = false;
  named("view").hidden = kinds.length < 2;
  listenToHeads(self);
  followTheme(self, host);
  drawPage(self);
  new ResizeObserver(() => {
    clearMeasurements(self);
    drawRoom(self);
  }).observe(parts.board);
}


/** Dark where the notebook is dark; a file of its own follows the system. */
function followTheme(self, host) {
  const { body, documentElement } = document;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const own = "headlight" in documentElement.dataset;
  const dark = () => body.dataset.jpThemeLight === "false" || body.classList.contains("vscode-dark") || documentElement.getAttribute("theme") === "dark";
  const follow = () => {
    host.toggleAttribute("data-dark", own ? system.matches : dark());
    clearMeasurements(self);
    if (self.style) drawPage(self);
  };
  follow();
  if (own) system.onchange = follow;
}

function drawPage(self) {
  const { parts, answer } = self;
  parts.notes.replaceChildren(...answer.notes.map((note) => createElement("p", "", note)));
  parts.predictions.hidden = !answer.predictions.length;
  drawTokenStrips(self);
  drawPredictions(self);
  for (const button of parts.predictions.querySelectorAll("button")) button.disabled = true;
  drawRoom(self, true);
  parts.root.dataset.painted = "alone";
}

function drawRoom(self, fresh = false) {
  if (self.parts.board.clientWidth) HEADS_TAB.draw(self, fresh);
}

function change(self, patch) {
  const kept = Object.entries(patch).filter(([name]) => !FIXED.includes(name));
  self.choice = { ...self.choice, ...Object.fromEntries(kept) };
  self.serial++;
  self.hovered = null;
  drawRoom(self);
}

/** The answer that came along, null where the bytes of all heads hold it, else a sentence. */
function savedAnswerTo(self, route, { each, ...asked }) {
  const plain = route === "view" && isPlainWeights(self, asked);
  if (plain && !currentGrid(self).exact) return null;
  const key = `${route} ${JSON.stringify(asked)}`;
  if (!self.known.has(key)) self.known.set(key, plain ? { meta: {}, view: plainMatrix(self) } : savedAnswer(self, key));
  return self.known.get(key);
}

/** The weights with all their digits, as far as they came along. */
function plainMatrix(self) {
  const grid = currentGrid(self);
  const { bytes, grids } = self.answer;
  const last = grids.at(-1);
  const cells = last.offset + last.layers * last.heads * last.rows * last.columns;
  const all = new Float32Array(bytes.buffer, Math.ceil(cells / 4) * 4);
  const size = grid.rows * grid.columns;
  const each = selectedHeads(self).map(([layer, head]) => {
    const from = grid.offset + (layer * grid.heads + head) * size;
    return all.subarray(from, from + size);
  });
  const numbers = each.length > 1 ? combineHeads(each, self.choice.rule) : each[0];
  return { ...quantizedMatrix(self), each, numbers, exact: true };
}

function savedAnswer(self, key) {
  if (!self.views[key]) return { meta: { error: NOT_SAVED }, numbers: new Float32Array() };
  const { meta, start, buffer } = unpack(fromBase64(self.views[key]).buffer);
  return { meta, numbers: readFloats(buffer, start) };
}
