// One picture from text to prediction, updated with each keystroke. A click on a part opens it below.

import { answerNumber } from "../../../ui/frontend/charts/answer_numbers.ts";
import { paintCodes, weightColours } from "../../../ui/frontend/charts/colours.ts";
import {
  blit,
  createElement,
  hidpiContext,
  inlineText,
  truncateText,
  updateChildren,
} from "../../../ui/frontend/dom/dom.ts";
import { LIST_STEPS, onArrows } from "../../../ui/frontend/dom/keyboard.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import { bringIntoSight } from "../../../ui/frontend/dom/scrolling.ts";
import { table } from "../../../ui/frontend/dom/table.ts";
import { maxPool } from "../../../ui/frontend/heads/thumbnails.ts";
import { currentStyle } from "../../../ui/frontend/plots/measurements.ts";
import { gridHigh } from "../../../ui/frontend/state/colour_range.ts";
import { isOff } from "../../../ui/frontend/state/head_ablation.ts";
import { patternCodes } from "../../../ui/frontend/state/head_matrix.ts";
import { currentGroup, isSelected } from "../../../ui/frontend/state/head_selection.ts";
import { offersTab } from "../offered.ts";
import type { AttentionGroup, ExplorePage, Token } from "../types.ts";
import type { Block, Part, Row } from "./parts.ts";
import { headAt, isOpen, miniatures, partChoice, pictureRows } from "./parts.ts";
import { drawStrip, inputVectors } from "./vectors.ts";

type Drawn = { part: Part; button: HTMLButtonElement; canvas: HTMLCanvasElement | null };

/** The room in pixels for a layer's heads and for the input, by the width of the picture, as in the style sheet. */
const SIZES = [
  { most: 620, heads: [184, 24], tokens: 96, vector: 76, positions: 44 }, // layers are stacked
  { most: 860, heads: [48, 40], tokens: 50, vector: 34, positions: 22 },
  { most: 1000, heads: [76, 40], tokens: 50, vector: 34, positions: 22 },
  { most: Number.POSITIVE_INFINITY, heads: [76, 40], tokens: 66, vector: 76, positions: 44 },
];
const INPUT = { line: 13, rows: 7 }; // pixels per line, and the maximum number of rows
const GAP = 8;
const LOWEST = 2 / 3; // of the window's height, where what a click opens may begin
/** The names of parts, and what is left of them where the tab that they open is absent. */
const NAMES: Partial<Record<Part["kind"], { tab: string; name: string; alone: string }>> = table({
  input: { tab: "tokens", name: "tokens → vectors + positions", alone: "tokens" },
  prediction: { tab: "layers", name: "prediction by layer", alone: "prediction" },
});

const memory = remembered((_: ExplorePage) => ({
  shape: "",
  drawn: [] as Drawn[],
  /** The picture's width, measured once: measuring it while drawing would force a layout of the whole page. */
  width: 0,
  stamp: document.createElement("canvas"),
  /** A canvas off the page: setting a font on a canvas in the page would force a layout. */
  paper: document.createElement("canvas"),
}));

export function drawPicture(page: ExplorePage) {
  const { answer, choice, catalogue } = page.state;
  const { modelPicture: picture } = page.view.elements;
  const rows = pictureRows(answer.attention_groups, catalogue.has_feed_forward, choice.layer);
  picture.hidden = !rows.length;
  if (!rows.length) return;
  memory(page).width ||= picture.clientWidth;
  const shape = JSON.stringify([
    rows,
    memory(page).width <= SIZES[0].most,
    answer.attention_groups.map(({ heads }) => heads),
  ]);
  if (memory(page).shape !== shape) buildPicture(page, rows);
  memory(page).shape = shape;
  const { drawn } = memory(page);
  for (const one of drawn) drawPart(page, one);
  const stop = drawn.find(({ button }) => button.hasAttribute("aria-current") && !button.disabled) ?? drawn[0];
  for (const { button } of drawn) button.tabIndex = button === stop.button ? 0 : -1;
}

/** Clears the measured width when the window or the layout changes. */
export function clearPicture(page: ExplorePage) {
  memory(page).width = 0;
}

function buildPicture(page: ExplorePage, rows: Row[]) {
  const { modelPicture: picture } = page.view.elements;
  memory(page).drawn = [];
  const lines = rows.map((row) => {
    const layers = createElement("div", "layers", [...row.blocks.map((block) => createBlock(page, block))]);
    const input = createPart(page, row.input, createElement("canvas"));
    const line = createElement("div", "flow", [input, layers]);
    if (row.prediction) line.append(createPart(page, row.prediction, null));
    return line;
  });
  updateChildren(picture, ...lines);
  onArrows(picture, LIST_STEPS, (step) => movePart(page, step));
}

