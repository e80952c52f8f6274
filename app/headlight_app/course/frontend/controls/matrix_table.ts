// A matrix as a table of fields, which grows and shrinks by rows and columns.

import { activeElement, createElement, createHeading } from "../../../ui/frontend/dom/dom.ts";
import { GRID_STEPS } from "../../../ui/frontend/dom/keyboard.ts";
import { titleNodes } from "../../../ui/frontend/formulas/formula.ts";
import type { Axis, MatrixControl } from "../contract.ts";
import type { Inputs } from "../inputs.ts";
import { isInvalid } from "../inputs.ts";

type Resize = (axis: Axis, by: number) => void;

export class MatrixTable {
  element = createElement("div", "control matrix");
  #control;
  #change;
  #table = createElement("table", "matrix-input");
  #sizes = createElement("div", "sizes");
  #resized;
  #resize;
  #cells: string[][] = [];

  /** @param resized the axes that have resize buttons in this table */
  constructor(control: MatrixControl, change: (text: string) => void, resized: Axis[], resize: Resize) {
    this.#control = control;
    this.#resized = resized;
    this.#change = change;
    this.#resize = resize;
    this.#table.dataset.testid = `input-${control.name}`;
    this.#table.ariaLabel = control.title;
    this.#table.onkeydown = (event) => this.#move(event);
    this.element.append(createTitle(control.title), this.#table, this.#sizes);
  }

  draw(text: string) {
    const cells = readCells(text);
    const isSameShape = shapeOf(cells) === shapeOf(this.#cells);
    this.#cells = cells;
    if (!isSameShape) this.#build();
    const fields = this.#table.querySelectorAll("input");
    cells.flat().forEach((value, index) => {
      const field = fields[index];
      if (field.value !== value) field.value = value;
      if (this.#control.switches) field.checked = value === "1";
      else field.ariaInvalid = String(isInvalid(value));
    });
  }

  #build() {
    const { rows, columns } = this.#control;
    const head = createElement("tr", "", [
      createElement("td"),
      ...(this.#cells[0] ?? []).map((_, column) => createHeading(labelOf(columns, column), "col")),
    ]);
    const lines = this.#cells.map((cells, row) => {
      const line = createElement("tr");
      line.append(createHeading(labelOf(rows, row), "row"), ...cells.map((_, column) => this.#createCell(row, column)));
      return line;
    });
    this.#table.replaceChildren(head, ...lines);
    this.#sizes.replaceChildren(
      ...this.#resized.map((axis) => {
        const count = axis.name === rows.name ? this.#cells.length : (this.#cells[0]?.length ?? 0);
        return this.#sizeButtons(axis, count);
      }),
    );
  }

  #createCell(row: number, column: number) {
    const { title, rows, columns, switches } = this.#control;
    const ariaLabel = `${title}, row ${labelOf(rows, row)}, column ${labelOf(columns, column)}`;
    const type = switches ? "checkbox" : "text";
    const field = createElement("input", "", [], { type, ariaLabel, autocomplete: "off" });
    if (!switches) field.inputMode = "decimal";
    const changed = () => this.#set(row, column, switches ? (field.checked ? "1" : "0") : field.value);
    if (switches) field.onchange = changed;
    else field.oninput = changed;
    field.onfocus = () => field.select();
    return createElement("td", "", [field]);
  }

  /** Replaces separators, which would split the cell. */
  #set(row: number, column: number, text: string) {
    this.#cells[row][column] = text.replaceAll(",", ".").replaceAll(";", "");
    this.#change(writeCells(this.#cells));
  }

  #sizeButtons(axis: Axis, count: number) {
    const buttons = [-1, 1].map((by) => {
      const title = `${by < 0 ? "Fewer" : "More"} ${axis.name}`;
      const disabled = by < 0 ? count <= axis.least : count >= axis.most;
      const named = { title, ariaLabel: title, disabled };
      return createElement("button", "small", by < 0 ? "−" : "+", { ...named, onclick: () => this.#resize(axis, by) });
    });
    return createElement("span", "size", [createElement("span", "", axis.name), ...buttons]);
  }

  /** Arrow keys move between cells: up and down always, sideways from the ends of a text. */
  #move(event: KeyboardEvent) {
    const [down, right] = GRID_STEPS[event.key] ?? [0, 0];
    const fields = [...this.#table.querySelectorAll("input")];
    const active = activeElement(this.#table);
    const place = active instanceof HTMLInputElement ? fields.indexOf(active) : -1;
    if (place < 0 || (!down && !right)) return;
    const field = fields[place];
    if (right && field.type === "text" && field.selectionStart === field.selectionEnd) {
      if (field.selectionStart !== (right > 0 ? field.value.length : 0)) return;
    }
    const next = fields[place + right + down * this.#cells[0].length];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }
}

/** The texts of all matrices after an axis that they share has grown or shrunk by one. */
export function resizedTogether(
  matrices: MatrixControl[],
  texts: Record<string, string>,
  axis: Axis,
  by: number,
): Inputs {
  const patch: Record<string, string> = {};
  for (const { name, rows, columns, switches } of matrices) {
    let cells = readCells(texts[name]);
    const filling = switches ? "1" : "0";
    if (rows.name === axis.name) cells = by < 0 ? cells.slice(0, -1) : [...cells, cells[0].map(() => filling)];
    if (columns.name === axis.name) cells = cells.map((row) => (by < 0 ? row.slice(0, -1) : [...row, filling]));
    patch[name] = writeCells(cells);
  }
  return patch;
}

function readCells(text: string) {
  return text.split(";").map((row) => row.split(","));
}

export function writeCells(cells: string[][]) {
  return cells.map((row) => row.join(",")).join(";");
}

function shapeOf(cells: string[][]) {
  return cells.map((row) => row.length).join();
}

function labelOf({ labels }: Axis, index: number) {
  return labels[index] ?? String(index);
}

/** The title of a control. */
export function createTitle(title: string) {
  return createElement("span", "control-title", titleNodes(title));
}

/**
 * The axes for which each matrix has buttons: those that can be resized and have no buttons in an earlier matrix.
 * @returns by the matrix's name
 */
export function resizedAxes(matrices: MatrixControl[]): Map<string, Axis[]> {
  const known: Set<string> = new Set();
  return new Map(
    matrices.map(({ name, rows, columns }) => {
      const axes = [rows, columns].filter((axis) => {
        const isNew = axis.least !== axis.most && !known.has(axis.name);
        known.add(axis.name);
        return isNew;
      });
      return [name, axes];
    }),
  );
}
