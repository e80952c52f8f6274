// A map of layers whose cells are computed on demand, a few at a time: a table, its progress, and its largest numbers.

import { createTable } from "../../../../ui/frontend/export/page_export.js";
import { askRoute } from "../../../../ui/frontend/server.js";
import { remembered } from "../../../../ui/frontend/state/memory.js";
import { drawSigned } from "../../export/layer_figures.js";
import { drawCellTable, layerRows } from "../cell_table.js";
import { layerElement, showLayersMessage } from "../layer_panel.js";
import { drawRankedBars } from "../ranked_bars.js";
import { drawSteps, takeSteps, whyNoHeads } from "./steps.js";

/** @import { Routes, ShownSide } from "../../../../ui/frontend/types.js" */
/** @import { ExplorePage, ShownDrawing, TableCell } from "../../types.js" */
/** @import { CellWords } from "../cell_table.js" */
/** @import { Steps } from "./steps.js" */

/** @typedef {"head_ablation" | "patching"} MapRoute */
/**
 * The numbers of a map, [layer cell], null if not known yet, and the last answer.
 * @template {MapRoute} Name
 * @typedef {Steps & { values: (number | null)[][], meta: Routes[Name]["answer"] | null }} MapState
 */
/**
 * A map as the page currently requests it. The test ids of its elements begin with `name`; the button's is `button`.
 * @template {MapRoute} Name
 * @typedef {object} StepwiseMap
 * @property {string} name @property {string} button @property {string} start the button's title
 * @property {Name} route @property {object} asked the request fields of every layer @property {string} things such as
 * "heads"
 * @property {(layer: number, first: number) => object} place the request fields of one layer
 * @property {number} layers @property {string[]} columns
 * @property {(layer: number, column: number) => CellWords} cell
 * @property {(cell: TableCell) => void} pick
 * @property {string} help
 * @property {(cell: { title: string, value: number }, meta: Routes[Name]["answer"]) => string} read
 * @property {(meta: Routes[Name]["answer"]) => (Node | string)[]} words shown after the number of finished cells
 * @property {string} file @property {string} unit @property {string} ranked title of the largest numbers
 * @property {(meta: Routes[Name]["answer"]) => string} shown
 * @property {ShownSide} side
 */
/** @template {MapRoute} Name @typedef {(page: ExplorePage) => StepwiseMap<Name>} Describe */

const RANKED = 10;
const MOST_KEPT = 24; // maps of a page by request, so that undo restores earlier results

const memory = remembered((/** @type {ExplorePage} */ _page) => /** @type {Map<string, MapState<any>>} */ (new Map()));

/** @template {MapRoute} Name @param {StepwiseMap<Name>} map */
function mapKey({ route, asked }) {
  return `${route} ${JSON.stringify(asked)}`;
}

/** @template {MapRoute} Name @param {ExplorePage} page @param {StepwiseMap<Name>} map @returns {MapState<Name>} */
function mapState(page, map) {
  const states = memory(page);
  const known = states.get(mapKey(map));
  if (known) return known;
  const empty = () => Array.from(map.columns, () => /** @type {number | null} */ (null));
  const state = { values: Array.from({ length: map.layers }, empty), meta: null, running: null, problem: "" };
  states.set(mapKey(map), state);
  if (states.size > MOST_KEPT) states.delete(/** @type {string} */ (states.keys().next().value));
  return state;
}

/** @template {MapRoute} Name @param {Describe<Name>} describe what is mapped @returns {import("../../types.js").Tab} */
export function stepwiseMapTab(describe) {
  return { draw: (page) => drawMap(page, describe), exported: (page) => exportMap(page, describe(page)) };
}

/** @template {MapRoute} Name @param {ExplorePage} page @param {Describe<Name>} describe */
function drawMap(page, describe) {
  const why = whyNoHeads(page);
  if (why) return showLayersMessage(page, why);
  const map = describe(page);
  const state = mapState(page, map);
  const rows = layerRows(state.values, map.name, map.cell);
  drawProgress(page, describe, state);
  drawTable(page, map, state, rows);
  const [list, entries] = [layerElement(page, `${map.name}-ranked`), rankedEntries(map, rows)];
  if (list.parentElement) list.parentElement.hidden = !entries.length;
  drawRankedBars(list, entries);
}

