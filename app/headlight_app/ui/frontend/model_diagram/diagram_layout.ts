// The layout of a model's diagram: the residual stream downwards, sublayers as branches beside it.

import { formatCount } from "../dom/numbers.ts";
import { layerRuns } from "./layer_runs.ts";
import type {
  DiagramBox,
  DiagramLayout,
  DiagramLine,
  DiagramPart,
  ModelDiagramAnswer,
  StackDiagram,
  SublayerDiagram,
} from "./types.ts";

const SIDE_BY_SIDE = 620; // least pixels of width for an encoder beside its decoder
const [LINE, PADDING, GAP] = [16, 7, 16]; // pixels of a line of text, inside a box, and between boxes
const [STREAM, BRANCH] = [44, 92]; // pixels from the left: the stream, and the boxes beside it
const GUTTER = 14; // beside a column, for the line of the encoder's output
const MAX_COLUMN = 380;

function shapeText(shape: readonly number[]) {
  return shape.map(formatCount).join(" × ");
}

/** The text of a box: its title, its details, and the shape of its output. */
function boxLines({ title, details, shape }: DiagramPart) {
  return [title, ...details, ...(shape.length ? [`→ ${shapeText(shape)}`] : [])];
}

/** The drawing of one stack, in its own coordinates; `type` is the factor of the font size. */
class Column {
  stack: StackDiagram;
  width: number;
  type: number;
  stream;
  branch;

  boxes: DiagramBox[] = [];
  lines: DiagramLine[] = [];
  sums: { x: number; y: number; kind: string }[] = [];
  frames: { x: number; y: number; width: number; height: number }[] = [];
  y = 4;
  crossY: number | null = null;
  #arrow = false; // whether an arrow leads here from a box above

  constructor(stack: StackDiagram, width: number, type: number) {
    this.stack = stack;
    this.width = width;
    this.type = type;
    this.stream = STREAM * type;
    this.branch = BRANCH * type;
  }

  #height(lines: string[]) {
    return (lines.length * LINE + 2 * PADDING) * this.type;
  }

  #box(part: DiagramPart, x: number, width: number, more: Partial<DiagramBox> = {}) {
    const lines = boxLines(part);
    const { name, layer } = this.stack;
    const box = { part, stack: name, layer, x, y: this.y, width, height: this.#height(lines), lines, ...more };
    this.boxes.push(box);
    return box;
  }

  /** Extends the stream by a step. */
  flow(step: number = GAP) {
    if (this.#arrow)
      this.lines.push({ points: [this.stream, this.y, this.stream, this.y + step * this.type], arrow: false });
    this.y += this.#arrow ? step * this.type : 0;
    this.#arrow = true;
  }

  /** A box across the column, which the stream passes through. */
  across(part: DiagramPart) {
    this.flow();
    this.y += this.#box(part, 0, this.width).height;
  }

  /** A norm on the stream itself. */
  onStream(part: DiagramPart) {
    this.flow();
    const [title, ...details] = part.title.split(" "); // little room: each further word has its own line
    const half = this.stream - 3 * this.type;
    const box = this.#box({ ...part, title, details, shape: [] }, 3 * this.type, 2 * half);
    this.y += box.height;
  }

  /** A box beside the stream, whose output is added to it. */
  added(part: DiagramPart) {
    this.flow();
    const box = this.#box(part, this.branch, this.width - this.branch);
    const middle = this.y + box.height / 2;
    this.lines.push({ points: [this.stream, this.y, this.stream, this.y + box.height], arrow: false });
    this.lines.push({ points: [this.branch, middle, this.stream + 9 * this.type, middle], arrow: true });
    this.sums.push({ x: this.stream, y: middle, kind: "positions" });
    this.y += box.height;
  }

  /** A bar for layers that are closed. */
  bar(first: number, last: number) {
    this.flow(8);
    const title = first === last ? `Layer ${first}` : `Layers ${first} to ${last}`;
    const part = { kind: "layer", title, details: [], shape: [] };
    const open = first > this.stack.layer ? last : first;
    this.y += this.#box(part, 0, this.width, { layer: open, height: 26 * this.type }).height;
  }

  /** The block of the open layer. */
  block() {
    const { stack, type } = this;
    this.flow(8);
    const top = this.y;
    const title = { kind: "open", title: `Layer ${stack.layer} of 0 to ${stack.layers - 1}`, details: [], shape: [] };
    this.#box(title, 0, this.width, { height: 26 * type });
    this.lines.push({ points: [this.stream, top, this.stream, top + 34 * type], arrow: false });
    this.y = top + 34 * type;
    const start = this.y;
    for (const [place, sublayer] of stack.sublayers.entries())
      this.#sublayer(sublayer, stack.parallel && place > 0 ? start + 4 * type : null);
    this.flow(8);
    this.frames.push({ x: 0, y: top, width: this.width, height: this.y - top });
  }

  /** A branch and its sum; parallel branches leave the stream at `start`. */
  #sublayer({ kind, parts, added, norm, norm_on_stream }: SublayerDiagram, start: number | null) {
    const { type, stream, branch } = this;
    if (!added) {
      for (const part of parts) this.across(part);
      return;
    }
    if (norm && norm_on_stream === "before") this.onStream(norm);
    const from = this.y + 4 * type;
    const x = branch + (this.width - branch) / 2 - 5 * type;
    const boxWidth = this.width - branch - 10 * type;
    const top = this.y;
    const aside = stream + 22 * type;
    this.y = from + 12 * type;
    this.lines.push({
      points:
        start === null
          ? [stream, from, x, from, x, this.y]
          : [stream, start, aside, start, aside, from, x, from, x, this.y],
      arrow: true,
    });
    for (const [place, part] of parts.entries()) {
      if (place) {
        this.lines.push({ points: [x, this.y, x, this.y + 12 * type], arrow: true });
        this.y += 12 * type;
      }
      const box = this.#box(part.kind === "norm" ? { ...part, shape: [] } : part, branch, boxWidth);
      if (part.kind === "cross") this.crossY = this.y + box.height / 2;
      this.y += box.height;
    }
    const sum = this.y + 14 * type;
    this.lines.push({ points: [x, this.y, x, sum, stream + 9 * type, sum], arrow: true });
    this.lines.push({ points: [stream, top, stream, sum + 10 * type], arrow: false });
    this.sums.push({ x: stream, y: sum, kind });
    this.y = sum + 10 * type;
    if (norm && norm_on_stream === "after") this.onStream(norm);
  }
}