function createBlock(page: ExplorePage, { first, last, parts }: Block) {
  const block = createElement("div", "block");
  block.append(createElement("span", "name", first === last ? `layer ${first}` : `${first} to ${last}`));
  for (const part of parts)
    block.append(createPart(page, part, part.kind === "heads" ? createElement("canvas") : null));
  return block;
}

function createPart(page: ExplorePage, part: Part, canvas: HTMLCanvasElement | null) {
  const button = createElement("button", `part ${part.kind}`, [], { testid: partName(part) });
  const name = nameOf(page, part);
  if (name) button.append(createElement("span", "name", name));
  if (canvas) button.append(canvas);
  canvas?.setAttribute("aria-hidden", "true");
  if (part.kind === "network") button.append("feed-forward");
  if (part.kind === "layers") button.append("···");
  button.onclick = (event) => enterPart(page, part, canvas, event);
  memory(page).drawn.push({ part, button, canvas });
  return button;
}

function partName({ kind, stack, attention, layer }: Part) {
  if (kind === "prediction") return "part-prediction";
  if (kind === "input") return `part-input-${stack}`;
  return `part-${kind}-${kind === "network" ? stack : attention}-${layer}`;
}

function choiceOf(page: ExplorePage, part: Part) {
  const { attention_groups, predictions } = page.state.answer;
  const answering = attention_groups.some(({ stack }) => stack === "decoder") ? "decoder" : "encoder";
  const choice = partChoice(part, { answers: part.stack === answering, predicts: predictions.length > 0 });
  return choice?.tab && offersTab(page, choice.tab) ? choice : null;
}

/** Opens a part below the picture, and brings it into sight. */
function enterPart(page: ExplorePage, part: Part, canvas: HTMLCanvasElement | null, event: MouseEvent) {
  const choice = choiceOf(page, part);
  if (!choice) return;
  page.change({ ...choice, ...headUnder(page, part, canvas, event) });
  bringIntoSight(page.view.elements.board, LOWEST);
}

/** The head of a layer under the pointer; nothing if there is none, or if a key was pressed. */
function headUnder(page: ExplorePage, part: Part, canvas: HTMLCanvasElement | null, event: MouseEvent) {
  const group = groupOf(page, part);
  if (part.kind !== "heads" || !canvas || !group || !event.detail) return {};
  const box = canvas.getBoundingClientRect();
  const head = headAt(layoutOf(page, group), group.heads, event.clientX - box.left, event.clientY - box.top);
  return head === null ? {} : { head };
}

function groupOf(page: ExplorePage, { attention }: Part) {
  return page.state.answer.attention_groups.find(({ name }) => name === attention);
}

function movePart(page: ExplorePage, step: number) {
  const buttons = memory(page)
    .drawn.map(({ button }) => button)
    .filter((button) => !button.disabled);
  const here = buttons.findIndex((button) => button.matches(":focus"));
  const next = buttons[(here + step + buttons.length) % buttons.length];
  for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
  next.focus();
}

function drawPart(page: ExplorePage, { part, button, canvas }: Drawn) {
  const { choice } = page.state;
  const open = isOpen(part, choice, currentGroup(page).name);
  if (open) button.ariaCurrent = "true";
  else button.ariaCurrent = null;
  button.closest(".block")?.classList.toggle("open", part.kind === "heads" && part.layer === choice.layer);
  button.disabled = !choiceOf(page, part);
  const words = partWords(page, part);
  const name = nameOf(page, part);
  button.ariaLabel = name ? `${name}: ${words}` : words;
  button.title = words;
  if (part.kind === "input" && canvas) drawInput(page, part, canvas);
  if (part.kind === "heads" && canvas) drawHeads(page, part, canvas);
  if (part.kind === "prediction") drawAnswer(page, button);
}

function nameOf(page: ExplorePage, { kind }: Part) {
  const named = NAMES[kind];
  return named && (offersTab(page, named.tab) ? named.name : named.alone);
}

/** The label of a part: what it is, and what a click opens. */
function partWords(page: ExplorePage, part: Part) {
  const { kind, layer, stack } = part;
  const heads = groupOf(page, part)?.heads ?? 0;
  const count = tokensOf(page, stack).length;
  if (kind === "input")
    return `${count} ${count === 1 ? "token becomes a vector" : "tokens become vectors"} with positions`;
  if (kind === "heads") return `Layer ${layer}: what its ${heads} heads look at`;
  const opens = offersTab(page, "layers");
  if (kind === "network")
    return `Feed-forward of layer ${layer}${opens ? ": what its neurons add to the prediction" : ""}`;
  if (kind === "layers") return `Layer ${layer}, and its neighbours`;
  return opens ? "How it takes shape from layer to layer" : "The likeliest answer";
}

export function tokensOf(page: ExplorePage, stack: string): Token[] {
  const { tokens, source_tokens, sound } = page.state.answer;
  const isSource = stack === "encoder" && source_tokens;
  const shown = isSource ? source_tokens : tokens;
  return sound && (sound.side === "source") === Boolean(isSource) ? shown.slice(0, sound.frames_read) : shown;
}

