// A cell of a map, to be chosen; the arrow keys move between cells.

import { activeElement, createElement, createHeading } from "../../../ui/frontend/dom/dom.ts";
import { GRID_STEPS } from "../../../ui/frontend/dom/keyboard.ts";
import type { AskedQuestion } from "../contract.ts";
import type { Answer } from "../question.ts";

export function createPoint({ text, rows, columns, ruled_out, given }: AskedQuestion, answer: Answer): HTMLElement {
  const [chosenRow, chosenColumn] = given.split(",").map(Number);
  const buttons = rows.map((row, down) =>
    columns.map((column, right) => {
      const ariaLabel = `Row ${row}, column ${column}`;
      const ruledOut = ruled_out.includes(`${down},${right}`);
      const button = createElement("button", "cell", ruledOut ? "×" : "", { ariaLabel, title: ariaLabel });
      button.ariaDisabled = String(ruledOut);
      button.tabIndex = down === (chosenRow || 0) && right === (chosenColumn || 0) ? 0 : -1;
      button.onclick = () => !ruledOut && answer(`${down},${right}`);
      return button;
    }),
  );
  const table = createElement("table", "cell-map", [
    createElement("tr", "", [createElement("td"), ...columns.map((column) => createHeading(column, "col"))]),
    ...rows.map((row, down) =>
      createElement("tr", "", [
        createHeading(row, "row"),
        ...buttons[down].map((button) => createElement("td", "", [button])),
      ]),
    ),
  ]);
  table.ariaLabel = text;
  table.onkeydown = (event) => {
    const [down, right] = GRID_STEPS[event.key] ?? [0, 0];
    const place = buttons.flat().indexOf(activeElement(table) as HTMLButtonElement);
    const next = buttons[Math.floor(place / columns.length) + down]?.[(place % columns.length) + right];
    if (!next || (!down && !right)) return;
    event.preventDefault();
    for (const button of buttons.flat()) button.tabIndex = button === next ? 0 : -1;
    next.focus();
  };
  return createElement("div", "scroll", [table]);
}
