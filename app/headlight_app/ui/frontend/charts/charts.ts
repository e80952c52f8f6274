// Rows of numbers as bars, typeset formulas, and select lists.

import { createElement, hidpiContext, inlineText, truncateText } from "../dom/dom.ts";
import type { CanvasStyle, Token } from "../types.ts";

type Extent = { low: number; high: number };
export type Option = [value: string | number, title: string | number];

/** `a_{ij} = q_{i} · k_{j}` as elements: the text in `_{}` becomes a subscript, and single letters become variables. */
export function formulaNodes(text: string) {
  const pieces = text.split(/([A-Za-z]|Σ)('?)_\{([^{}]*)\}/);
  return pieces.flatMap((piece, place) => {
    if (place % 4 === 1) return [createElement(piece === "Σ" ? "span" : "var", "", piece)];
    if (place % 4 === 2) return piece ? [createElement("span", "", "′")] : [];
    if (place % 4 === 3) return [createElement("sub", "", piece)];
    return piece.split(/\b([a-z])\b/).map((word, odd) => createElement(odd % 2 ? "var" : "span", "", word));
  });
}

/** A colour on either side of zero: orange above it, blue below, strongest at 1 and -1. */
export function divergingColour(share: number) {
  const part = Math.round(100 * mixedShare(share));
  return `color-mix(in srgb, ${share < 0 ? "var(--minus)" : "var(--beam)"} ${part}%, var(--surface))`;
}

/** How much of the colour is mixed into the ground: at most half, which keeps the number on it legible. */
export function mixedShare(share: number) {
  return Math.min(Math.abs(share), 1) ** 0.75 / 2;
}

/** The lowest and the highest number of several rows, including zero; NaN and infinite numbers do not count. */
export function extentOf(rows: Iterable<number>[]) {
  let [low, high] = [0, 0];
  for (const row of rows) {
    for (const number of row) {
      if (number < low && number !== -Infinity) low = number;
      if (number > high && number !== Infinity) high = number;
    }
  }
  return { low, high: high === low ? low + 1 : high };
}

/** The largest absolute value of the finite numbers; 1 if all are 0. */
export function largestSize(values: Iterable<number | string>) {
  return extentOf([Array.from(values, (value) => Math.abs(Number(value)))]).high;
}

/**
 * Bars from zero up and down; -Infinity is a cross. `labels` are drawn below if there is room; the label of `hot`, the
 * bar under the pointer, is always drawn.
 */
export function drawBars(
  canvas: HTMLCanvasElement,
  numbers: Float32Array,
  {
    style,
    height,
    reach,
    hot = -1,
    labels = null,
  }: { style: CanvasStyle; height: number; reach: Extent; hot?: number; labels?: string[] | null },
) {
  const width = canvas.parentElement?.clientWidth;
  if (!width) return;
  const context = hidpiContext(canvas, width, height);
  const step = width / Math.max(numbers.length, 1);
  const bottom = labels ? height - labelHeight(context, labels, step, style) : height - 1;
  const place = (number: number) => 1 + ((reach.high - number) / (reach.high - reach.low)) * (bottom - 1);
  const gap = step > 4 ? Math.min(step * 0.2, 3) : 0;
  const thin = Math.max(Math.min(step - gap, 34), 0.75);
  numbers.forEach((number, index) => {
    const left = index * step + (step - thin) / 2;
    if (index === hot) {
      context.fillStyle = style.raised;
      context.fillRect(index * step, 0, step, bottom);
    }
    context.fillStyle = number < 0 ? style.minus : style.beam;
    if (number === -Infinity) {
      drawCross(context, left + thin / 2, bottom - 6, Math.min(thin / 2, 3), style);
      return;
    }
    const [top, end] = [place(Math.max(number, 0)), place(Math.min(number, 0))];
    context.globalAlpha = hot >= 0 && index !== hot ? 0.55 : 1;
    context.fillRect(left, top, thin, Math.max(end - top, number === 0 ? 0 : 1));
    context.globalAlpha = 1;
  });
  context.fillStyle = style.line;
  context.fillRect(0, Math.round(place(0)), width, 1);
  if (labels) drawLabels(context, labels, { step, bottom, height, hot, style });
}

function drawCross(context: CanvasRenderingContext2D, x: number, y: number, size: number, style: CanvasStyle) {
  context.strokeStyle = style.quiet;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x - size, y - size);
  context.lineTo(x + size, y + size);
  context.moveTo(x + size, y - size);
  context.lineTo(x - size, y + size);
  context.stroke();
}

/** The height that labels need below the bars: horizontal if they fit side by side, else rotated. */
function labelHeight(context: CanvasRenderingContext2D, labels: string[], step: number, style: CanvasStyle) {
  const { type } = style;
  context.font = `${12 * type}px ${style.font}`;
  const longest = Math.max(...labels.map((label) => context.measureText(label).width), 8);
  return longest < step - 6 || step < 13 * type ? 20 * type : Math.min(longest + 12, 74);
}

function drawLabels(
  context: CanvasRenderingContext2D,
  labels: string[],
  {
    step,
    bottom,
    height,
    hot,
    style,
  }: { step: number; bottom: number; height: number; hot: number; style: CanvasStyle },
) {
  const { type } = style;
  const upright = height - bottom <= 20 * type;
  const every = step >= 13 * type ? 1 : Infinity;
  labels.forEach((label, index) => {
    if (index !== hot && (index % every || every === Infinity)) return;
    const middle = (index + 0.5) * step;
    context.fillStyle = index === hot ? style.ink : style.quiet;
    context.font = `${index === hot ? 600 : 400} ${12 * type}px ${style.font}`;
    context.save();
    if (upright) {
      const half = context.measureText(label).width / 2;
      context.textAlign = "center";
      context.textBaseline = "bottom";
      context.fillText(label, Math.min(Math.max(middle, half), labels.length * step - half), height - 2);
    } else {
      context.translate(middle, bottom + 6);
      context.rotate(-Math.PI / 2);
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.fillText(truncateText(context, label, height - bottom - 8), 0, 0);
    }
    context.restore();
  });
}

/** The index of the bar under the pointer, out of `count`. */
export function barAtPointer(canvas: HTMLCanvasElement, event: MouseEvent, count: number) {
  const frame = canvas.getBoundingClientRect();
  const index = Math.floor(((event.clientX - frame.left) / frame.width) * count);
  return index >= 0 && index < count ? index : -1;
}

/** Fills a select with pairs of a value and a title, only if they have changed, and chooses one. */
export function fillSelect(
  select: HTMLSelectElement,
  options: Option[],
  chosen: string | number | undefined,
  choose: (value: string) => void,
) {
  const known = JSON.stringify(options);
  if (select.dataset.options !== known) {
    select.replaceChildren(
      ...options.map(([value, title]) => createElement("option", "", title, { value: String(value) })),
    );
    select.dataset.options = known;
  }
  setValue(select, chosen);
  select.onchange = () => choose(select.value);
}

/** Sets a control's value only if it differs: setting the same value would also lay out the page. */
export function setValue(control: HTMLInputElement | HTMLSelectElement, value: string | number | undefined) {
  if (control.value !== String(value)) control.value = String(value);
}

/** Numbered tokens for a select: the number distinguishes equal tokens. */
export function tokenOptions(tokens: Pick<Token, "text">[]): Option[] {
  return tokens.map((token, position) => [position, `${position}  ${inlineText(token.text)}`]);
}