/** A stack with its name in its first box, beside another stack. */
function named({ inputs: [first, ...others], ...stack }: StackDiagram): StackDiagram {
  return { ...stack, inputs: [{ ...first, title: `${stack.title}: ${first.title}` }, ...others] };
}

function layoutColumn(stack: StackDiagram, head: DiagramPart[], width: number, type: number) {
  const column = new Column(stack, width, type);
  for (const part of stack.inputs) column.across(part);
  if (stack.positions) column.added(stack.positions);
  for (const part of stack.after_positions) column.across(part);
  for (const [first, last] of layerRuns(stack.layers, stack.layer)) {
    if (first <= stack.layer && stack.layer <= last) column.block();
    else column.bar(first, last);
  }
  for (const part of [...stack.outputs, ...head]) column.across(part);
  return column;
}

/** Moves a column to its position; a mirrored one has its stream on the right. */
function placed(column: Column, left: number, top: number, mirrored: boolean) {
  const across = (x: number) => left + (mirrored ? column.width - x : x);
  const moved = <Box extends { x: number; y: number; width: number }>(box: Box): Box => ({
    ...box,
    x: mirrored ? across(box.x + box.width) : across(box.x),
    y: box.y + top,
  });
  return {
    boxes: column.boxes.map(moved),
    frames: column.frames.map(moved),
    sums: column.sums.map((sum) => ({ ...sum, x: across(sum.x), y: sum.y + top, stack: column.stack.name })),
    lines: column.lines.map((line) => ({
      ...line,
      points: line.points.map((number, place) => (place % 2 ? number + top : across(number))),
    })),
    end: [across(column.stream), column.y + top],
    cross: column.crossY === null ? null : [across(column.width - 10 * column.type), column.crossY + top],
  };
}

/** The whole diagram for a width; an encoder is beside its decoder if there is room, else above it. */
export function layoutDiagram({ stacks, head }: ModelDiagramAnswer, width: number, type: number = 1): DiagramLayout {
  const beside = stacks.length > 1 && width >= SIDE_BY_SIDE;
  const gutter = stacks.length > 1 ? GUTTER * type : 0;
  const room = beside ? (width - 2 * gutter) / 2 : width - gutter;
  const size = Math.min(room, MAX_COLUMN * type);
  let top = 0;
  const columns = stacks.map((stack, place) => {
    const column = layoutColumn(
      stacks.length > 1 ? named(stack) : stack,
      place === stacks.length - 1 ? head : [],
      size,
      type,
    );
    const found = placed(column, beside && place ? size + 2 * gutter : 0, top, beside && place > 0);
    if (!beside) top += column.y + 2 * GAP * type;
    return found;
  });
  const [encoder, decoder] = columns;
  const lines = columns.flatMap((column) => column.lines);
  if (decoder?.cross) {
    const x = size + gutter - (beside ? 0 : 4 * type);
    const [fromX, fromY] = encoder.end;
    const [toX, toY] = decoder.cross;
    const end = fromY + 8 * type;
    lines.push({ points: [fromX, fromY, fromX, end, x, end, x, toY, toX, toY], arrow: true, memory: true });
  }
  const boxes = columns.flatMap((column) => column.boxes);
  return {
    width: beside ? 2 * size + 2 * gutter : size + gutter,
    height:
      Math.max(
        ...boxes.map((box) => box.y + box.height),
        ...lines.flatMap(({ points }) => points.filter((_, place) => place % 2)),
      ) + 6,
    boxes,
    lines,
    sums: columns.flatMap((column) => column.sums),
    frames: columns.flatMap((column) => column.frames),
  };
}
