// A matrix as a heat map with the numbers, or texts, in its cells.

import { divergingColour, largestSize } from "../charts/charts.ts";
import { CIVIDIS, colour, hexColour, readableInk } from "../charts/colours.ts";
import { walkByKeys } from "../dom/cell_keys.ts";
import { createElement, createHeading, inlineText } from "../dom/dom.ts";
import { formatFixed, formatNumber, formatShort, formatSigned, roundedParts, sumText } from "../dom/numbers.ts";
import { createColourLegend } from "./colour_legend.ts";
import type { MatrixView, Pick, Picks, View } from "./types.ts";

const GOLDEN_ANGLE = 137.5; // degrees between successive hues: a few groups have distinct colours
const DIGITS = 3; // of the numbers in front of a row

/** @param note tells the cell under the pointer */
export function createMatrix(view: MatrixView, picks: Picks | undefined, note: HTMLElement) {
  if (!view.values.length) return createElement("div");
  const table = createElement("table", view.cell_notes.length ? "heat noted" : "heat");
  if (view.title) table.ariaLabel = view.title;
  const head = createHead(view);
  if (head) table.append(head);
  const scales = scalesOf(view);
  table.append(createElement("tbody", "", [...view.values.map((_, row) => createLine(view, row, scales[row]))]));
  if (isTold(view)) tellCells(view, table, note);
  const chooses = [view.picks, view.row_picks, view.column_picks].some((some) => some.length);
  if (picks && (chooses || isTold(view))) makeButtons(view, table, picks);
  const frame = createElement("div", "scroll", [table]);
  if (note.classList.contains("telling") && table.role !== "grid")
    Object.assign(frame, { tabIndex: 0, role: "region", ariaLabel: view.title }); // so that keys can scroll it
  return view.unit ? createElement("div", "", [frame, createColourLegend(scaleWords(view, scales[0]))]) : frame;
}

/** Whether the note tells the cell under the pointer. */
function isTold({ titles, details, row_notes }: MatrixView) {
  return [titles, details, row_notes].some((words) => words.length);
}

/** The ends of the colours, and what they mean. */
export function scaleWords(
  { colours, scaled_by, unit }: MatrixView,
  scale: number,
): { low: string; high: string; words: string; signed: boolean } {
  const [signed, prefix] = [!isSequential(colours), unit && `${unit}, `];
  if (colours === "sequential") return { low: "0", high: formatFixed(scale, 2), words: unit, signed };
  if (!signed) return { low: "0", high: "1", words: `${prefix}on a square-root scale`, signed };
  if (scaled_by === "row")
    return { low: "−", high: "+", words: `${prefix}the largest number of the row, no colour at zero`, signed };
  return { low: formatSigned(-scale), high: formatSigned(scale), words: `${prefix}no colour at zero`, signed };
}

/** Whether numbers have the colours of attention maps. */
export function isSequential(colours: MatrixView["colours"]) {
  return colours === "shares" || colours === "sequential";
}

/** The colour of attention maps for a number. */
export function sequentialColour(colours: MatrixView["colours"], value: number, scale: number) {
  return colour(colours === "shares" ? Math.sqrt(value) : value / scale, CIVIDIS);
}

/** The number with the deepest colour, for each row. */
export function scalesOf({ values, colours, scaled_by, least_scale }: MatrixView) {
  const largest = (numbers: MatrixView["values"][number]) =>
    numbers.some(Number) || !least_scale ? Math.max(largestSize(numbers), least_scale) : least_scale;
  const all = colours === "weights" || colours === "shares" ? 1 : largest(values.flat());
  return values.map((numbers) => (scaled_by === "row" ? largest(numbers) : all));
}

/** The colour of a group, as #rrggbb. */
export function groupColour(group: number) {
  const hue = (group * GOLDEN_ANGLE) % 360;
  const channel = (place: number) => {
    const turned = (place + hue / 30) % 12;
    return Math.round(255 * (0.5 - 0.375 * Math.max(-1, Math.min(turned - 3, 9 - turned, 1)))); // HSL: 75 %, 50 %
  };
  return hexColour([channel(0), channel(8), channel(4)]);
}

