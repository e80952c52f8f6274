// A mask, drawn cell by cell: the table of a control, and a button to submit it.

import { createElement } from "../../../ui/frontend/dom/dom.ts";
import type { AskedQuestion } from "../contract.ts";
import { MatrixTable, writeCells } from "../controls/matrix_table.ts";
import type { Answer } from "../question.ts";

export function createDraw({ rows, columns, given }: AskedQuestion, answer: Answer): HTMLElement {
  let drawn = given.includes(",") ? given : writeCells(rows.map(() => columns.map(() => "0")));
  const axis = (labels: string[]) => ({ name: "", least: labels.length, most: labels.length, labels });
  const sides = { rows: axis(rows), columns: axis(columns) };
  const named = { kind: "matrix" as const, name: "answer", title: "Your mask", default: drawn, when: "" };
  const keep = (text: string) => {
    drawn = text;
  };
  const table = new MatrixTable({ ...named, ...sides, switches: true }, keep, [], () => {});
  table.draw(drawn);
  const button = createElement("button", "small", "Check", { onclick: () => answer(drawn) });
  return createElement("div", "scroll", [table.element, button]);
}
