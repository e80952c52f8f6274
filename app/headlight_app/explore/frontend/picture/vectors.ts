// Vectors as strips of colour: each token's input to the first layer, and its position beside it.

import { SIGNED_INK } from "../../../ui/frontend/charts/colours.ts";
import { context2d } from "../../../ui/frontend/dom/dom.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import type { ExplorePage, Found, InputVectorsAnswer } from "../types.ts";

const SOON = 60; // milliseconds without typing before vectors are requested

/** Rows of numbers, with a canvas of one pixel per number. */
export type Strips = { rows: number; width: number; numbers: Float32Array; most: number; canvas: HTMLCanvasElement };
export type InputVectors = Pick<InputVectorsAnswer, "first" | "title" | "places"> & {
  embedding: Strips;
  positions: Strips;
};

/** The vectors of an answer, extracted once. */
const known = remembered(({ meta, numbers }: Found<InputVectorsAnswer>) => {
  const [tokens, channels] = meta.shapes.embedding;
  const [, width] = meta.shapes.positions;
  const { first, title, places } = meta;
  const embedding = createStrips(numbers.subarray(0, tokens * channels), tokens, channels);
  return {
    first,
    title,
    places,
    embedding,
    positions: createStrips(numbers.subarray(tokens * channels), tokens, width),
  };
});

/** The vectors of a stack, or null until they have arrived. */
export function inputVectors(page: ExplorePage, stack: string): InputVectors | null {
  const found = page.server.get("input_vectors", { stack }, SOON);
  return found && !found.meta.error ? known(found) : null;
}

/** The number with the strongest colour: three times the root mean square. */
function colourLimit(numbers: Float32Array) {
  const squares = numbers.reduce((sum, number) => sum + number * number, 0);
  return 3 * Math.sqrt(squares / Math.max(numbers.length, 1)) || 1;
}

function createStrips(numbers: Float32Array, rows: number, width: number): Strips {
  const canvas = document.createElement("canvas");
  const most = colourLimit(numbers);
  if (!rows || !width) return { rows, width: 0, numbers, most, canvas };
  [canvas.width, canvas.height] = [width, rows];
  const context = context2d(canvas);
  const image = context.createImageData(width, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let place = 0; place < rows * width; place++) {
    const share = Math.min(Math.max(numbers[place] / most, -1), 1);
    pixels[place] = SIGNED_INK[Math.round(((share + 1) / 2) * 255)];
  }
  context.putImageData(image, 0, 0);
  return { rows, width, numbers, most, canvas };
}

/** Draws one row of the strips; if there are more channels than pixels, neighbours are averaged. */
export function drawStrip(
  context: CanvasRenderingContext2D,
  { canvas, rows, width }: Strips,
  row: number,
  [x, y, wide, high]: [x: number, y: number, width: number, height: number],
) {
  if (!width || row < 0 || row >= rows) return;
  context.imageSmoothingEnabled = width > wide;
  context.drawImage(canvas, 0, row, width, 1, x, y, wide, high);
}
