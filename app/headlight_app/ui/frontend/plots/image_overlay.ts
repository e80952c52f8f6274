// An image whose patches are as bright as the active queries look at them; the others are dark.

import { NEGATIVE_COLOUR, shadePatch } from "../charts/colours.ts";
import { context2d, hidpiContext, inlineText, truncateText } from "../dom/dom.ts";
import { HORIZONTAL_STEPS, VERTICAL_STEPS } from "../dom/keyboard.ts";
import { remembered } from "../dom/memory.ts";
import { formatPercent } from "../dom/numbers.ts";
import { columnSums, formatValue } from "../state/head_matrix.ts";
import { activeQueries, activeRows, keyTokens, queriesArePatches } from "../state/token_selection.ts";
import type { EmbeddedImage, HeadMatrix, Page, Patches, Plot, ShownPatches, Token } from "../types.ts";
import { inflate } from "../wire.ts";
import { currentStyle, plotHeight } from "./measurements.ts";

const STRIP_HEIGHT = 26; // pixels for the tokens before the patches, and for the scale, at the normal font size
const MAX_HEIGHT = 560;

type ImageLayout = { rows: number; columns: number; left: number; top: number; width: number; height: number };
type Rectangle = [left: number, top: number, width: number, height: number];
type Drawable = HTMLImageElement | HTMLCanvasElement;

const memory = remembered(() => ({
  name: null as string | null,
  image: null as Drawable | null,
  layout: null as ImageLayout | null,
}));

export const IMAGE_OVERLAY: Plot = {
  draw: drawImageOverlay,
  tokenAt: imageTokenAt,
  arrowStep: imageArrowStep,
  scaleText,
};

function scaleText(matrix: HeadMatrix) {
  return `${matrix.signed ? "orange above zero, purple below" : "bright"}, on a square-root scale up to the ${matrix.signed ? "largest" : "brightest patch"}`;
}

/** The positions of the patches; this plot requires heads that look at an image. */
function patchesOf(page: Page): ShownPatches {
  const { patches } = page.state.answer;
  if (!patches) throw new Error("This answer is about a text.");
  return patches;
}

/** The image on the screen; null until it is loaded, which redraws the page. */
function loadedImage(page: Page) {
  const { image: photo } = patchesOf(page);
  const name = photo ? "" : page.server.imageName();
  const known = memory(page);
  if (known.name === name) return known.image;
  Object.assign(known, { name, image: null });
  const loading = photo ? decodeImage(photo) : fetchImage(page.server.imageUrl(name));
  loading.then(
    (image) => {
      if (known.name !== name) return;
      known.image = image;
      page.view.redraw();
    },
    () => {},
  ); // a missing image is not drawn
  return null;
}

function fetchImage(url: string): Promise<Drawable> {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = reject;
    image.src = url;
  });
}

/** An image that is embedded in an answer. */
async function decodeImage({ bytes, width, height }: EmbeddedImage): Promise<Drawable> {
  const colours = await inflate(bytes);
  const image = document.createElement("canvas");
  Object.assign(image, { width, height });
  const context = context2d(image);
  const pixels = context.createImageData(width, height);
  for (let pixel = 0; pixel < width * height; pixel++) {
    pixels.data.set([...colours.subarray(pixel * 3, pixel * 3 + 3), 255], pixel * 4);
  }
  context.putImageData(pixels, 0, 0);
  return image;
}

function imageSize(image: Drawable) {
  return image instanceof HTMLImageElement ? [image.naturalWidth, image.naturalHeight] : [image.width, image.height];
}

/** The layout of the canvas: the strip of tokens, and below it the picture with its patches. */
function layoutImage(page: Page, image: Drawable, width: number): ImageLayout {
  const { rows, columns, region } = patchesOf(page);
  const [wide, high] = imageSize(image);
  const [across, down] = [(region[2] - region[0]) * wide, (region[3] - region[1]) * high];
  const top = stripHeight(page) + 6;
  const most = currentStyle(page).type > 1 ? plotHeight(page) - top : MAX_HEIGHT; // a projector shows all on one screen
  const scale = Math.min(width / across, most / down);
  return { rows, columns, left: 0, top, width: across * scale, height: down * scale };
}

function drawImageOverlay(page: Page, matrix: HeadMatrix, width: number, canvas: HTMLCanvasElement) {
  const image = loadedImage(page);
  if (!image) return;
  const layout = layoutImage(page, image, width);
  memory(page).layout = layout;
  const context = hidpiContext(canvas, width, Math.ceil(layout.top + layout.height + 2));
  drawCoveredPart(context, image, patchesOf(page), [layout.left, layout.top, layout.width, layout.height]);
  const sums = columnSums(matrix, activeRows(page, matrix));
  const most = Math.max(
    ...sums.map((sum, column) => (isPatch(page, matrix, column) && Number.isFinite(sum) ? Math.abs(sum) : 0)),
    1e-12,
  );
  sums.forEach((sum, column) => {
    for (const place of matrix.columns.tokens[column]) shadeToken(page, context, layout, matrix, place, sum, most);
  });
  outlineQueries(page, context, layout);
  context.fillStyle = currentStyle(page).quiet;
  context.font = smallFont(page);
  context.textAlign = "right";
  context.textBaseline = "middle";
  const label = matrix.signed
    ? `largest ± ${formatAmount(matrix, most).replace("+", "")}`
    : `brightest patch ${formatAmount(matrix, most)}`;
  context.fillText(label, layout.width, stripHeight(page) / 2);
}

