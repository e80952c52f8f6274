// Ablate all: each head off in turn, asked layer by layer until all are done or somebody stops it.

import { formatSigned } from "../../../../ui/frontend/charts/charts.js";
import { formatPercent, inlineText, quotedToken } from "../../../../ui/frontend/dom/dom.js";
import { createTable } from "../../../../ui/frontend/export/page_export.js";
import { askRoute } from "../../../../ui/frontend/server.js";
import { currentGroup } from "../../../../ui/frontend/state/head_selection.js";
import { remembered } from "../../../../ui/frontend/state/memory.js";
import { drawSigned } from "../../export/layer_figures.js";
import { runOf } from "../../export/shown_run.js";
import { drawCellTable, headRows } from "../cell_table.js";
import { answerPosition, layerElement, selectHeadOf, showLayersMessage } from "../layer_panel.js";
import { drawRankedBars } from "../ranked_bars.js";
import { drawSteps, takeSteps, whyNoHeads } from "./steps.js";

/** @import { AttentionGroup, ExploreAnswer, ExplorePage, HeadAblationAnswer, ShownDrawing } from "../../types.js" */
/** @import { Tab, TableCell } from "../../types.js" */
/** @import { Steps } from "./steps.js" */

/**
 * What is known of one attention's heads for one answer: the change of its log-probability without each head, in bits,
 * [layer head], and the last answer.
 * @typedef {Steps & { changes: (number | null)[][], meta: HeadAblationAnswer | null }} AblationState
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
  const why = whyNoHeads(page);
  if (why) return showLayersMessage(page, why);
  const state = ablationState(page, group);
  const rows = headRows(page, state.changes, "ablation");
  drawProgress(page, group, state);
  drawTable(page, state, rows);
  const [list, entries] = [layerElement(page, "ablation-ranked"), rankedEntries(page, rows)];
  if (list.parentElement) list.parentElement.hidden = !entries.length;
  drawRankedBars(list, entries);
}

/** @param {ExplorePage} page @returns {Promise<ShownDrawing>} */
async function exportAblation(page) {
  const group = currentGroup(page);
  const state = group && ablationState(page, group);
  if (!state?.meta) throw new Error("No head is turned off yet: start it first, then save what came of it.");
  const { text, before } = state.meta;
  const rows = headRows(page, state.changes, "ablation");
  const columns = state.changes[0].map((_, head) => String(head));
  const ranked = { title: "The largest changes", entries: rankedEntries(page, rows) };
  return {
    name: "head-ablation",
    shown: `each ${group.title.toLowerCase()} head turned off alone: change of the log-probability of “${inlineText(text)}” (${formatPercent(2 ** before)} with all heads), in bits`,
    sides: [{ ...runOf(page), attention_group: group.name }],
    draw: drawSigned({ columns, rows }, ranked, "bits"),
    tables: {
      "Head ablation": createTable(
        "head ablation",
        { layer: rows.map((_, layer) => String(layer)), head: columns },
        state.changes.flat().map((value) => value ?? Number.NaN),
      ),
    },
  };
}

/** @param {ExplorePage} page @param {AblationState} state @param {ReturnType<typeof headRows>} rows */
function drawTable(page, { meta, changes }, rows) {
  const reading = layerElement(page, "ablation-reading");
  const read = (/** @type {TableCell | null} */ cell) => {
    if (!meta || !cell || cell.value === null) {
      reading.textContent = HELP;
      return;
    }
    const before = 2 ** meta.before;
    reading.textContent = `${cell.title} off: ${formatSigned(cell.value)} bits, from ${formatPercent(before)} to ${formatPercent(before * 2 ** cell.value)}`;
  };
  const columns = changes[0].map((_, head) => head);
  const most = Math.max(...changes.flat().map((value) => Math.abs(value ?? 0)), 1e-9);
  const pick = (/** @type {TableCell} */ { layer, head }) => selectHeadOf(page, layer, head);
  drawCellTable(layerElement(page, "ablation", HTMLTableElement), columns, rows, { most, read, pick });
  read(null);
}

/** @param {ExplorePage} page @param {ReturnType<typeof headRows>} rows */
function rankedEntries(page, rows) {
  return rows
    .flatMap(({ cells }) => cells)
    .flatMap(({ title, value, layer, head }) =>
      value === null ? [] : { title, value, pick: () => selectHeadOf(page, layer, head) },
    )
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .slice(0, RANKED);
}

/** @param {ExplorePage} page @param {AttentionGroup} group @param {AblationState} state */
function drawProgress(page, group, state) {
  const { changes, meta, running } = state;
  const all = group.layers * group.heads;
  const done = changes.flat().filter((value) => value !== null).length;
  const words = meta
    ? [`${done} of ${all} heads; with all of them `, quotedToken(meta), ` has ${formatPercent(2 ** meta.before)}`]
    : [`${all} heads`];
  drawSteps(page, "ablate", state, () => runAblation(page, group, state), {
    title: done === 0 ? "Turn each head off in turn" : done < all ? "Go on" : "Done",
    share: done / all,
    isUnderway: done < all && (done > 0 || running !== null),
    words,
  });
  layerElement(page, "ablate", HTMLButtonElement).disabled = !running && done === all;
}

/**
 * Asks for one layer after the other, a few heads at a time.
 * @param {ExplorePage} page @param {AttentionGroup} group @param {AblationState} state
 */
function runAblation(page, { stack, kind }, state) {
  const { answer, choice } = page.state;
  const details = { question: answer.question, query: answerPosition(page), token: choice.target_token };
  const isShown = () => answer === page.state.answer;
  return takeSteps(page, state, isShown, async (signal) => {
    const layer = state.changes.findIndex((line) => line.includes(null));
    if (layer < 0) return false;
    const first = state.changes[layer].indexOf(null);
    const asked = { ...details, attention: `${stack}.${layer}.${kind}`, first };
    const { meta, start, buffer } = await askRoute(page.server.api, "head_ablation", asked, signal);
    const changes = new Float32Array(buffer, start);
    state.meta = meta;
    state.changes[layer].splice(first, changes.length, ...changes);
    return true;
  });
}
