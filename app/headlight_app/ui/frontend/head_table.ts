// A table of all heads, a row for each layer: a click or the arrow keys choose one. Callers draw the cells' content.

import { closest, createElement, updateChildren } from "./dom/dom.ts";
import { GRID_STEPS } from "./dom/keyboard.ts";

/** The numbers of layers and heads; `name` distinguishes attentions of the same size. */
type HeadTableShape = { name: string; layers: number; heads: number };
type ChooseHead = (layer: number, head: number) => void;

export class HeadTable {
  #element;
  #choose;
  #shape = "";
  #cells: HTMLElement[][] = [];

  /** @param element container of the table */
  constructor(element: HTMLElement, choose: ChooseHead) {
    this.#element = element;
    this.#choose = choose;
    element.onkeydown = (event) => this.#moveFocus(event);
  }

  /** Creates the cells if the shape has changed. @param content of a new cell */
  layout({ name, layers, heads }: HeadTableShape, content: () => Node[] = () => []) {
    const shape = `${name} ${layers}x${heads}`;
    if (this.#shape === shape) return;
    this.#shape = shape;
    this.#element.style.setProperty("--heads", String(heads));
    this.#cells = range(layers).map((layer) => range(heads).map((head) => this.#createCell(layer, head, content())));
    const rows = this.#cells.map((cells, layer) =>
      createElement("div", "row", [createElement("span", "", String(layer)), ...cells], { role: "row" }),
    );
    updateChildren(this.#element, headerRow(heads), ...rows);
  }

  forEach(visit: (cell: HTMLElement, layer: number, head: number) => void) {
    this.#cells.forEach((cells, layer) => {
      cells.forEach((cell, head) => {
        visit(cell, layer, head);
      });
    });
  }

  #createCell(layer: number, head: number, content: Node[]) {
    const testid = `${this.#element.dataset.testid}-${layer}-${head}`;
    const onclick = () => this.#choose(layer, head);
    const cell = createElement("div", "head-cell", content, { role: "gridcell", testid, onclick });
    for (const picture of cell.children) picture.ariaHidden = "true"; // the cell's label describes it
    return cell;
  }

  #moveFocus(event: KeyboardEvent) {
    const step = GRID_STEPS[event.key];
    const cell = closest(event, ".head-cell");
    const row = cell ? this.#cells.findIndex((cells) => cells.includes(cell)) : -1;
    if (!step || !cell || row < 0) return;
    event.preventDefault();
    const column = this.#cells[row].indexOf(cell);
    const layer = clamp(row + step[0], this.#cells.length - 1);
    const head = clamp(column + step[1], this.#cells[layer].length - 1);
    this.#choose(layer, head);
    this.#cells[layer][head].focus();
  }
}

/** Labels a cell and marks whether it is chosen. @param focusable whether it is a tab stop */
export function labelCell(cell: HTMLElement, label: string, chosen: boolean, focusable: boolean = chosen) {
  cell.classList.toggle("chosen", chosen);
  cell.ariaSelected = String(chosen);
  cell.ariaLabel = label;
  cell.title = label;
  cell.tabIndex = focusable ? 0 : -1;
}

function headerRow(heads: number) {
  return createElement(
    "div",
    "row",
    [createElement("span", "corner", "layer"), ...range(heads).map((head) => createElement("span", "", String(head)))],
    { ariaHidden: "true" },
  );
}

function range(count: number) {
  return Array.from({ length: count }, (_, place) => place);
}

function clamp(value: number, last: number) {
  return Math.min(Math.max(value, 0), last);
}
