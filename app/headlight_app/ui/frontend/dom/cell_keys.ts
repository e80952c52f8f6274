// Arrow keys in a table whose cells are buttons.

import { GRID_STEPS } from "./keyboard.ts";

/** Tab leads to one button of a table, arrow keys to the others. */
export function walkByKeys(table: HTMLTableElement) {
  const buttons = [...table.querySelectorAll("button")];
  const first = buttons.find((button) => button.classList.contains("chosen")) || buttons[0];
  if (first && !table.querySelector('button[tabindex="0"]')) first.tabIndex = 0;
  table.onkeydown = (event) => onCellKey(table, event);
}

function onCellKey(table: HTMLTableElement, event: KeyboardEvent) {
  const step = GRID_STEPS[event.key];
  const button = event.target instanceof HTMLElement ? event.target : null;
  const cell = button?.closest("td");
  const line = cell?.closest("tr");
  if (!step || !button || !cell || !line) return;
  event.preventDefault();
  const next = nextButton(table, line.rowIndex, cell.cellIndex, step);
  if (!next) return;
  button.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/** The next cell in a direction that has a button. */
function nextButton(
  table: HTMLTableElement,
  row: number,
  column: number,
  [down, right]: [down: number, right: number],
) {
  for (let distance = 1; ; distance++) {
    const cell = table.rows[row + distance * down]?.cells[column + distance * right];
    if (!cell) return null;
    const button = cell.querySelector("button");
    if (button) return button;
  }
}
