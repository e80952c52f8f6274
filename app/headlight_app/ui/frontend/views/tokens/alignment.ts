// An answer and what was read as two rows of tokens, with a line for each weight, on the screen and in figures.

import type { TokenColumn } from "../../charts/connections.ts";
import { addConnections, layoutConnections } from "../../charts/connections.ts";
import { addLines as addTextLines, LABEL_SIZE, PRINT_COLOURS } from "../../charts/figure_text.ts";
import { addColourScale, addHeatmap, addPanels } from "../../charts/shapes.ts";
import { svg } from "../../charts/svg.ts";
import { createChip, createElement, listenToChip, NO_LARGE_SHARE, quotedToken } from "../../dom/dom.ts";
import { remembered } from "../../dom/memory.ts";
import { formatPercent } from "../../dom/numbers.ts";
import type { Box, Figure } from "../../export/types.ts";
import { encodeWeight } from "../../weight_code.ts";
import type { AlignmentView, Surroundings, TokenPlace } from "../types.ts";

type Pointed = { answer: number | null; read: number | null }; // by their places in the rows

const FAINTEST = 0.03; // weight of a line
const NAMED = 3; // tokens named in the sentence
const LITTLE = 0.01; // a weight that is not named
const TOO_MANY = "Too many tokens for a figure; the numbers have the weights.";
const STEP = 4.6; // millimetres from token to token in a figure

const memory = remembered((_board: HTMLElement) => ({
  point: (() => {}) as (pointed: Pointed | null) => void,
  pointed: { answer: null, read: null } as Pointed,
  /** What the page says is pointed at, or chosen. */
  rest: { answer: null, read: null } as Pointed,
  width: 0,
}));

/** @param note tells the token under the pointer */
export function createAlignment(view: AlignmentView, surroundings: Surroundings, note: HTMLElement) {
  note.ariaLive = "off";
  note.classList.add("telling", "pointed");
  const board = createElement("div", "two-sides");
  const point = (pointed: Pointed | null) => {
    const state = memory(board);
    state.pointed = pointed ?? state.rest;
    drawLines(board, view, state.pointed);
    shadeChips(board, view, state.pointed);
    note.replaceChildren(...pointedWords(view, state.pointed));
  };
  memory(board).point = point;
  const [read, answer] = createSides(view, surroundings, point);
  board.append(read, ...(view.lines ? [svg("svg", { "aria-hidden": "true", class: "lines" })] : []), answer);
  point(null);
  keepArranged(board, () => drawLines(board, view, memory(board).pointed));
  return board;
}

/** Arranges the rows for each width, as long as they are on the page. */
function keepArranged(board: HTMLElement, draw: () => void) {
  const observer = new ResizeObserver(() => {
    if (!board.isConnected) return observer.disconnect();
    if (board.clientWidth === memory(board).width) return; // the arrangement changes the height
    memory(board).width = board.clientWidth;
    arrange(board);
    draw();
  });
  observer.observe(board);
}

function writtenOf({ answer, written }: AlignmentView) {
  return written ?? answer.length;
}

function createSides(view: AlignmentView, { picks, mark }: Surroundings, point: (pointed: Pointed | null) => void) {
  const side = (name: string, label: string, chips: HTMLElement[]) =>
    createElement("div", `side ${name}`, chips, { role: "group", ariaLabel: label });
  const left = () => {
    point(null);
    mark?.(null);
  };
  const read = view.read.map((text, place) => {
    const chip = createChip({ text, special: false, masked: false }, place === 0);
    const key = view.read_places[place];
    if (key) chip.dataset.place = key.join(" ");
    listenToChip(chip, {
      read: () => {
        point({ answer: null, read: place });
        if (key) mark?.(null, key);
      },
      left,
    });
    return chip;
  });
  const answer = view.answer.map((text, place) => {
    const chip = createChip({ text, special: false, masked: false }, place === 0);
    chip.classList.toggle("wrong", view.wrong.includes(place));
    chip.classList.toggle("ahead", place >= writtenOf(view));
    if (view.notes[place]) chip.append(createElement("small", "", view.notes[place]));
    if (view.places[place]) chip.dataset.place = view.places[place].join(" ");
    chip.onclick = () => picks?.choose(view.picks[place]);
    listenToChip(chip, {
      read: () => {
        point({ answer: place, read: null });
        mark?.(view.places[place]);
      },
      left,
    });
    return chip;
  });
  return [side("inputs", "What was read", read), side("outputs", "The answer", answer)];
}

