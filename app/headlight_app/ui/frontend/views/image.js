// An image under a grid of patches, unchanged or with each patch as bright as its number.

import { shadePatch } from "../charts/colours.js";
import { cellAtPointer } from "../charts/heatmap.js";
import { createElement, formatPercent, hidpiContext } from "../dom/dom.js";

/** @import { ImageView } from "./types.js" */

const [ALONE, ONE_OF_MANY] = [264, 132]; // maximal pixels of the longer side; a patch has a whole number of pixels
const MARK = "#ffb224"; // visible on bright and dark pixels, inside a black line

/** @param {ImageView} view */
export function createImage(view) {
  const looks = Object.entries(view.shades);
  const image = new Image();
  const drawings = (looks.length ? looks : [/** @type {const} */ (["", []])]).map(([name, numbers]) =>
    createDrawing(view, image, name, numbers.map(Number), looks.length > 1 ? ONE_OF_MANY : ALONE),
  );
  image.onload = () => {
    for (const { draw } of drawings) draw();
  };
  image.src = view.source;
  return createElement("div", "image-list", [...drawings.map(({ element }) => element)]);
}

/**
 * @param {ImageView} view @param {HTMLImageElement} image @param {string} name @param {readonly number[]} numbers
 * @param {number} longest
 */
function createDrawing(view, image, name, numbers, longest) {
  const { rows, columns } = view;
  const side = Math.max(1, Math.floor(longest / Math.max(rows, columns)));
  const canvas = createElement("canvas", "", [], { role: "img", ariaLabel: describe(view, name, numbers) });
  Object.assign(canvas.style, { width: `${columns * side}px`, height: `${rows * side}px` });
  const readout = createElement("span", "quiet readout", name || "\u00a0");
  canvas.addEventListener("mousemove", (event) => {
    readout.textContent = tell(view, numbers, patchAt(canvas, event, rows, columns)) || name || "\u00a0";
  });
  canvas.onmouseleave = () => {
    readout.textContent = name || "\u00a0";
  };
  const element = createElement("div", "image-drawing", [canvas, readout]);
  return { element, draw: () => drawPatches(canvas, image, view, numbers, side) };
}

/**
 * @param {HTMLCanvasElement} canvas @param {HTMLImageElement} image @param {ImageView} view
 * @param {readonly number[]} numbers @param {number} side of a patch, in pixels
 */
function drawPatches(canvas, image, { rows, columns, marked }, numbers, side) {
  const [width, height] = [columns * side, rows * side];
  const context = hidpiContext(canvas, width, height);
  context.imageSmoothingEnabled = image.naturalWidth > width;
  context.drawImage(image, 0, 0, width, height);
  const most = Math.max(...numbers, 1e-12);
  for (const [patch, number] of numbers.entries())
    shadePatch(context, boxOf(patch, columns, side), Math.sqrt(Math.max(number, 0) / most));
  context.strokeStyle = "rgb(128 128 128 / 0.5)";
  context.lineWidth = 1;
  for (let row = 1; row < rows; row++) line(context, [0, row * side], [width, row * side]);
  for (let column = 1; column < columns; column++) line(context, [column * side, 0], [column * side, height]);
  for (const patch of marked) frame(context, boxOf(patch, columns, side));
}

/** @param {number} patch @param {number} columns @param {number} side @returns {[number, number, number, number]} */
function boxOf(patch, columns, side) {
  return [(patch % columns) * side, Math.floor(patch / columns) * side, side, side];
}

/** @param {CanvasRenderingContext2D} context @param {[number, number]} from @param {[number, number]} to */
function line(context, from, to) {
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}

/** @param {CanvasRenderingContext2D} context @param {[number, number, number, number]} box */
function frame(context, [left, top, width, height]) {
  for (const [colour, thick] of /** @type {const} */ ([
    ["#000", 4],
    [MARK, 2],
  ])) {
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.strokeRect(left + 2, top + 2, width - 4, height - 4);
  }
}

/** @param {HTMLCanvasElement} canvas @param {MouseEvent} event @param {number} rows @param {number} columns */
function patchAt(canvas, event, rows, columns) {
  const { width, height } = canvas.getBoundingClientRect();
  const cell = cellAtPointer(
    canvas,
    { rows, columns, x: 0, y: 0, width: width / columns, height: height / rows },
    event,
  );
  return cell ? cell.query * columns + cell.key : -1;
}

/** A patch in words; "" if there is none. @param {ImageView} view @param {readonly number[]} numbers @param {number} patch */
function tell({ columns }, numbers, patch) {
  if (patch < 0) return "";
  const number = numbers.length ? `: ${formatPercent(numbers[patch])}` : ` (row ${Math.floor(patch / columns)})`;
  return `patch ${patch}${number}`;
}

/** The text alternative of the view. @param {ImageView} view @param {string} name @param {readonly number[]} numbers */
function describe(view, name, numbers) {
  const { rows, columns, marked } = view;
  const grid = `${rows} × ${columns} patches${marked.length ? `, patch ${marked.join(", ")} framed` : ""}`;
  if (!numbers.length) return grid;
  return `${name}: ${grid}; most on ${tell(view, numbers, numbers.indexOf(Math.max(...numbers)))}`;
}
