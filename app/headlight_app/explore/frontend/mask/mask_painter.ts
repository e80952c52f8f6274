// The mask as a table of cells, a row for each query; clicking or dragging over cells opens or closes them.

import { createElement, hidpiContext, inlineText } from "../../../ui/frontend/dom/dom.ts";
import { find } from "../../../ui/frontend/dom/elements.ts";
import { GRID_STEPS } from "../../../ui/frontend/dom/keyboard.ts";
import type { ShownMask } from "./shown_mask.ts";

type Cell = [query: number, key: number];

const SMALLEST = 9; // pixels of a cell's side; below this the table scrolls
const LARGEST = 28;
const LEGIBLE = 13; // smallest row height in pixels for a token label
const NAMES = 71; // width of the token labels in pixels
const OPEN = 0.45; // opacity of an open cell
const LEGEND = "Filled: sees. A dot: painted by you.";

export class MaskPainter {
  #part;
  #canvas;
  #paint;
  #mask: ShownMask = { tokens: [], allowed: new Uint8Array(), painted: "" };
  /** Inverted cells, named as in the URL. */
  #turned: Set<string> = new Set();
  #at: Cell | null = null;
  /** The value set by the current drag; null outside a drag. */
  #opens: boolean | null = null;
  /** The table's position at the start of a drag, so that layout changes do not shift the rows under the pointer. */
  #frame = new DOMRect();

  constructor(part: HTMLElement, paint: (cells: string) => void) {
    this.#part = part;
    this.#paint = paint;
    this.#canvas = find(part, "canvas", HTMLCanvasElement);
    this.#canvas.onpointerdown = (event) => this.#press(event);
    this.#canvas.onpointermove = (event) => this.#move(this.#cellAt(event));
    this.#canvas.onpointerup = this.#canvas.onpointercancel = () => this.#release();
    this.#canvas.onpointerleave = () => this.#opens === null && this.#show(null);
    this.#canvas.onkeydown = (event) => this.#pressKey(event);
  }

  /**
   * @param mask of the current answer; null if the page shows none
   * @param cells the cells that are painted now; the answer may not include them yet
   */
  draw(mask: ShownMask | null, cells: string) {
    if (this.#opens !== null) return; // during a drag
    this.#mask = mask ?? { tokens: [], allowed: new Uint8Array(), painted: "" };
    this.#turned = parseCells(cells);
    this.#canvas.hidden = !this.#mask.tokens.length;
    find(this.#part, ".name").textContent = this.#canvas.hidden
      ? "Cells can be painted for a text of up to 80 tokens."
      : "Click or drag: which query sees which key";
    this.#show(this.#at?.every((place) => place < this.#size) ? this.#at : null);
  }

  get #size() {
    return this.#mask.tokens.length;
  }

  #isOpen([query, key]: Cell) {
    const name = `${query}-${key}`;
    const known = parseCells(this.#mask.painted).has(name);
    return (this.#mask.allowed[query * this.#size + key] !== 0) !== (known !== this.#turned.has(name));
  }

  #turn(cell: Cell, open: boolean) {
    if (this.#isOpen(cell) === open) return;
    const name = cell.join("-");
    if (!this.#turned.delete(name)) this.#turned.add(name);
  }

  #press(event: PointerEvent) {
    if (event.button !== 0) return;
    this.#canvas.setPointerCapture(event.pointerId);
    this.#frame = this.#canvas.getBoundingClientRect();
    const cell = this.#cellAt(event);
    this.#opens = !this.#isOpen(cell);
    this.#at = cell;
    this.#move(cell);
  }

  /** Paint all cells from the last one to this, because a fast pointer skips some. */
  #move(cell: Cell) {
    const [row, column] = this.#at ?? cell;
    const steps = Math.max(Math.abs(cell[0] - row), Math.abs(cell[1] - column), 1);
    for (let step = 0; this.#opens !== null && step <= steps; step++) {
      const part = step / steps;
      this.#turn(
        [Math.round(row + (cell[0] - row) * part), Math.round(column + (cell[1] - column) * part)],
        this.#opens,
      );
    }
    this.#show(cell);
  }

  #release() {
    if (this.#opens === null) return;
    this.#opens = null;
    this.#paint([...this.#turned].join("."));
  }

  #pressKey(event: KeyboardEvent) {
    const step = GRID_STEPS[event.key];
    const [query, key] = this.#at ?? [0, 0];
    if (step) this.#show([clamp(query + step[0], this.#size), clamp(key + step[1], this.#size)]);
    else if (event.key === " " || event.key === "Enter") {
      this.#turn([query, key], !this.#isOpen([query, key]));
      this.#show([query, key]);
      this.#paint([...this.#turned].join("."));
    } else return;
    event.preventDefault();
  }

  #cellAt({ clientX, clientY }: PointerEvent): Cell {
    const { left, top, width, height } = this.#opens === null ? this.#canvas.getBoundingClientRect() : this.#frame;
    const [down, right] = [(clientY - top) / height, (clientX - left) / width];
    return [clamp(Math.floor(down * this.#size), this.#size), clamp(Math.floor(right * this.#size), this.#size)];
  }

  /** Draw the token beside each row if the rows are high enough. Returns the side of a cell. */
  #nameRows() {
    const { tokens } = this.#mask;
    const width = find(this.#part, ".cells").clientWidth || 220;
    const sideIn = (room: number) => Math.min(Math.max(Math.floor(room / tokens.length), SMALLEST), LARGEST);
    const side = sideIn(width - NAMES);
    const names = find(this.#part, ".queries", HTMLElement);
    names.hidden = side < LEGIBLE;
    names.style.setProperty("--side", `${side}px`);
    names.replaceChildren(...tokens.map((token) => createElement("li", "", inlineText(token.trim()))));
    return names.hidden ? sideIn(width) : side;
  }

  /** Draw the table, and describe the current cell. */
  #show(cell: Cell | null) {
    this.#at = cell;
    const size = this.#size;
    if (!size) return;
    const side = this.#nameRows();
    const context = hidpiContext(this.#canvas, size * side, size * side);
    const style = getComputedStyle(this.#canvas);
    for (let query = 0; query < size; query++)
      for (let key = 0; key < size; key++) {
        const isOpen = this.#isOpen([query, key]);
        context.globalAlpha = isOpen ? OPEN : 1;
        context.fillStyle = style.getPropertyValue(isOpen ? "--beam" : "--line");
        context.fillRect(key * side, query * side, side - 1, side - 1);
        context.globalAlpha = 1;
        if (!this.#turned.has(`${query}-${key}`)) continue;
        context.fillStyle = style.getPropertyValue("--ink");
        context.fillRect((key + 0.35) * side, (query + 0.35) * side, 0.3 * side, 0.3 * side);
      }
    const tokens = this.#mask.tokens;
    find(this.#part, "output").textContent = cell
      ? `“${tokens[cell[0]].trim()}” ${this.#isOpen(cell) ? "sees" : "does not see"} “${tokens[cell[1]].trim()}”`
      : LEGEND;
    if (!cell) return;
    context.strokeStyle = style.getPropertyValue("--ink");
    context.lineWidth = 2;
    context.strokeRect(cell[1] * side, cell[0] * side, side - 1, side - 1);
  }
}

function parseCells(cells: string) {
  return new Set(cells.split(".").filter(Boolean));
}

function clamp(value: number, size: number) {
  return Math.min(Math.max(value, 0), size - 1);
}
