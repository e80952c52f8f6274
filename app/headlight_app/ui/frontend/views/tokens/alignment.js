// An answer and what was read as two rows of tokens, with a line for each weight, on the screen and in figures.

import { addConnections, layoutConnections } from "../../charts/connections.js";
import { addLines as addTextLines, LABEL_SIZE, PRINT_COLOURS } from "../../charts/figure_text.js";
import { addColourScale, addHeatmap, addPanels } from "../../charts/shapes.js";
import { svg } from "../../charts/svg.js";
import { createChip, createElement, formatPercent, listenToChip, NO_LARGE_SHARE, quotedToken } from "../../dom/dom.js";
import { remembered } from "../../dom/memory.js";
import { encodeWeight } from "../../weight_code.js";

/** @import { TokenColumn } from "../../charts/connections.js" */
/** @import { Box, Figure } from "../../export/types.js" */
/** @import { AlignmentView, Surroundings, TokenPlace } from "../types.js" */
/** @typedef {{ answer: number | null, read: number | null }} Pointed by their places in the rows */

const FAINTEST = 0.03; // weight of a line
const NAMED = 3; // tokens named in the sentence
const LITTLE = 0.01; // a weight that is not named
const TOO_MANY = "Too many tokens for a figure; the numbers have the weights.";
const STEP = 4.6; // millimetres from token to token in a figure

const memory = remembered((/** @type {HTMLElement} */ _board) => ({
  point: /** @type {(pointed: Pointed | null) => void} */ (() => {}),
  pointed: /** @type {Pointed} */ ({ answer: null, read: null }),
  /** What the page says is pointed at, or chosen. */
  rest: /** @type {Pointed} */ ({ answer: null, read: null }),
  width: 0,
}));

