// Ablate all: each head off in turn, asked layer by layer until all are done or somebody stops it.

import { formatSigned } from "../../../../ui/frontend/charts/charts.js";
import { createElement, formatPercent, inlineText } from "../../../../ui/frontend/dom/dom.js";
import { failureText, isAbort } from "../../../../ui/frontend/server.js";
import { currentGroup } from "../../../../ui/frontend/state/head_selection.js";
import { remembered } from "../../../../ui/frontend/state/memory.js";
import { drawSigned } from "../../export/layer_figures.js";
import { runOf } from "../../export/shown_run.js";
import { askRoute } from "../../server.js";
import { drawCellTable } from "../cell_table.js";
import { answerPosition, isCurrentHead, layerElement, selectHeadOf, showLayersMessage } from "../layer_panel.js";
import { drawRankedBars } from "../ranked_bars.js";

/** @import { ExploreAnswer, ExplorePage, HeadAblationAnswer, Tab, TableCell } from "../../types.js" */
/** @import { ShownDrawing } from "../../../../ui/frontend/export/types.js" */
/** @import { AttentionGroup } from "../../../../ui/frontend/types.js" */

/**
 * What is known of one attention's heads for one answer: the change of its log-probability without each head, in bits.
 * @typedef {object} AblationState
 * @property {(number | null)[][]} changes [layer head]
 * @property {HeadAblationAnswer | null} meta of the last answer
 * @property {AbortController | null} running
 * @property {string} problem
 */

const HELP = "Blue: the answer is less likely without the head. Orange: more likely. Click a head to choose it.";
const RANKED = 10;

/** For each answer on the screen, by attention, position and target. */
const memory = remembered(
  (/** @type {ExploreAnswer} */ _answer) => /** @type {Map<string, AblationState>} */ (new Map()),
);

/** @param {ExplorePage} page @param {AttentionGroup} group */
function ablationState(page, group) {
  const key = `${group.name} ${answerPosition(page)} ${page.state.choice.target_token}`;
  const states = memory(page.state.answer);
  const known = states.get(key);
  if (known) return known;
  const changes = Array.from(
    { length: group.layers },
    () => /** @type {(number | null)[]} */ (Array(group.heads).fill(null)),
  );
  /** @type {AblationState} */
  const state = { changes, meta: null, running: null, problem: "" };
  states.set(key, state);
  return state;
}

export default /** @type {Tab} */ ({ draw: drawAblation, exported: exportAblation });

/** @param {ExplorePage} page */
function drawAblation(page) {
  const group = currentGroup(page);
  if (!group) return showLayersMessage(page, "This model has no layers, so it has no heads to turn off.");
  if (!page.state.answer.predictions.length)
    return showLayersMessage(
      page,
      "This model ends without a head, so there is no answer that its heads could change.",
    );
  const state = ablationState(page, group);
  const cells = state.changes.map((line, layer) => line.map((value, head) => headCell(page, layer, head, value)));
  drawProgress(page, group, state);
  drawTable(page, state, cells);
  const [list, entries] = [layerElement(page, "ablation-ranked"), rankedEntries(page, cells.flat())];
  if (list.parentElement) list.parentElement.hidden = !entries.length;
  drawRankedBars(list, entries);
}

/** @param {ExplorePage} page @returns {Promise<ShownDrawing>} */
async function exportAblation(page) {
  const group = currentGroup(page);
  const state = group && ablationState(page, group);
  if (!state?.meta) throw new Error("No head is turned off yet: start it first, then save what came of it.");
  const { text, before } = state.meta;
  const cells = state.changes.map((line, layer) => line.map((value, head) => headCell(page, layer, head, value)));
  const columns = cells[0].map((_, head) => String(head));
  const rows = cells.map((line, layer) => ({ label: `L${layer}`, cells: line }));
  const ranked = { title: "The largest changes", entries: rankedEntries(page, cells.flat()) };
  return {
    name: "head-ablation",
    shown: `each ${group.title.toLowerCase()} head turned off alone: change of the log-probability of “${inlineText(text)}” (${formatPercent(2 ** before)} with all heads), in bits`,
    sides: [{ ...runOf(page), attention_group: group.name }],
    draw: drawSigned({ columns, rows }, ranked, "bits"),
    tables: {
      "Head ablation": {
        name: "head ablation",
        axes: ["layer", "head"],
        labels: [cells.map((_, layer) => String(layer)), columns],
        values: Float32Array.from(state.changes.flat(), (value) => value ?? Number.NaN),
      },
    },
  };
}

