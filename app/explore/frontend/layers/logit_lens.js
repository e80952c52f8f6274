// The logit lens: what each layer would say at each token; how surprising the tokens were; how long the residual stream is.

import { remembered } from "../../../../model/rendering/static/state/memory.js";
import { colour, paintScale, readableInk } from "../../../../model/rendering/static/ui/colours.js";
import {
  activeElement,
  createElement,
  formatPercent,
  inlineText,
  onHover,
  quotedToken,
  updateChildren,
} from "../../../../model/rendering/static/ui/dom.js";
import { find } from "../../../../model/rendering/static/ui/elements.js";
import { createHeading, onCellKey } from "./cell_table.js";
import { answerPosition, layerElement, showLayersMessage } from "./layer_panel.js";
import { drawResidualNorms } from "./residual_norms.js";
import { drawSurprise } from "./surprise.js";

/** @import { ExploreAnswer, ExplorePage, LensMeta, Tab } from "../types.js" */
/** @import { Found } from "../../../../model/rendering/static/types.js" */
/** @typedef {Found<LensMeta>} LensFound */

const WINDOW_SIZE = 32; // tokens that the server reads at a time

const memory = remembered((/** @type {ExplorePage} */ _page) => ({
  /** The window that somebody opened for an answer. */
  window: /** @type {{ answer: ExploreAnswer, open: number } | null} */ (null),
  drawn: /** @type {{ found: LensFound, asked: number } | null} */ (null),
  /** What was brought into sight. */
  scrolledTo: "",
}));

export default /** @type {Tab} */ ({ draw: drawLogitLens });

/** @param {ExplorePage} page */
function drawLogitLens(page) {
  drawResidualNorms(page);
  drawSurprise(page);
  const windows = Math.ceil(page.state.answer.tokens.length / WINDOW_SIZE);
  const { window } = memory(page);
  const open = window?.answer === page.state.answer ? window.open : Math.floor(answerPosition(page) / WINDOW_SIZE);
  drawWindows(page, open, windows);
  const found = page.server.get("logit_lens", { first: open * WINDOW_SIZE });
  if (!found) return;
  if (found.meta.error) return showLayersMessage(page, found.meta.error);
  drawTable(page, found);
}

/** @param {ExplorePage} page @param {number} open @param {number} windows */
function drawWindows(page, open, windows) {
  const bar = layerElement(page, "lens-windows");
  const { answer } = page.state;
  bar.hidden = windows < 2;
  const go = (/** @type {number} */ to) => {
    memory(page).window = { answer, open: to };
    drawLogitLens(page);
  };
  const [earlier, later] = ["earlier", "later"].map((name) => layerElement(page, `lens-${name}`, HTMLButtonElement));
  earlier.disabled = open === 0;
  later.disabled = open === windows - 1;
  earlier.onclick = () => go(open - 1);
  later.onclick = () => go(open + 1);
  const last = Math.min((open + 1) * WINDOW_SIZE, answer.tokens.length) - 1;
  find(bar, "span").textContent = `tokens ${open * WINDOW_SIZE} to ${last} of ${answer.tokens.length}`;
}

/**
 * What one cell says: its likeliest tokens with their shares, and the rank of the true token (0: not known).
 * @param {LensFound} found @param {number} depth @param {number} column
 */
export function readCell({ meta, numbers }, depth, column) {
  const size = 2 * meta.top_k + 2;
  const start = (depth * meta.count + column) * size;
  const cell = numbers.subarray(start, start + size);
  const tokens = Array.from(cell.subarray(0, meta.top_k), (token) => meta.token_texts[token]);
  return { tokens, shares: cell.subarray(meta.top_k, 2 * meta.top_k), rank: cell[size - 2] };
}

/** @param {number} depth @param {number} depths */
function depthName(depth, depths) {
  if (depth === 0) return "embedding";
  return depth === depths - 1 ? "the answer" : `after layer ${depth - 1}`;
}