/** Points at the tokens that are pointed at elsewhere on the page, or chosen. */
export function markAlignments(root: ParentNode, query: TokenPlace | null, key: TokenPlace | null) {
  for (const board of root.querySelectorAll(".two-sides") as NodeListOf<HTMLElement>) {
    const [inputs, outputs] = rowsOf(board);
    const rest = { answer: placeOf(outputs, query), read: placeOf(inputs, key) };
    const before = memory(board).rest;
    if (before.answer === rest.answer && before.read === rest.read) continue; // each drawing of lines is a layout
    memory(board).rest = rest;
    memory(board).point(null);
  }
}

function placeOf(chips: HTMLElement[], place: TokenPlace | null) {
  const found = place ? chips.findIndex((chip) => isAt(chip, place) && !chip.matches(".ahead")) : -1;
  return found < 0 ? null : found;
}

function isAt(chip: HTMLElement, place: TokenPlace) {
  return chip.dataset.place === place.join(" ");
}

/** @returns the chips of both rows */
function rowsOf(board: HTMLElement): HTMLElement[][] {
  return [...board.querySelectorAll(".side")].map((row) => [...row.children] as HTMLElement[]);
}

function shadeChips(board: HTMLElement, { weights }: AlignmentView, pointed: Pointed) {
  const [inputs, outputs] = rowsOf(board);
  const shade = (chip: HTMLElement, share: number) => chip.style.setProperty("--shade", `${100 * share}%`);
  inputs.forEach((chip, read) => {
    shade(chip, pointed.answer === null ? 0 : weightOf(weights, pointed.answer, read));
    chip.classList.toggle("key", pointed.read === read);
  });
  outputs.forEach((chip, answer) => {
    const isShaded = pointed.read !== null && pointed.answer === null;
    shade(chip, isShaded ? weightOf(weights, answer, pointed.read ?? 0) : 0);
    chip.classList.toggle("query", pointed.answer === answer);
  });
}

/** Zero where the view has no weights. */
function weightOf(weights: AlignmentView["weights"], answer: number, read: number) {
  return Number(weights[answer]?.[read] ?? 0);
}

/** Rows above each other if both have room, else columns with the text at the left. */
function arrange(board: HTMLElement) {
  board.classList.remove("upright");
  const isTooWide = [...board.querySelectorAll(".side")].some((row) => row.scrollWidth > board.clientWidth);
  board.classList.toggle("upright", isTooWide);
}

function drawLines(board: HTMLElement, view: AlignmentView, { answer: hotAnswer, read: hotRead }: Pointed) {
  const lines = board.querySelector("svg");
  if (!lines || !board.isConnected) return;
  const frame = lines.getBoundingClientRect();
  const upright = board.classList.contains("upright");
  const [froms, tos] = rowsOf(board).map((chips, side) => chips.map((chip) => lineEnd(chip, frame, side, upright)));
  const paths = tos.slice(0, writtenOf(view)).flatMap((to, answer) =>
    froms.flatMap((from, read) => {
      const weight = weightOf(view.weights, answer, read);
      const hot = (hotAnswer === null || hotAnswer === answer) && (hotRead === null || hotRead === read);
      return weight < FAINTEST ? [] : [createLine(from, to, weight * (hot ? 1 : 0.1), weight, upright)];
    }),
  );
  lines.replaceChildren(...paths);
}

