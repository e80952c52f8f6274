// A sound: its spectrogram, as bright as the active queries look at each moment, and bars of the weights beneath.

import { colour, NEGATIVE_COLOUR, shadePatch } from "../charts/colours.ts";
import { context2d, hidpiContext } from "../dom/dom.ts";
import { HORIZONTAL_STEPS, VERTICAL_STEPS } from "../dom/keyboard.ts";
import { remembered } from "../dom/memory.ts";
import { formatPercent, formatPlaces } from "../dom/numbers.ts";
import { columnSums, formatValue, shownMatrix } from "../state/head_matrix.ts";
import { activeQueries, activeRows, queriesAreFrames } from "../state/token_selection.ts";
import type { HeadMatrix, Page, Plot, Sound } from "../types.ts";
import { inflate } from "../wire.ts";
import { currentStyle, plotHeight } from "./measurements.ts";

const AXIS = 24; // pixels for the seconds, and for the scale, at the normal font size
const SPECTROGRAM = 0.55; // of the height; the rest is for the weights
const TICK_DISTANCE = 70; // least pixels between two marks of seconds
const TICKS = [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]; // seconds
const NARROWEST = 1; // least pixels of the bar of a frame

/** The layout of the canvas, and the range of frames: from `first` to before `end`. */
type SoundLayout = {
  width: number;
  axis: number;
  top: number;
  middle: number;
  bottom: number;
  first: number;
  end: number;
};

const memory = remembered(() => ({
  bytes: "",
  image: null as HTMLCanvasElement | null,
  layout: null as SoundLayout | null,
}));

export const SOUND_PLOT: Plot = { draw: drawSoundPlot, tokenAt: frameAt, arrowStep, scaleText };

function scaleText() {
  return "bright: looked at, on a square-root scale up to the largest; bars beneath: the weights";
}

/** The sound of the answer; this plot requires heads that look at one. */
function soundOf(page: Page): Sound {
  const { sound } = page.state.answer;
  if (!sound) throw new Error("This answer is about a text.");
  return sound;
}

/** The spectrogram as an image; null until it is unpacked, which redraws the page. */
function spectrogram(page: Page) {
  const sound = soundOf(page);
  const known = memory(page);
  if (known.bytes === sound.bytes) return known.image;
  Object.assign(known, { bytes: sound.bytes, image: null });
  inflate(sound.bytes).then((codes) => {
    if (known.bytes !== sound.bytes) return;
    known.image = paintSpectrogram(sound, codes);
    page.view.redraw();
  });
  return null;
}

/** One pixel for each bin and step, low frequencies at the bottom. */
function paintSpectrogram({ bins, steps }: Sound, codes: Uint8Array) {
  const image = document.createElement("canvas");
  Object.assign(image, { width: steps, height: bins });
  const context = context2d(image);
  const pixels = context.createImageData(steps, bins);
  codes.forEach((code, cell) => {
    const row = bins - 1 - Math.floor(cell / steps);
    pixels.data.set([...colour(code / 255), 255], 4 * (row * steps + (cell % steps)));
  });
  context.putImageData(pixels, 0, 0);
  return image;
}

function layoutSound(page: Page, matrix: HeadMatrix, width: number): SoundLayout {
  const axis = AXIS * currentStyle(page).type;
  const bottom = Math.max(plotHeight(page) - axis, 160);
  const frames = matrix.columns.tokens.flat();
  const middle = axis + (bottom - axis) * SPECTROGRAM;
  return { width, axis, top: axis, middle, bottom, first: frames[0], end: frames[frames.length - 1] + 1 };
}

/** The left edge of a frame on the canvas. */
function leftOf({ width, first, end }: SoundLayout, frame: number) {
  return ((frame - first) / (end - first)) * width;
}

function drawSoundPlot(page: Page, matrix: HeadMatrix, width: number, canvas: HTMLCanvasElement) {
  const layout = layoutSound(page, matrix, width);
  memory(page).layout = layout;
  const context = hidpiContext(canvas, width, layout.bottom + layout.axis);
  drawSpectrogram(page, context, layout);
  const sums = columnSums(matrix, activeRows(page, matrix));
  const most = Math.max(...sums.map((sum) => (Number.isFinite(sum) ? Math.abs(sum) : 0)), 1e-12);
  sums.forEach((sum, column) => {
    const frames = matrix.columns.tokens[column];
    const [left, right] = [leftOf(layout, frames[0]), leftOf(layout, frames[frames.length - 1] + 1)];
    drawMoment(page, context, layout, [left, right], Number.isFinite(sum) ? sum / most : 0);
  });
  drawQueries(page, context, layout);
  drawAxis(page, context, layout);
  const largest = matrix.scale === "probability" ? formatPercent(most) : formatValue(matrix, most, 3);
  label(page, context, `largest ${matrix.signed ? "± " : ""}${largest}`, [width, layout.axis / 2], "right");
}