/**
 * @template {MapRoute} Name @param {ExplorePage} page @param {StepwiseMap<Name>} map @param {MapState<Name>} state
 * @param {ReturnType<typeof layerRows>} rows
 */
function drawTable(page, map, { meta, values }, rows) {
  const reading = layerElement(page, `${map.name}-reading`);
  const read = (/** @type {TableCell | null} */ cell) => {
    const isKnown = meta && cell && cell.value !== null;
    reading.textContent = isKnown ? map.read({ ...cell, value: cell.value ?? 0 }, meta) : map.help;
  };
  const most = Math.max(...values.flat().map((value) => Math.abs(value ?? 0)), 1e-9);
  const table = layerElement(page, map.name, HTMLTableElement);
  drawCellTable(table, map.columns, rows, { most, read, pick: map.pick });
  read(null);
}

/** @template {MapRoute} Name @param {StepwiseMap<Name>} map @param {ReturnType<typeof layerRows>} rows */
function rankedEntries({ pick }, rows) {
  return rows
    .flatMap(({ cells }) => cells)
    .flatMap((cell) =>
      cell.value === null ? [] : { title: cell.title, value: cell.value, chosen: cell.chosen, pick: () => pick(cell) },
    )
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .slice(0, RANKED);
}

/** @template {MapRoute} Name @param {ExplorePage} page @param {Describe<Name>} describe @param {MapState<Name>} state */
function drawProgress(page, describe, state) {
  const { values, meta, running } = state;
  const map = describe(page);
  const all = values.flat().length;
  const done = values.flat().filter((value) => value !== null).length;
  drawSteps(page, map.button, state, () => runMap(page, describe), {
    title: done === 0 ? map.start : done < all ? "Go on" : "Done",
    share: done / all,
    isUnderway: done < all && (done > 0 || running !== null),
    words: meta ? [`${done} of ${all} ${map.things}; `, ...map.words(meta)] : [`${all} ${map.things}`],
  });
  layerElement(page, map.button, HTMLButtonElement).disabled = !running && done === all;
}

/**
 * Requests layer after layer, a few cells at a time, for the current choice, which the page may not show yet.
 * @template {MapRoute} Name @param {ExplorePage} page @param {Describe<Name>} describe
 */
function runMap(page, describe) {
  const map = describe(page);
  const state = mapState(page, map);
  const isShown = () => mapKey(describe(page)) === mapKey(map);
  return takeSteps(page, state, isShown, async (signal) => {
    const layer = state.values.findIndex((line) => line.includes(null));
    if (layer < 0) return false;
    const first = state.values[layer].indexOf(null);
    const request = /** @type {Routes[Name]["request"]} */ ({ ...map.asked, ...map.place(layer, first) });
    const { meta, start, buffer } = await askRoute(page.server.api, map.route, request, signal);
    const numbers = new Float32Array(buffer, start);
    state.meta = meta;
    state.values[layer].splice(first, numbers.length, ...numbers);
    return true;
  });
}

/**
 * @template {MapRoute} Name @param {ExplorePage} page @param {StepwiseMap<Name>} map @returns {Promise<ShownDrawing>}
 */
async function exportMap(page, map) {
  const state = mapState(page, map);
  if (!state.meta) throw new Error(`Nothing is computed yet: press “${map.start}” first, then save the result.`);
  const rows = layerRows(state.values, map.name, map.cell);
  const { columns, ranked, unit } = map;
  return {
    name: map.file,
    shown: map.shown(state.meta),
    sides: [map.side],
    draw: drawSigned({ columns, rows }, { title: ranked, entries: rankedEntries(map, rows) }, unit),
    tables: {
      [map.file.replace("-", " ")]: createTable(
        map.file.replace("-", " "),
        { layer: rows.map((_, layer) => String(layer)), [map.things.slice(0, -1)]: columns },
        state.values.flat().map((value) => value ?? Number.NaN),
      ),
    },
  };
}
