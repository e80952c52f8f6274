// The key/value cache: a strip for each layer, growing by a cell with each token.

import { canvasStyle, hidpiContext } from "../../ui/frontend/dom/dom.ts";
import type { GenerateElements } from "./elements.ts";
import type { CachedLayer, StepRecord } from "./types.ts";

const FEWEST_CELLS = 32; // positions that the strips have room for
const TALLEST = 160; // pixels for all strips, if each has at least 4
const FOOTER = 18; // pixels

/** A size in words. */
export function formatBytes(bytes: number) {
  if (bytes < 1_000) return `${bytes} bytes`;
  const [unit, size] = bytes < 1e6 ? ["kB", 1e3] : bytes < 1e9 ? ["MB", 1e6] : ["GB", 1e9];
  const count = bytes / Number(size);
  return `${count.toFixed(count < 10 ? 2 : 1)} ${unit}`;
}

/**
 * The number of positions with room in the strips: it doubles when they are full.
 * @param context maximum number of tokens
 */
export function cellCount(length: number, context: number) {
  let cells = FEWEST_CELLS;
  while (cells < length) cells *= 2;
  return Math.min(cells, context);
}

/**
 * @param record the newest @param cached whether keys and values are cached between steps @param promptLength in tokens
 */
export function drawKvCache(elements: GenerateElements, record: StepRecord, cached: boolean, promptLength: number) {
  const { useCache: button, cacheWords, cacheStage } = elements;
  const { layers, reason } = record.cache;
  button.hidden = Boolean(reason);
  button.ariaChecked = String(cached);
  (button.lastElementChild as Element).textContent = cached ? "kept" : "discarded after each step";
  cacheStage.hidden = !layers.length;
  cacheWords.textContent = reason ? `Nothing can be cached. ${reason}` : describeCache(record);
  if (layers.length) drawStrips(elements, record, promptLength);
}

/** The cache, and its size. */
export function describeCache({ cache: { layers, model_layers, heads }, context }: StepRecord) {
  const [one] = layers;
  const total = sumOver(layers, ({ bytes }) => bytes);
  const numbers = sumOver(layers, ({ key_value_heads, key_dim, value_dim }) => key_value_heads * (key_dim + value_dim));
  const token = total / one.tokens;
  const own = layers.length < model_layers ? `${layers.length} of ${model_layers} layers (the others share them)` : "";
  const words = [
    `Each token leaves a key and a value in every ${own ? `head of ${own}` : "layer and head"}: ${describeSizes(layers)}`,
    ` = ${numbers.toLocaleString("en")} numbers of ${one.element_size} bytes, ${formatBytes(token)}. `,
    `Cached for ${one.tokens} tokens: ${formatBytes(total)}; for ${context.toLocaleString("en")}, the model's maximum, ${formatBytes(token * context)}. `,
  ];
  const unshared = sumOver(layers, ({ bytes, key_value_heads }) => (bytes * heads) / key_value_heads);
  if (unshared > total) {
    const times = (unshared / total).toLocaleString("en", { maximumFractionDigits: 1 });
    const counts = [...new Set(layers.map(({ key_value_heads }) => key_value_heads))].join(" or ");
    words.push(
      `${heads} query heads share ${counts} key/value heads: with one for each query head it would be ${formatBytes(unshared)}, ${times} times as much.`,
    );
  }
  return words.join("");
}

/** The sizes of the layers, equal sizes grouped. */
function describeSizes(layers: readonly CachedLayer[]) {
  const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? "" : "s"}`;
  const sizes = layers.map((one) => `${plural(one.key_value_heads, "head")} × (${one.key_dim} + ${one.value_dim})`);
  return [...new Set(sizes)]
    .map((size) => `${plural(sizes.filter((each) => each === size).length, "layer")} × ${size}`)
    .join(" + ");
}

function sumOver(layers: readonly CachedLayer[], number: (layer: CachedLayer) => number) {
  return layers.reduce((sum, layer) => sum + number(layer), 0);
}

function drawStrips({ root, cacheStage, cacheStrips }: GenerateElements, record: StepRecord, promptLength: number) {
  const { layers, heads } = record.cache;
  const width = cacheStage.clientWidth;
  if (!width) return;
  const style = canvasStyle(root);
  const cells = cellCount(record.length, record.context);
  const height = Math.min(Math.max(TALLEST / layers.length, 4), 20) * style.type;
  const left = height >= 10 ? 26 * style.type : 0;
  const footerHeight = FOOTER * style.type;
  const context = hidpiContext(cacheStrips, width, height * layers.length + footerHeight);
  const place = { left, height, cell: (width - left) / cells, width: width - left };
  context.font = `${10 * style.type}px ${style.font}`;
  context.textBaseline = "middle";
  layers.forEach((layer, row) => {
    context.fillStyle = style.quiet;
    context.textAlign = "right";
    if (left) context.fillText(String(row), left - 8, (row + 0.5) * height);
    paintLayer(
      context,
      { ...place, top: row * height },
      layer,
      { fresh: layer.tokens - record.tokens_read, generated: promptLength, heads },
      style,
    );
  });
  context.fillStyle = style.quiet;
  const footer = height * layers.length + footerHeight / 2;
  context.textAlign = "left";
  context.fillText(left ? "layer" : "", 0, footer);
  context.fillText("token 0", left, footer);
  context.textAlign = "right";
  context.fillText(`token ${cells - 1}`, width, footer);
  const words = `${layers.length} layers, ${record.length} tokens cached in each; ${record.tokens_read} read in the last step`;
  cacheStrips.ariaLabel = words;
  cacheStrips.title = `${words}. Grey: the prompt; amber: generated; bright: read just now.`;
}

/**
 * Draws one layer's strip; the space saved by shared keys and values stays empty.
 * @param place in pixels @param from the first positions read just now, and generated; query heads
 */
function paintLayer(
  context: CanvasRenderingContext2D,
  { left, top, width, height, cell }: { left: number; top: number; width: number; height: number; cell: number },
  layer: CachedLayer,
  from: { fresh: number; generated: number; heads: number },
  style: ReturnType<typeof canvasStyle>,
) {
  const full = height - 2;
  const tall = (full * layer.key_value_heads) / from.heads;
  context.globalAlpha = 0.1;
  context.fillRect(left, top, width, full);
  for (let position = 0; position < layer.tokens; position++) {
    const fresh = position >= from.fresh;
    const generated = position >= from.generated;
    context.globalAlpha = fresh ? 1 : generated ? 0.62 : 0.42;
    context.fillStyle = fresh || generated ? style.beam : style.quiet;
    context.fillRect(left + position * cell, top + full - tall, Math.max(cell - (cell > 3 ? 1 : 0), 0.6), tall);
  }
  context.globalAlpha = 1;
}