/** @param {ExplorePage} page @param {LensFound} found */
function drawTable(page, found) {
  const { meta } = found;
  const table = layerElement(page, "lens", HTMLTableElement);
  const asked = answerPosition(page);
  const { drawn } = memory(page);
  if (drawn?.found === found && drawn.asked === asked && table.rows.length) return;
  memory(page).drawn = { found, asked };
  const rows = Array.from({ length: meta.depths }, (_, depth) => createRow(page, found, depth));
  updateChildren(table, createTokenRow(page, meta), ...rows, createTruthRow(page, meta));
  const cells = ['button[tabindex="0"]', "td.asked button", "button"].map(
    (selector) => /** @type {HTMLElement | null} */ (table.querySelector(selector)),
  );
  const start = cells.find((cell) => cell !== null);
  if (start) start.tabIndex = 0;
  table.onkeydown = (event) => onCellKey(table, event);
  paintScale(layerElement(page, "lens-scale", HTMLCanvasElement));
  scrollToPosition(page, table);
  if (table.contains(activeElement(table))) return; // it has been read, and goes on being read
  drawReadout(page, found, meta.depths - 1, Math.min(Math.max(asked - meta.first, 0), meta.count - 1));
}

/** @param {ExplorePage} page @param {LensMeta} meta */
function createTokenRow(page, { first, count }) {
  const row = createElement("tr");
  const headings = page.state.answer.tokens.slice(first, first + count).map(({ text }, column) => {
    const cell = createHeading("", "col");
    cell.classList.toggle("asked", first + column === answerPosition(page));
    cell.append(createElement("bdi", "", inlineText(text)));
    return cell;
  });
  row.append(createElement("th", "", "after reading"), ...headings);
  return row;
}

/** @param {ExplorePage} page @param {LensFound} found @param {number} depth */
function createRow(page, found, depth) {
  const row = createElement("tr");
  const cells = Array.from({ length: found.meta.count }, (_, column) => createCell(page, found, depth, column));
  row.append(createHeading(depthName(depth, found.meta.depths), "row"), ...cells);
  return row;
}

/** @param {ExplorePage} page @param {LensMeta} meta */
function createTruthRow(page, { targets, token_texts }) {
  const row = createElement("tr", "truth");
  const cells = targets.map((token) => {
    const cell = createElement("td");
    cell.append(createElement("bdi", "", token < 0 ? "?" : inlineText(token_texts[token])));
    return cell;
  });
  row.append(createHeading(page.state.answer.maskable ? "what was there" : "what really comes", "row"), ...cells);
  return row;
}

/**
 * Once for each answer the token at hand is brought into sight; after that the person scrolls.
 * @param {ExplorePage} page @param {HTMLTableElement} table
 */
function scrollToPosition(page, table) {
  const cell = /** @type {HTMLElement | null} */ (table.querySelector("td.asked"));
  const frame = table.parentElement;
  const place = `${page.state.answered} ${answerPosition(page)}`;
  if (!cell || !frame || memory(page).scrolledTo === place) return;
  memory(page).scrolledTo = place;
  frame.scrollLeft = cell.offsetLeft + cell.offsetWidth - frame.clientWidth + 8;
}

/** @param {ExplorePage} page @param {LensFound} found @param {number} depth @param {number} column */
function createCell(page, found, depth, column) {
  const position = found.meta.first + column;
  const { tokens, shares, rank } = readCell(found, depth, column);
  const cell = createElement("td", position === answerPosition(page) ? "asked" : "");
  const button = createElement("button");
  const ground = colour(Math.sqrt(shares[0]));
  button.tabIndex = -1;
  button.dataset.testid = `lens-${depth}-${position}`;
  button.style.background = `rgb(${ground.join(" ")})`;
  button.style.color = readableInk(ground);
  button.append(createElement("bdi", "", inlineText(tokens[0])), createElement("small", "", rank ? `#${rank}` : ""));
  const read = () => drawReadout(page, found, depth, column);
  button.onfocus = read;
  onHover(button, read);
  button.onclick = () =>
    page.change({ query: position === page.state.answer.tokens.length - 1 ? -1 : position, target_token: -1 });
  cell.append(button);
  return cell;
}

/** @param {ExplorePage} page @param {LensFound} found @param {number} depth @param {number} column */
function drawReadout(page, found, depth, column) {
  const { depths, first, targets, token_texts } = found.meta;
  const { tokens, shares, rank } = readCell(found, depth, column);
  const name = depthName(depth, depths);
  const words = tokens.flatMap((piece, place) => [
    place ? ", " : "",
    createElement("bdi", "token", inlineText(piece)),
    ` ${formatPercent(shares[place])}`,
  ]);
  const token = targets[column];
  const right =
    token < 0 ? [] : [" · true: ", createElement("bdi", "token", inlineText(token_texts[token])), `, rank ${rank}`];
  const at = quotedToken(page.state.answer.tokens[first + column]);
  layerElement(page, "lens-reading").replaceChildren(
    `${name[0].toUpperCase()}${name.slice(1)}, at `,
    ...at,
    ": ",
    ...words,
    ...right,
  );
}