function lineEnd(chip: HTMLElement, frame: DOMRect, side: number, upright: boolean) {
  const box = chip.getBoundingClientRect();
  if (upright) return { x: side ? frame.width : 0, y: box.top + box.height / 2 - frame.top };
  return { x: box.left + box.width / 2 - frame.left, y: side ? frame.height : 0 };
}

type Point = { x: number; y: number };
function createLine(from: Point, to: Point, opacity: number, weight: number, upright: boolean) {
  const [halfX, halfY] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
  const bend = upright ? `${halfX} ${from.y} ${halfX} ${to.y}` : `${from.x} ${halfY} ${to.x} ${halfY}`;
  const d = `M${from.x} ${from.y}C${bend} ${to.x} ${to.y}`;
  return svg("path", { d, "stroke-opacity": opacity, "stroke-width": 1 + 3.5 * weight });
}

function pointedWords(view: AlignmentView, { answer, read }: Pointed) {
  if (!view.weights.length || (answer === null && read === null)) return [view.note];
  const token = (text: string) => quotedToken({ text });
  const others = answer !== null ? view.read : view.answer.slice(0, writtenOf(view));
  const shares = others.map((_, place) =>
    answer !== null ? weightOf(view.weights, answer, place) : weightOf(view.weights, place, read ?? 0),
  );
  const best = [...shares.keys()].sort((one, other) => shares[other] - shares[one]).slice(0, NAMED);
  const named = best
    .filter((place, rank) => rank === 0 || shares[place] >= LITTLE)
    .flatMap((place, rank) => [rank ? ", " : "", token(others[place]), ` ${formatPercent(shares[place])}`]);
  const isLarge = shares[best[0]] > 0.005;
  if (answer !== null)
    return [token(view.answer[answer]), ` ${view.verb} `, ...(isLarge ? named : [NO_LARGE_SHARE]), "."];
  if (!(shares[best[0]] >= LITTLE)) return [token(view.read[read ?? 0]), " was hardly looked at."];
  return [token(view.read[read ?? 0]), " was looked at for ", ...named, "."];
}

/** Lines between two columns, beside or above a map; a sentence without weights. Returns the bottom edge. */
export function addAlignment(figure: Figure, view: AlignmentView, box: Box) {
  if (!view.weights.length) return addTextLines(figure, [view.tables ? TOO_MANY : view.note], box.x, box.y);
  const answer = view.answer.slice(0, writtenOf(view));
  const weights = view.weights.slice(0, answer.length).map((row) => row.map(Number));
  const codes = Uint8Array.from(weights.flat(), encodeWeight);
  const map = { rows: answer, columns: view.read, axes: { down: "answer", across: "read" }, codes };
  const panels = [(place: Box) => addHeatmap(figure, map, place)];
  if (view.lines) panels.unshift((place) => addLines(figure, view, weights, place));
  const y = addPanels(figure, box.y, panels, box.width > 110 ? panels.length : 1, box);
  return addColourScale(figure, { low: "0", high: "1", words: "square-root scale" }, box.x, y, box.width);
}

/** What was read at the left, the answer at the right. */
function addLines(figure: Figure, { read, answer, notes }: AlignmentView, weights: number[][], box: Box) {
  const sides: [TokenColumn, TokenColumn] = [
    { title: "read", names: read },
    { title: "answer", names: weights.map((_, place) => [answer[place], notes[place]].filter(Boolean).join(" ")) },
  ];
  const lines = weights.flatMap((row, column) =>
    row.map((strength, place) => ({
      row: place,
      column,
      strength,
      stroke: PRINT_COLOURS.beam,
      opacity: Math.min(strength, 1),
      dashed: false,
    })),
  );
  const strong = lines.filter(({ strength }) => strength >= FAINTEST);
  return addConnections(figure, layoutConnections(sides, box, { step: STEP, size: LABEL_SIZE }), sides, strong);
}
