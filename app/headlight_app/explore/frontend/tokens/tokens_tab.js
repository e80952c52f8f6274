// The panel "From text to numbers": each token with its id in the vocabulary, its vector, and its position.

import { formatNumber } from "../../../ui/frontend/charts/charts.js";
import { hidpiContext, inlineText, quotedToken, truncateText } from "../../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../../ui/frontend/dom/elements.js";
import { GRID_STEPS, onArrows } from "../../../ui/frontend/dom/keyboard.js";
import { remembered } from "../../../ui/frontend/dom/memory.js";
import { table } from "../../../ui/frontend/dom/table.js";
import { currentStyle } from "../../../ui/frontend/plots/measurements.js";
import { currentGroup } from "../../../ui/frontend/state/head_selection.js";
import { tokensOf } from "../picture/picture.js";
import { drawStrip, inputVectors } from "../picture/vectors.js";

/** @import { InputVectors, Strips } from "../picture/vectors.js" */
/** @import { ExplorePage, Tab } from "../types.js" */
/**
 * The strip and the place under the pointer. @typedef {{ positions: boolean, row: number, channel: number }} Pointed
 */

const LINE = 22; // pixels of a token
const [WORDS, IDS, GAP] = [112, 58, 12];
const POSITIONS_SHARE = 0.3;
/** How positions enter the model, by place. @type {Record<InputVectors["places"], string>} */
const ENTRANCES = table({
  added: "are added to the vectors",
  rotated: "rotate queries and keys in every head; the sines of the angles are shown",
  scores: "are added to the scores of every head; head 0 is shown",
  "": "have no numbers of their own here",
});

const memory = remembered((/** @type {ExplorePage} */ _) => ({
  pointed: /** @type {Pointed} */ ({ positions: false, row: 0, channel: 0 }),
  /** The start and width of the strips. */
  strips: { x: 0, vector: 1, positions: 1 },
}));

export default /** @type {Tab} */ ({ draw: drawTokens });

/** @param {ExplorePage} page @param {string} name */
function element(page, name) {
  return findByTestId(page.view.panels.tokens, name);
}

/** @param {ExplorePage} page */
function drawTokens(page) {
  const group = currentGroup(page);
  const vectors = group && inputVectors(page, group.stack);
  listen(page);
  linkPositions(page);
  if (!vectors) return; // the old drawing stays until the numbers have arrived
  const { embedding, places, title } = vectors;
  element(page, "tokens-lesson").textContent =
    `The text is cut into tokens. Each token has an id in the vocabulary, and each id a learned list of ` +
    `${embedding.width.toLocaleString("en")} numbers, its vector: orange above zero, purple below. ` +
    `Positions (${title}) ${ENTRANCES[places]}.`;
  paint(page, vectors, group.stack);
  read(page);
}

/** Links to the page Positions with the current choices. @param {ExplorePage} page */
function linkPositions(page) {
  const link = /** @type {HTMLAnchorElement} */ (element(page, "positions-link"));
  link.href = `positions${location.search}`;
  link.onclick = () => {
    page.reporter.flush(); // the address contains all choices
    link.href = `positions${location.search}`;
  };
}

/** @param {ExplorePage} page @param {InputVectors} vectors @param {string} stack */
function paint(page, vectors, stack) {
  const { strips } = memory(page);
  const width = element(page, "vectors").clientWidth;
  const room = width - WORDS - IDS - 2 * GAP;
  strips.positions = vectors.positions.width ? Math.round(room * POSITIONS_SHARE) : 0;
  strips.vector = room - strips.positions;
  strips.x = WORDS + IDS;
  const canvas = /** @type {HTMLCanvasElement} */ (element(page, "vectors-canvas"));
  const context = hidpiContext(canvas, width, (vectors.embedding.rows + 1) * LINE);
  const { quiet, ink, font } = currentStyle(page);
  context.textBaseline = "middle";
  context.font = `12px ${font}`;
  context.fillStyle = quiet;
  context.fillText("token", 0, LINE / 2);
  context.fillText("id", WORDS, LINE / 2);
  context.fillText(`vector: ${vectors.embedding.width} channels`, strips.x, LINE / 2);
  if (strips.positions) context.fillText(`position: ${vectors.title}`, strips.x + strips.vector + GAP, LINE / 2);
  tokensOf(page, stack)
    .slice(vectors.first)
    .forEach(({ text, id }, row) => {
      const y = (row + 1) * LINE;
      context.fillStyle = ink;
      context.fillText(truncateText(context, inlineText(text), WORDS - GAP), 0, y + LINE / 2);
      context.fillStyle = quiet;
      if (id >= 0) context.fillText(String(id), WORDS, y + LINE / 2);
      drawStrip(context, vectors.embedding, row, [strips.x, y + 2, strips.vector, LINE - 4]);
      drawStrip(context, vectors.positions, row, [strips.x + strips.vector + GAP, y + 2, strips.positions, LINE - 4]);
    });
}

/** @param {ExplorePage} page */
function listen(page) {
  const place = element(page, "vectors");
  place.onmousemove = (event) => {
    const box = place.getBoundingClientRect();
    const { strips } = memory(page);
    const vectors = inputVectors(page, currentGroup(page).stack);
    if (!vectors) return;
    const row = Math.floor((event.clientY - box.top) / LINE) - 1;
    const x = event.clientX - box.left - strips.x;
    const positions = x > strips.vector + GAP / 2 && strips.positions > 0;
    const share = positions ? (x - strips.vector - GAP) / strips.positions : x / strips.vector;
    const { width } = positions ? vectors.positions : vectors.embedding;
    point(page, { positions, row, channel: Math.floor(share * width) });
  };
  onArrows(place, GRID_STEPS, ([down, right]) => {
    const { row, channel, positions } = memory(page).pointed;
    point(page, { positions, row: row + down, channel: channel + right });
  });
}

/** @param {ExplorePage} page @param {Pointed} pointed */
function point(page, pointed) {
  const vectors = inputVectors(page, currentGroup(page).stack);
  if (!vectors) return;
  const { rows, width } = pointed.positions ? vectors.positions : vectors.embedding;
  /** @param {number} value @param {number} count */
  const within = (value, count) => Math.min(Math.max(value, 0), count - 1);
  memory(page).pointed = {
    positions: pointed.positions,
    row: within(pointed.row, rows),
    channel: within(pointed.channel, width),
  };
  read(page);
}

/** @param {ExplorePage} page */
function read(page) {
  const { stack } = currentGroup(page);
  const vectors = inputVectors(page, stack);
  if (!vectors) return;
  const { positions, row, channel } = memory(page).pointed;
  const strips = positions ? vectors.positions : vectors.embedding;
  const token = tokensOf(page, stack)[vectors.first + row];
  if (!token || !strips.width) return;
  element(page, "vectors-reading").replaceChildren(
    quotedToken(token),
    `, ${positions ? "position" : "vector"}, channel ${channel} of ${strips.width}: ${numberAt(strips, row, channel)}`,
  );
}

/** @param {Strips} strips @param {number} row @param {number} channel */
function numberAt({ numbers, width }, row, channel) {
  return formatNumber(numbers[row * width + channel]);
}