/** What is written in a cell. */
export function cellText({ values, texts, digits, colours }: MatrixView, row: number, column: number, scale: number) {
  const value = Number(values[row][column]);
  if (texts.length) return texts[row][column];
  if (digits !== null) return formatFixed(value, digits);
  if (Number.isNaN(value)) return "";
  const number = formatShort(value, scale);
  if (!isSequential(colours)) return number;
  return number === "·" && value ? "<.01" : number.replace("+", ""); // without a sign, as nothing is below 0
}

/** A number in front of a row. */
export function formatRowNumber(number: string | number) {
  return formatNumber(Number(number), DIGITS);
}

function createHead({ values, rows, columns, row_axis, column_axis, row_sums, row_numbers }: MatrixView) {
  const numbers = Object.keys(row_numbers);
  if (!columns.length && !row_sums && !column_axis && !numbers.length) return null;
  const line = createElement("tr");
  if (rows.length) line.append(createElement("td", "axes", axes(row_axis, column_axis)));
  line.append(
    ...numbers.map((name) => createHeading(name, "col")),
    ...values[0].map((_, column) =>
      columns[column] ? createName(columns[column], "col") : createElement("td", "axes"),
    ),
  );
  if (row_sums) line.append(createHeading("sum", "col"));
  return createElement("thead", "", [line]);
}

/** A name, which may be a token: isolated from the direction of the text around it. */
function createName(name: string, scope: "row" | "col") {
  return createHeading([createElement("bdi", "", inlineText(name))], scope);
}

function axes(row: string, column: string) {
  return [row && `${row} ↓`, column && `${column} →`].filter(Boolean).join(" ");
}

function createLine(view: MatrixView, row: number, scale: number) {
  const { values, rows, row_sums, row_numbers, row_notes } = view;
  const line = createElement("tr");
  const name = rows[row] ? createName(rows[row], "row") : createHeading("", "row");
  if (row_notes[row]) name.title = row_notes[row];
  if (rows.length) line.append(name);
  line.append(
    ...Object.values(row_numbers).map((numbers) => createElement("td", "figure", formatRowNumber(numbers[row]))),
    ...values[row].map((_, column) => createCell(view, row, column, scale)),
  );
  if (row_sums) line.append(createElement("td", "sum", rowSum(view, row)));
  return line;
}

/** The sum of a row. */
export function rowSum({ values, digits }: MatrixView, row: number) {
  return sumText(values[row].map(Number), digits ?? DIGITS);
}

/** The views of a row. Matrices that are added have numbers that add up, and one scale of colours. */
export function withSums(views: View[]): View[] {
  const end = views.findIndex(({ before }) => before === "=");
  const matrices = views.slice(0, end + 1).filter((view) => view.kind === "matrix");
  const isSum = matrices.every(
    (view, place) =>
      view.before === (place === end ? "=" : place ? "+" : "") && !view.texts.length && isOfShape(view, matrices[0]),
  );
  if (end < 2 || matrices.length <= end || !isSum) return views;
  const least_scale = largestSize(matrices.flatMap(({ values }) => values.flat()));
  const texts = addedTexts(matrices, matrices[end].digits ?? DIGITS);
  return [...matrices.map((view, place) => ({ ...view, texts: texts[place], least_scale })), ...views.slice(end + 1)];
}

function isOfShape({ values }: MatrixView, other: MatrixView) {
  return String(values.map(({ length }) => length)) === String(other.values.map(({ length }) => length));
}

/** What is written in the cells of matrices, the last of which is the sum of the others. */
function addedTexts(matrices: MatrixView[], digits: number) {
  const cells = matrices[0].values.map((line, row) =>
    line.map((_, column) => {
      const numbers = matrices.map(({ values }) => Number(values[row][column]));
      const total = numbers.pop() ?? 0;
      return [...roundedParts(numbers, total, digits), total].map((number) => formatFixed(number, digits));
    }),
  );
  return matrices.map((_, place) => cells.map((line) => line.map((texts) => texts[place])));
}