/** @param {AlignmentView} view @param {Surroundings} surroundings @param {HTMLElement} note tells the token under the pointer */
export function createAlignment(view, surroundings, note) {
  note.ariaLive = "off";
  note.classList.add("telling", "pointed");
  const board = createElement("div", "two-sides");
  const point = (/** @type {Pointed | null} */ pointed) => {
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

/** Arranges the rows for each width, as long as they are on the page. @param {HTMLElement} board @param {() => void} draw */
function keepArranged(board, draw) {
  const observer = new ResizeObserver(() => {
    if (!board.isConnected) return observer.disconnect();
    if (board.clientWidth === memory(board).width) return; // the arrangement changes the height
    memory(board).width = board.clientWidth;
    arrange(board);
    draw();
  });
  observer.observe(board);
}

/** @param {AlignmentView} view */
function writtenOf({ answer, written }) {
  return written ?? answer.length;
}

/** @param {AlignmentView} view @param {Surroundings} surroundings @param {(pointed: Pointed | null) => void} point */
function createSides(view, { picks, mark }, point) {
  const side = (/** @type {string} */ name, /** @type {string} */ label, /** @type {HTMLElement[]} */ chips) =>
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

/**
 * Points at the tokens that are pointed at elsewhere on the page, or chosen.
 * @param {ParentNode} root @param {TokenPlace | null} query @param {TokenPlace | null} key
 */
export function markAlignments(root, query, key) {
  for (const board of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(".two-sides"))) {
    const [inputs, outputs] = rowsOf(board);
    const rest = { answer: placeOf(outputs, query), read: placeOf(inputs, key) };
    const before = memory(board).rest;
    if (before.answer === rest.answer && before.read === rest.read) continue; // each drawing of lines is a layout
    memory(board).rest = rest;
    memory(board).point(null);
  }
}

/** @param {HTMLElement[]} chips @param {TokenPlace | null} place */
function placeOf(chips, place) {
  const found = place ? chips.findIndex((chip) => isAt(chip, place) && !chip.matches(".ahead")) : -1;
  return found < 0 ? null : found;
}

/** @param {HTMLElement} chip @param {TokenPlace} place */
function isAt(chip, place) {
  return chip.dataset.place === place.join(" ");
}

/** @param {HTMLElement} board @returns {HTMLElement[][]} the chips of both rows */
function rowsOf(board) {
  return [...board.querySelectorAll(".side")].map((row) => /** @type {HTMLElement[]} */ ([...row.children]));
}

/** @param {HTMLElement} board @param {AlignmentView} view @param {Pointed} pointed */
function shadeChips(board, { weights }, pointed) {
  const [inputs, outputs] = rowsOf(board);
  const shade = (/** @type {HTMLElement} */ chip, /** @type {number} */ share) =>
    chip.style.setProperty("--shade", `${100 * share}%`);
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

/** Zero where the view has no weights. @param {AlignmentView["weights"]} weights @param {number} answer @param {number} read */
function weightOf(weights, answer, read) {
  return Number(weights[answer]?.[read] ?? 0);
}

/** Rows above each other if both have room, else columns with the text at the left. @param {HTMLElement} board */
function arrange(board) {
  board.classList.remove("upright");
  const isTooWide = [...board.querySelectorAll(".side")].some((row) => row.scrollWidth > board.clientWidth);
  board.classList.toggle("upright", isTooWide);
}

/** @param {HTMLElement} board @param {AlignmentView} view @param {Pointed} pointed */
function drawLines(board, view, { answer: hotAnswer, read: hotRead }) {
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

/** @param {HTMLElement} chip @param {DOMRect} frame @param {number} side @param {boolean} upright */
function lineEnd(chip, frame, side, upright) {
  const box = chip.getBoundingClientRect();
  if (upright) return { x: side ? frame.width : 0, y: box.top + box.height / 2 - frame.top };
  return { x: box.left + box.width / 2 - frame.left, y: side ? frame.height : 0 };
}

/** @typedef {{ x: number, y: number }} Point */
/** @param {Point} from @param {Point} to @param {number} opacity @param {number} weight @param {boolean} upright */
function createLine(from, to, opacity, weight, upright) {
  const [halfX, halfY] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
  const bend = upright ? `${halfX} ${from.y} ${halfX} ${to.y}` : `${from.x} ${halfY} ${to.x} ${halfY}`;
  const d = `M${from.x} ${from.y}C${bend} ${to.x} ${to.y}`;
  return svg("path", { d, "stroke-opacity": opacity, "stroke-width": 1 + 3.5 * weight });
}

/** @param {AlignmentView} view @param {Pointed} pointed */
export function pointedWords(view, { answer, read }) {
  if (!view.weights.length || (answer === null && read === null)) return [view.note];
  const token = (/** @type {string} */ text) => quotedToken({ text });
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

/** Lines between two columns, beside or above a map; a sentence without weights. Returns the bottom edge. @param {Figure} figure @param {AlignmentView} view @param {Box} box */
export function addAlignment(figure, view, box) {
  if (!view.weights.length) return addTextLines(figure, [view.tables ? TOO_MANY : view.note], box.x, box.y);
  const answer = view.answer.slice(0, writtenOf(view));
  const weights = view.weights.slice(0, answer.length).map((row) => row.map(Number));
  const codes = Uint8Array.from(weights.flat(), encodeWeight);
  const map = { rows: answer, columns: view.read, axes: { down: "answer", across: "read" }, codes };
  const panels = [(/** @type {Box} */ place) => addHeatmap(figure, map, place)];
  if (view.lines) panels.unshift((place) => addLines(figure, view, weights, place));
  const y = addPanels(figure, box.y, panels, box.width > 110 ? panels.length : 1);
  return addColourScale(figure, { low: "0", high: "1", words: "square-root scale" }, box.x, y);
}

/** What was read at the left, the answer at the right. @param {Figure} figure @param {AlignmentView} view @param {number[][]} weights @param {Box} box */
function addLines(figure, { read, answer, notes }, weights, box) {
  /** @type {[TokenColumn, TokenColumn]} */
  const sides = [
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