function sizesOf(page: ExplorePage) {
  const { width } = memory(page);
  return SIZES.find(({ most }) => width <= most) ?? SIZES[SIZES.length - 1];
}

function layoutOf(page: ExplorePage, { heads }: AttentionGroup) {
  const [width, height] = sizesOf(page).heads;
  return miniatures(heads, width, height);
}

/** Paints the heads of a layer like the thumbnails below. */
function drawHeads(page: ExplorePage, part: Part, canvas: HTMLCanvasElement) {
  const group = groupOf(page, part);
  if (!group) return;
  const { edits, layer, head } = page.state.choice;
  const { columns, rows, size, gap } = layoutOf(page, group);
  const { raised, beam, quiet } = currentStyle(page);
  const { paper } = memory(page);
  const context = hidpiContext(paper, columns * (size + gap) - gap, rows * (size + gap) - gap);
  context.imageSmoothingEnabled = false;
  const ink = weightColours(gridHigh(page, group));
  const { stamp } = memory(page);
  for (let place = 0; place < group.heads; place++) {
    const [x, y] = [(place % columns) * (size + gap), Math.floor(place / columns) * (size + gap)];
    const off = isOff(edits, group, part.layer, place);
    paintCodes(stamp, ...maxPool(patternCodes(page, group, part.layer, place), ...group.pooled_shape, 2 * size), ink);
    context.fillStyle = raised;
    context.fillRect(x, y, size, size);
    context.globalAlpha = off ? 0.3 : 1;
    context.drawImage(stamp, x, y, size, size);
    context.globalAlpha = 1;
    if (off) strike(context, quiet, x, y, size);
    const current = part.layer === layer && place === head && group === currentGroup(page);
    if (!current && !(group === currentGroup(page) && isSelected(page, part.layer, place))) continue;
    context.strokeStyle = beam;
    context.lineWidth = 2;
    context.strokeRect(x + 1, y + 1, size - 2, size - 2);
  }
  blit(paper, canvas);
}

function strike(context: CanvasRenderingContext2D, ink: string, x: number, y: number, size: number) {
  context.strokeStyle = ink;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x, y + size);
  context.lineTo(x + size, y);
  context.stroke();
}

/** Paints each token in a line with its vector and its position. */
function drawInput(page: ExplorePage, { stack }: Part, canvas: HTMLCanvasElement) {
  const tokens = tokensOf(page, stack);
  const vectors = inputVectors(page, stack);
  const { quiet, ink, font, raised } = currentStyle(page);
  const shown = Math.min(tokens.length, INPUT.rows - (tokens.length > INPUT.rows ? 1 : 0));
  const first = tokens.length - shown;
  const lines = shown + (first ? 1 : 0);
  const { tokens: words, vector, positions } = sizesOf(page);
  const strips = page.server.answers("input_vectors") ? stripsBehind(words, vector, positions) : [];
  const width = strips.reduce((end, [x, wide]) => Math.max(end, x + wide), words);
  const { paper } = memory(page);
  const context = hidpiContext(paper, width, lines * INPUT.line);
  context.font = `12px ${font}`;
  context.textBaseline = "middle";
  context.textAlign = "right";
  context.fillStyle = quiet;
  if (first) context.fillText(`${first} more`, words, INPUT.line / 2);
  for (let line = 0; line < shown; line++) {
    const [position, y] = [first + line, (line + (first ? 1 : 0)) * INPUT.line];
    context.fillStyle = position === tokens.length - 1 ? ink : quiet;
    context.fillText(truncateText(context, inlineText(tokens[position].text), words), words, y + INPUT.line / 2);
    context.fillStyle = raised;
    for (const [x, wide] of strips) context.fillRect(x, y + 1, wide, INPUT.line - 2);
    if (!vectors) continue;
    [vectors.embedding, vectors.positions].forEach((strip, place) => {
      const [x, wide] = strips[place];
      drawStrip(context, strip, position - vectors.first, [x, y + 1, wide, INPUT.line - 2]);
    });
  }
  blit(paper, canvas);
}

/** Where the strips of a vector and of a position begin, and their widths. */
function stripsBehind(words: number, vector: number, positions: number) {
  return [
    [words + GAP, vector],
    [words + 2 * GAP + vector, positions],
  ];
}

/** The likeliest answer; the panel of predictions shows them all, and reads them out. */
function drawAnswer(page: ExplorePage, button: HTMLElement) {
  const [prediction] = page.state.answer.predictions;
  const best = prediction?.candidates[0];
  const words = best
    ? [createElement("bdi", "", inlineText(best.text)), ` ${answerNumber(prediction, best.after)}`]
    : ["no prediction"];
  updateChildren(button, button.children[0], createElement("span", "best", words, { ariaHidden: "true" }));
}