/** The silence after the recording has no spectrogram and stays dark. */
function drawSpectrogram(page: Page, context: CanvasRenderingContext2D, layout: SoundLayout) {
  const { width, top, middle, first, end } = layout;
  context.fillStyle = `rgb(${colour(0)})`;
  context.fillRect(0, top, width, middle - top);
  const image = spectrogram(page);
  const { frames_read: read, steps } = soundOf(page);
  const last = Math.min(end, read);
  if (!image || first >= last) return;
  const [from, to] = [(first / read) * steps, (last / read) * steps];
  context.imageSmoothingEnabled = false;
  context.drawImage(image, from, 0, to - from, image.height, 0, top, leftOf(layout, last), middle - top);
}

/** Shades one column of the spectrogram, and draws the bar beneath it; `share` is relative to the largest. */
function drawMoment(
  page: Page,
  context: CanvasRenderingContext2D,
  { top, middle, bottom }: SoundLayout,
  [left, right]: [number, number],
  share: number,
) {
  const strength = Math.sqrt(Math.abs(share));
  shadePatch(context, [left, top, right - left, middle - top], strength);
  const height = Math.abs(share) * (bottom - middle - 6);
  context.fillStyle = share < 0 ? NEGATIVE_COLOUR : currentStyle(page).beam;
  context.fillRect(left, bottom - height, Math.max(right - left - (right - left > 4 ? 1 : 0), NARROWEST), height);
}

/** Marks the frames that are active queries, and the frame under the pointer. */
function drawQueries(page: Page, context: CanvasRenderingContext2D, layout: SoundLayout) {
  const frames = queriesAreFrames(page) ? activeQueries(page) : [];
  const key = page.state.pointer?.key ?? null;
  for (const frame of key === null ? frames : [...frames, key]) {
    const [left, right] = [leftOf(layout, frame), leftOf(layout, frame + 1)];
    context.strokeStyle = frame === key ? currentStyle(page).ink : currentStyle(page).beam;
    context.lineWidth = 2;
    context.strokeRect(left, layout.top, Math.max(right - left, 2), layout.bottom - layout.top);
  }
}

/** Seconds beneath the plot. */
function drawAxis(page: Page, context: CanvasRenderingContext2D, layout: SoundLayout) {
  const { width, bottom, first, end, axis } = layout;
  const { frame_seconds } = soundOf(page);
  const seconds = (end - first) * frame_seconds;
  const room = (TICK_DISTANCE * currentStyle(page).type * seconds) / width;
  const step = TICKS.find((one) => one >= room) ?? TICKS[TICKS.length - 1];
  context.strokeStyle = currentStyle(page).line;
  context.lineWidth = 1;
  for (let tick = Math.ceil((first * frame_seconds) / step - 1e-9); tick * step < end * frame_seconds; tick++) {
    const x = leftOf(layout, (tick * step) / frame_seconds);
    context.beginPath();
    context.moveTo(x + 0.5, bottom);
    context.lineTo(x + 0.5, bottom + 4);
    context.stroke();
    const written = `${formatPlaces(tick * step, step < 0.1 ? 2 : step < 1 ? 1 : 0)} s`;
    if (x < width - 24) label(page, context, written, [x, bottom + axis / 2 + 3], x < 12 ? "left" : "center");
  }
}

function label(
  page: Page,
  context: CanvasRenderingContext2D,
  text: string,
  [x, y]: [number, number],
  align: CanvasTextAlign,
) {
  const { font, type, quiet } = currentStyle(page);
  context.fillStyle = quiet;
  context.font = `${12 * type}px ${font}`;
  context.textAlign = align;
  context.textBaseline = "middle";
  context.fillText(text, x, y);
}

/** The frame under the pointer: as a query, or if the query is a word or a locked frame, as a key. */
function frameAt(page: Page, event: MouseEvent, click: boolean = false) {
  const { layout } = memory(page);
  const matrix = shownMatrix(page);
  if (!layout || !matrix) return null;
  const box = page.view.elements.canvas.getBoundingClientRect();
  const frame = layout.first + Math.floor(((event.clientX - box.left) / layout.width) * (layout.end - layout.first));
  if (!matrix.columnOf.has(frame)) return null;
  if (!queriesAreFrames(page) || (page.state.choice.pinned.length && !click)) return { query: null, key: frame };
  return { query: frame, key: null };
}

/** The number of tokens that an arrow key moves by. */
function arrowStep(_page: Page, key: string) {
  return HORIZONTAL_STEPS[key] ?? VERTICAL_STEPS[key] ?? 0;
}