function createCell(view: MatrixView, row: number, column: number, scale: number) {
  const { values, colours, crossed, marked } = view;
  const value = Number(values[row][column]);
  const cell = createElement("td", "", cellParts(view, row, column, scale));
  Object.assign(cell.dataset, { row, column });
  if (crossed?.[row][column]) cell.classList.add("crossed");
  else if (colours !== "none" && Number.isFinite(value)) cell.style.background = shade(colours, value, scale);
  if (isSequential(colours) && Number.isFinite(value))
    cell.style.color = readableInk(sequentialColour(colours, value, scale));
  if (!isTold(view)) cell.title = String(value);
  cell.classList.toggle(
    "marked",
    marked.some(([markedRow, markedColumn]) => markedRow === row && markedColumn === column),
  );
  return cell;
}

/** What is written in a cell, and its note. */
function cellParts(view: MatrixView, row: number, column: number, scale: number) {
  const text = cellText(view, row, column, scale);
  if (!view.cell_notes.length) return text;
  const note = view.cell_notes[row]?.[column];
  return [createElement("bdi", "", text), ...(note ? [createElement("small", "", note)] : [])];
}

function shade(colours: MatrixView["colours"], value: number, scale: number) {
  if (isSequential(colours)) return hexColour(sequentialColour(colours, value, scale));
  if (colours !== "groups") return divergingColour(value / scale);
  return `color-mix(in srgb, ${groupColour(value)} 28%, var(--surface))`;
}

/** A cell in words; its token is isolated from the direction of the text around it. */
function cellWords({ values, rows, columns, titles, details, row_notes }: MatrixView, row: number, column: number) {
  const said = details.length ? details[row][column] : formatSigned(Number(values[row][column]));
  const names = [rows[row], columns[column] && `\u2068“${inlineText(columns[column])}”\u2069`];
  const title = titles.length ? titles[row][column] : names.filter(Boolean).join(", ");
  return `${title}: ${said}${row_notes[row] ? ` (${row_notes[row]})` : ""}`;
}

/** The note tells the cell under the pointer, or the focus. */
function tellCells(view: MatrixView, table: HTMLElement, note: HTMLElement) {
  const tell = (event: Event) => {
    const cell = event.target instanceof Element ? event.target.closest("td") : null;
    const [row, column] = [Number(cell?.dataset.row), Number(cell?.dataset.column)];
    const isTold = cell?.dataset.row && (cell.textContent || view.details[row]?.[column]);
    note.textContent = isTold ? cellWords(view, row, column) : view.note;
  };
  note.ariaLive = "off";
  note.classList.add("telling");
  table.addEventListener("focusin", tell);
  table.onmousemove = tell; // not mouseover, which a table under a resting pointer gets when it is drawn
  table.onmouseleave = () => {
    note.textContent = view.note;
  };
}

/** Makes a button of each cell that can be read or chosen. */
function makeButtons(view: MatrixView, table: HTMLTableElement, picks: Picks) {
  table.role = "grid";
  for (const cell of table.querySelectorAll("td[data-row]") as NodeListOf<HTMLElement>) {
    const [row, column] = [Number(cell.dataset.row), Number(cell.dataset.column)];
    const pick: Pick = view.picks[row]?.[column] ?? view.column_picks[column] ?? {};
    const hasPick = Object.keys(pick).length > 0;
    if (!hasPick && !(isTold(view) && cell.textContent)) continue;
    const isChosen = hasPick && picks.isChosen(pick);
    const button = createElement("button", isChosen ? "chosen" : "", [...cell.childNodes]);
    Object.assign(button, { tabIndex: -1, ariaLabel: cellWords(view, row, column) });
    if (hasPick) Object.assign(button, { ariaPressed: String(isChosen), onclick: () => picks.choose(pick) });
    else button.ariaDisabled = "true"; // read by the keyboard all the same
    cell.replaceChildren(button);
  }
  table.querySelectorAll("tbody th").forEach((name, row) => {
    const pick = view.row_picks[row] ?? {};
    if (Object.keys(pick).length)
      name.replaceChildren(createElement("button", "", [...name.childNodes], { onclick: () => picks.choose(pick) }));
  });
  walkByKeys(table);
}
