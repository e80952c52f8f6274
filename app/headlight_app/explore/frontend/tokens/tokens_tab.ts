// The panel "From text to numbers": each token with its id in the vocabulary, its vector, and its position.

import { hidpiContext, inlineText, quotedToken, truncateText } from "../../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../../ui/frontend/dom/elements.ts";
import { GRID_STEPS, onArrows } from "../../../ui/frontend/dom/keyboard.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import { formatCount, formatNumber } from "../../../ui/frontend/dom/numbers.ts";
import { table } from "../../../ui/frontend/dom/table.ts";
import { currentStyle } from "../../../ui/frontend/plots/measurements.ts";
import { currentGroup } from "../../../ui/frontend/state/head_selection.ts";
import { tokensOf } from "../picture/picture.ts";
import type { InputVectors, Strips } from "../picture/vectors.ts";
import { drawStrip, inputVectors } from "../picture/vectors.ts";
import type { ExplorePage, Tab } from "../types.ts";

/** The strip and the place under the pointer. */
type Pointed = { positions: boolean; row: number; channel: number };

const LINE = 22; // pixels of a token
const [WORDS, IDS, GAP] = [112, 58, 12];
const POSITIONS_SHARE = 0.3;
/** How positions enter the model, by place. */
const ENTRANCES: Record<InputVectors["places"], string> = table({
  added: "are added to the vectors",
  rotated: "rotate queries and keys in every head; the sines of the angles are shown",
  scores: "are added to the scores of every head; head 0 is shown",
  "": "have no numbers of their own here",
});

const memory = remembered((_: ExplorePage) => ({
  pointed: { positions: false, row: 0, channel: 0 } as Pointed,
  /** The start and width of the strips. */
  strips: { x: 0, vector: 1, positions: 1 },
}));

export default { draw: drawTokens } as Tab;

function element(page: ExplorePage, name: string) {
  return findByTestId(page.view.panels.tokens, name);
}

function drawTokens(page: ExplorePage) {
  const group = currentGroup(page);
  const vectors = group && inputVectors(page, group.stack);
  listen(page);
  linkPositions(page);
  if (!vectors) return; // the old drawing stays until the numbers have arrived
  const { embedding, places, title } = vectors;
  element(page, "tokens-lesson").textContent =
    `The text is cut into tokens. Each token has an id in the vocabulary, and each id a learned list of ` +
    `${formatCount(embedding.width)} numbers, its vector: orange above zero, purple below. ` +
    `Positions (${title}) ${ENTRANCES[places]}.`;
  paint(page, vectors, group.stack);
  read(page);
}

/** Links to the page Positions with the current choices. */
function linkPositions(page: ExplorePage) {
  const link = element(page, "positions-link") as HTMLAnchorElement;
  link.href = `positions${location.search}`;
  link.onclick = () => {
    page.reporter.flush(); // the address contains all choices
    link.href = `positions${location.search}`;
  };
}

function paint(page: ExplorePage, vectors: InputVectors, stack: string) {
  const { strips } = memory(page);
  const width = element(page, "vectors").clientWidth;
  const room = width - WORDS - IDS - 2 * GAP;
  strips.positions = vectors.positions.width ? Math.round(room * POSITIONS_SHARE) : 0;
  strips.vector = room - strips.positions;
  strips.x = WORDS + IDS;
  const canvas = element(page, "vectors-canvas") as HTMLCanvasElement;
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

function listen(page: ExplorePage) {
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

function point(page: ExplorePage, pointed: Pointed) {
  const vectors = inputVectors(page, currentGroup(page).stack);
  if (!vectors) return;
  const { rows, width } = pointed.positions ? vectors.positions : vectors.embedding;
  const within = (value: number, count: number) => Math.min(Math.max(value, 0), count - 1);
  memory(page).pointed = {
    positions: pointed.positions,
    row: within(pointed.row, rows),
    channel: within(pointed.channel, width),
  };
  read(page);
}

function read(page: ExplorePage) {
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

function numberAt({ numbers, width }: Strips, row: number, channel: number) {
  return formatNumber(numbers[row * width + channel]);
}