/** Draws the part of an image that its patches cover. */
function drawCoveredPart(
  context: CanvasRenderingContext2D,
  image: Drawable,
  { region: [left, top, right, bottom] }: Patches,
  place: Rectangle,
) {
  const [across, down] = imageSize(image);
  context.drawImage(image, left * across, top * down, (right - left) * across, (bottom - top) * down, ...place);
}

function stripHeight(page: Page) {
  return STRIP_HEIGHT * currentStyle(page).type;
}

function smallFont(page: Page) {
  const { font, type } = currentStyle(page);
  return `${12 * type}px ${font}`;
}

/** A number of the matrix in a few characters. */
function formatAmount(matrix: HeadMatrix, number: number) {
  return matrix.scale === "probability" ? formatPercent(number) : formatValue(matrix, number, 3);
}

function isPatch(page: Page, matrix: HeadMatrix, column: number) {
  return matrix.columns.tokens[column][0] >= patchesOf(page).first_token;
}

/** The position and the size of a token on the canvas. */
function tokenBox(page: Page, layout: ImageLayout, place: number): Rectangle {
  const { first_token, rows, columns } = patchesOf(page);
  const { type } = currentStyle(page);
  if (place < first_token) return [place * 100 * type, 2, 96 * type, stripHeight(page) - 4];
  const [row, column] = [Math.floor((place - first_token) / columns), (place - first_token) % columns];
  const [width, height] = [layout.width / columns, layout.height / rows];
  return [layout.left + column * width, layout.top + row * height, width, height];
}

/** Darkens a patch by the attention that it lacks; differences are coloured on a dark patch. */
function shadeToken(
  page: Page,
  context: CanvasRenderingContext2D,
  layout: ImageLayout,
  matrix: HeadMatrix,
  place: number,
  sum: number,
  most: number,
) {
  const box = tokenBox(page, layout, place);
  const patch = place >= patchesOf(page).first_token;
  const strength = Number.isFinite(sum) ? Math.min(Math.sqrt(Math.abs(sum) / (patch ? most : matrix.high || 1)), 1) : 0;
  if (patch) shadePatch(context, box, matrix.signed ? 0.25 : strength);
  if (!patch || matrix.signed) {
    context.globalAlpha = strength * 0.85;
    context.fillStyle = sum < 0 ? NEGATIVE_COLOUR : currentStyle(page).beam;
    context.fillRect(...box);
    context.globalAlpha = 1;
  }
  if (!patch) labelToken(page, context, box, keyTokens(page)[place], formatAmount(matrix, sum));
}

function labelToken(
  page: Page,
  context: CanvasRenderingContext2D,
  [left, top, width, height]: Rectangle,
  token: Token,
  number: string,
) {
  context.strokeStyle = currentStyle(page).line;
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
  context.fillStyle = currentStyle(page).ink;
  context.font = smallFont(page);
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(
    truncateText(context, `${inlineText(token.text)} ${number}`, width - 6),
    left + width / 2,
    top + height / 2,
  );
}

/** Frames the patches that are active queries, and the patch under the pointer if it is a key. */
function outlineQueries(page: Page, context: CanvasRenderingContext2D, layout: ImageLayout) {
  const hot = activeQueries(page);
  const outline = (place: number, colour: string, line: number) => {
    const [left, top, width, height] = tokenBox(page, layout, place);
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.strokeRect(left + line / 2, top + line / 2, width - line, height - line);
  };
  for (const place of queriesArePatches(page) ? hot : []) {
    outline(place, "#ffffff", 4);
    outline(place, currentStyle(page).beam, 2.5);
  }
  if (page.state.pointer?.key !== null && page.state.pointer?.key !== undefined)
    outline(page.state.pointer.key, "#ffffff", 1.5);
}

/** The token under the pointer: as a query, or if a query is locked, as its key. */
function imageTokenAt(page: Page, event: MouseEvent, click: boolean = false) {
  const { layout } = memory(page);
  if (!layout) return null;
  const frame = page.view.elements.canvas.getBoundingClientRect();
  const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
  const inside = (place: number) => {
    const [left, top, width, height] = tokenBox(page, layout, place);
    return x >= left && x < left + width && y >= top && y < top + height;
  };
  const place = keyTokens(page).findIndex((_, each) => inside(each));
  if (place < 0) return null;
  if (!queriesArePatches(page)) return { query: null, key: place }; // the queries are words
  return page.state.choice.pinned.length && !click ? { query: null, key: place } : { query: place, key: null };
}

/** The number of tokens that an arrow key moves by: one row down is as many as there are columns. */
function imageArrowStep(page: Page, key: string) {
  const down = VERTICAL_STEPS[key] ?? 0;
  return HORIZONTAL_STEPS[key] ?? (queriesArePatches(page) ? down * patchesOf(page).columns : down);
}