/**
 * @param {ExplorePage} page @param {number} layer @param {number} head @param {number | null} value
 * @returns {TableCell}
 */
function headCell(page, layer, head, value) {
  return {
    value,
    layer,
    head,
    title: `Layer ${layer}, head ${head}`,
    chosen: isCurrentHead(page, layer, head),
    testid: `ablation-${layer}-${head}`,
  };
}

/** @param {ExplorePage} page @param {AblationState} state @param {TableCell[][]} cells of each layer */
function drawTable(page, { meta }, cells) {
  const reading = layerElement(page, "ablation-reading");
  const read = (/** @type {TableCell | null} */ cell) => {
    if (!meta || !cell || cell.value === null) {
      reading.textContent = HELP;
      return;
    }
    const before = 2 ** meta.before;
    reading.textContent = `${cell.title} off: ${formatSigned(cell.value)} bits, from ${formatPercent(before)} to ${formatPercent(before * 2 ** cell.value)}`;
  };
  const columns = cells[0].map((_, head) => head);
  const rows = cells.map((line, layer) => ({ label: `L${layer}`, cells: line }));
  const most = Math.max(...cells.flat().map(({ value }) => Math.abs(value ?? 0)), 1e-9);
  const pick = (/** @type {TableCell} */ { layer, head }) => selectHeadOf(page, layer, head);
  drawCellTable(layerElement(page, "ablation", HTMLTableElement), columns, rows, { most, read, pick });
  read(null);
}

/** @param {ExplorePage} page @param {TableCell[]} cells */
function rankedEntries(page, cells) {
  return cells
    .flatMap(({ title, value, layer, head }) =>
      value === null ? [] : { title, value, pick: () => selectHeadOf(page, layer, head) },
    )
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .slice(0, RANKED);
}

/** @param {ExplorePage} page @param {AttentionGroup} group @param {AblationState} state */
function drawProgress(page, group, state) {
  const all = group.layers * group.heads;
  const done = state.changes.flat().filter((value) => value !== null).length;
  const button = layerElement(page, "ablate", HTMLButtonElement);
  const bar = layerElement(page, "ablate-progress", HTMLProgressElement);
  button.textContent = state.running
    ? "Stop"
    : done === 0
      ? "Turn each head off in turn"
      : done < all
        ? "Go on"
        : "Done";
  button.disabled = !state.running && done === all;
  button.onclick = () => (state.running ? stopAblation(page, state) : runAblation(page, group, state));
  bar.hidden = done === all || (!state.running && done === 0);
  bar.value = done / all;
  const status = layerElement(page, "ablate-status");
  if (state.problem) status.textContent = state.problem;
  else if (!state.meta) status.textContent = `${all} heads`;
  else {
    const token = createElement("bdi", "token", inlineText(state.meta.text));
    status.replaceChildren(
      `${done} of ${all} heads; with all of them `,
      token,
      ` has ${formatPercent(2 ** state.meta.before)}`,
    );
  }
}

/** @param {ExplorePage} page @param {AblationState} state */
function stopAblation(page, state) {
  state.running?.abort();
  state.running = null;
  page.view.redraw();
}

/**
 * Asks for one layer after the other, a few heads at a time, from where it stopped; another question ends it.
 * @param {ExplorePage} page @param {AttentionGroup} group @param {AblationState} state
 */
async function runAblation(page, group, state) {
  const { answer } = page.state;
  const running = new AbortController();
  const details = { query: answerPosition(page), token: page.state.choice.target_token };
  const redraw = () => {
    if (answer === page.state.answer && page.state.choice.tab === "layers") page.view.redraw();
  };
  Object.assign(state, { running, problem: "" });
  page.view.redraw();
  try {
    for (const [layer, line] of state.changes.entries()) {
      for (let first = line.indexOf(null); first >= 0; first = line.indexOf(null)) {
        if (answer !== page.state.answer || running.signal.aborted) return;
        const attention = `${group.stack}.${layer}.${group.kind}`;
        const asked = { question: answer.question, attention, ...details, first };
        const { meta, start, buffer } = await askRoute(page, "head_ablation", asked, running.signal);
        const changes = new Float32Array(buffer, start);
        state.meta = meta;
        line.splice(first, changes.length, ...changes);
        redraw();
      }
    }
  } catch (error) {
    if (!isAbort(error)) state.problem = failureText(error);
  } finally {
    if (state.running === running) state.running = null;
    redraw();
  }
}
