// An image under a grid of patches, unchanged or with each patch as bright as its number.

import { shadePatch } from "../charts/colours.ts";
import { addWords, LABEL_SIZE, LINE_HEIGHT, PRINT_COLOURS } from "../charts/figure_text.ts";
import { cellAtPointer } from "../charts/heatmap.ts";
import { createElement, hidpiContext, onHover } from "../dom/dom.ts";
import { remembered } from "../dom/memory.ts";
import { formatPercent } from "../dom/numbers.ts";
import type { Box, Figure } from "../export/types.ts";
import type { ImageView, Surroundings, View } from "./types.ts";

const [ALONE, ONE_OF_MANY] = [264, 132]; // maximal pixels of the longer side; a patch has a whole number of pixels
const [SIDE, WIDE] = [24, 110]; // in a figure: maximal millimetres of a drawing, and from which width on six fit
const MARK = "#ffb224"; // visible on bright and dark pixels, inside a black line

const memory = remembered((_view: ImageView) => ({ image: new Image() }));

export function createImage(view: ImageView, surroundings: Surroundings) {
  const { shades } = view;
  const image = new Image();
  const looks: ImageView["shades"] = shades.length ? shades : [["", []]];
  const drawings = looks.map(([name, numbers]) =>
    createDrawing(view, image, name, numbers.map(Number), shades.length > 1 ? ONE_OF_MANY : ALONE),
  );
  drawings.forEach(({ element }, place) => {
    listenTo(element, view, surroundings, place);
  });
  const draw = () => {
    for (const drawing of drawings) drawing.draw();
  };
  image.onload = draw;
  image.src = view.source;
  if (image.complete) draw(); // it was drawn before
  return createElement("div", "image-list", [...drawings.map(({ element }) => element)]);
}

/** Decodes the images of some views, so that figures can draw them at once. */
export async function decodeImages(views: View[]) {
  for (const view of views) {
    if (view.kind !== "image") continue;
    const { image } = memory(view);
    image.src = view.source;
    await image.decode();
  }
}

/** Each drawing with its name below it. Returns the bottom edge. */
export function addImages(figure: Figure, view: ImageView, box: Box) {
  const looks: ImageView["shades"] = view.shades.length ? view.shades : [["", []]];
  const across = box.width > WIDE ? 6 : 3;
  const room = box.width / across;
  let [x, y, bottom] = [box.x, box.y, box.y];
  for (const [name, numbers] of looks) {
    if (x + room > box.x + box.width + 0.01) [x, y] = [box.x, bottom + 1];
    bottom = Math.max(bottom, addPicture(figure, view, [name, numbers.map(Number)], { x, y, width: room - 2 }));
    x += room;
  }
  return bottom;
}

function addPicture(
  figure: Figure,
  view: ImageView,
  [name, numbers]: [name: string, numbers: number[]],
  { x: left, y, width: room }: Box,
) {
  const { rows, columns } = view;
  const canvas = createElement("canvas");
  const side = Math.max(1, Math.floor(ONE_OF_MANY / Math.max(rows, columns)));
  drawPatches(canvas, memory(view).image, view, numbers, side);
  const width = Math.min(room, SIDE, (SIDE * columns) / rows);
  const [x, height] = [left + (room - width) / 2, (width * rows) / columns];
  const png = canvas.toDataURL("image/png").split(",")[1];
  figure.shapes.push({ kind: "image", x, y, rotation: 0, left: 0, top: 0, width, height, png });
  figure.shapes.push({ kind: "rectangle", x, y, width, height, stroke: PRINT_COLOURS.line, stroke_width: 0.15 });
  const base = y + height + LABEL_SIZE * 1.2;
  if (name) addWords(figure, name, left + room / 2, base, { anchor: "middle", room, bold: true });
  return y + height + LABEL_SIZE * LINE_HEIGHT;
}

/** A drawing marks its token, and chooses its pick. */
function listenTo(
  element: HTMLElement,
  { places, picks }: ImageView,
  { picks: choices, mark }: Surroundings,
  index: number,
) {
  const [place, pick] = [places[index], picks[index]];
  if (place) {
    element.dataset.place = place.join(" ");
    onHover(element, { read: () => mark?.(place), left: () => mark?.(null) });
  }
  if (pick && choices) {
    element.ariaPressed = String(!place && choices.isChosen(pick)); // that of a token follows what is active
    element.onclick = () => choices.choose(pick);
  }
}

function createDrawing(
  view: ImageView,
  image: HTMLImageElement,
  name: string,
  numbers: readonly number[],
  longest: number,
) {
  const { rows, columns } = view;
  const side = Math.max(1, Math.floor(longest / Math.max(rows, columns)));
  const canvas = createElement("canvas", "", [], { role: "img", ariaLabel: describe(view, name, numbers) });
  Object.assign(canvas.style, { width: `${columns * side}px`, height: `${rows * side}px` });
  const readout = createElement("bdi", "quiet readout", name || "\u00a0");
  canvas.addEventListener("mousemove", (event) => {
    readout.textContent = tell(view, numbers, patchAt(canvas, event, rows, columns)) || name || "\u00a0";
  });
  canvas.onmouseleave = () => {
    readout.textContent = name || "\u00a0";
  };
  const element = createElement(view.picks.length ? "button" : "div", "image-drawing", [canvas, readout]);
  return { element, draw: () => drawPatches(canvas, image, view, numbers, side) };
}

/** @param side of a patch, in pixels */
function drawPatches(
  canvas: HTMLCanvasElement,
  image: HTMLImageElement,
  { rows, columns, marked }: ImageView,
  numbers: readonly number[],
  side: number,
) {
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

function boxOf(patch: number, columns: number, side: number): [number, number, number, number] {
  return [(patch % columns) * side, Math.floor(patch / columns) * side, side, side];
}

function line(context: CanvasRenderingContext2D, from: [number, number], to: [number, number]) {
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}

function frame(context: CanvasRenderingContext2D, [left, top, width, height]: [number, number, number, number]) {
  for (const [colour, thick] of [
    ["#000", 4],
    [MARK, 2],
  ] as const) {
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.strokeRect(left + 2, top + 2, width - 4, height - 4);
  }
}

function patchAt(canvas: HTMLCanvasElement, event: MouseEvent, rows: number, columns: number) {
  const { width, height } = canvas.getBoundingClientRect();
  const cell = cellAtPointer(
    canvas,
    { rows, columns, x: 0, y: 0, width: width / columns, height: height / rows },
    event,
  );
  return cell ? cell.query * columns + cell.key : -1;
}

/** A patch in words; "" if there is none. */
function tell({ columns }: ImageView, numbers: readonly number[], patch: number) {
  if (patch < 0) return "";
  const number = numbers.length ? `: ${formatPercent(numbers[patch])}` : ` (row ${Math.floor(patch / columns)})`;
  return `patch ${patch}${number}`;
}

/** The text alternative of the view. */
function describe(view: ImageView, name: string, numbers: readonly number[]) {
  const { rows, columns, marked } = view;
  const grid = `${rows} × ${columns} patches${marked.length ? `, patch ${marked.join(", ")} framed` : ""}`;
  if (!numbers.length) return grid;
  return `${name}: ${grid}; most on ${tell(view, numbers, numbers.indexOf(Math.max(...numbers)))}`;
}
