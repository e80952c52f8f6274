// Colour scales that are safe for colour-blind readers, and the colours of selected heads.

import { context2d } from "../dom/dom.ts";

export const CIVIDIS = [
  [0, 34, 78],
  [0, 42, 102],
  [18, 50, 112],
  [40, 58, 109],
  [56, 66, 108],
  [69, 74, 108],
  [81, 82, 110],
  [92, 91, 114],
  [102, 99, 118],
  [112, 108, 120],
  [123, 117, 121],
  [134, 126, 120],
  [146, 135, 119],
  [158, 145, 116],
  [170, 155, 112],
  [182, 165, 106],
  [194, 175, 99],
  [207, 186, 90],
  [220, 197, 79],
  [233, 208, 68],
  [246, 219, 70],
  [254, 232, 56],
];
// Brewer's PuOr, reversed: purple below zero, white at zero, orange above.
export const PURPLE_ORANGE = [
  [45, 0, 75],
  [84, 39, 136],
  [128, 115, 172],
  [178, 171, 210],
  [216, 218, 235],
  [255, 255, 255],
  [254, 224, 182],
  [253, 184, 99],
  [224, 130, 20],
  [179, 88, 6],
  [127, 59, 8],
];
// Okabe and Ito 2008; further heads repeat them, with dashed lines.
export const HEAD_COLOURS = ["#e0951f", "#0072b2", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#8d97a8", "#b3a100"];
const DARKNESS = 0.8; // over a patch without attention
export const NEGATIVE_COLOUR = "#8073ac"; // for negative values; positive ones have the colour --beam

/** The colour of a share from 0 to 1, as [red, green, blue]. */
export function colour(share: number, scale: number[][] = CIVIDIS) {
  const place = Math.min(Math.max(share, 0), 1) * (scale.length - 1);
  const low = Math.min(Math.floor(place), scale.length - 2);
  const rest = place - low;
  return scale[low].map((value, channel) => Math.round(value + rest * (scale[low + 1][channel] - value)));
}

/** A colour as #rrggbb. @param channels red, green, blue */
export function hexColour(channels: number[]) {
  return `#${channels.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** A colour (#rrggbb) mixed into white. @param share of it */
export function tint(ink: string, share: number) {
  const channels = [1, 3, 5].map((place) => Number.parseInt(ink.slice(place, place + 2), 16));
  return channels.map((channel) => Math.round(255 - share * (255 - channel)));
}

/** Black or white, whichever has more contrast on a colour. @param ground red, green, blue */
export function readableInk(ground: number[]) {
  return luminance(ground) > 0.179 ? "#000" : "#fff"; // the luminance at which both have equal contrast
}

/** The relative luminance of WCAG 2. @param channels red, green, blue from 0 to 255 */
function luminance(channels: number[]) {
  const [red, green, blue] = channels.map((channel) => ((channel / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * The pixel of each byte code: transparent for 0; codes from 1 reach the end of the scale at the share `end` of the
 * codes. Red is the lowest byte.
 */
function colourTable(scale: number[][], end: number = 1) {
  return Uint32Array.from({ length: 256 }, (_, code) => {
    if (code === 0) return 0;
    const [red, green, blue] = colour((code - 1) / 254 / end, scale);
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}

const [PURPLE, ORANGE] = [PURPLE_ORANGE[2], PURPLE_ORANGE[8]]; // legible on a white and on a dark ground
/** The pixel of each level of a scale whose ends are as far below zero as above: at zero it is the ground, dark or light. */
export const SIGNED_INK = Uint32Array.from({ length: 256 }, (_, level) => {
  const share = level / 127.5 - 1;
  const [red, green, blue] = share < 0 ? PURPLE : ORANGE;
  return ((Math.round(255 * Math.abs(share)) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
});
export const WEIGHT_COLOURS = colourTable(CIVIDIS);
export const SIGNED_COLOURS = colourTable(PURPLE_ORANGE);
/** The pixels of weights on a colour scale that ends at `high`. @param high above 0, at most 1 */
export function weightColours(high: number) {
  return high === 1 ? WEIGHT_COLOURS : colourTable(CIVIDIS, Math.sqrt(high));
}

/** Paints one block of byte codes into a canvas, one pixel for each cell; the style sheet enlarges it. */
export function paintCodes(
  canvas: HTMLCanvasElement,
  codes: Uint8Array,
  rows: number,
  columns: number,
  ink: Uint32Array = WEIGHT_COLOURS,
) {
  if (canvas.width !== columns) canvas.width = columns;
  if (canvas.height !== rows) canvas.height = rows;
  const context = context2d(canvas);
  const image = context.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let cell = 0; cell < rows * columns; cell++) pixels[cell] = ink[codes[cell]];
  context.putImageData(image, 0, 0);
}

export function paintScale(canvas: HTMLCanvasElement, ink: Uint32Array = WEIGHT_COLOURS) {
  paintCodes(
    canvas,
    Uint8Array.from({ length: 256 }, (_, code) => Math.max(code, 1)),
    1,
    256,
    ink,
  );
}

/** Darkens a patch by the attention that it lacks: 0 is dark, 1 unchanged. */
export function shadePatch(
  context: CanvasRenderingContext2D,
  box: [left: number, top: number, width: number, height: number],
  strength: number,
) {
  context.fillStyle = `rgb(8 10 16 / ${DARKNESS * (1 - strength)})`;
  context.fillRect(...box);
}
