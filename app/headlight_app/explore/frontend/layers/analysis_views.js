// An analysis whose views are computed in Python: on the screen, as a figure, and as numbers.

import { updateChildren } from "../../../ui/frontend/dom/dom.js";
import { currentGroup } from "../../../ui/frontend/state/head_selection.js";
import { remembered } from "../../../ui/frontend/state/memory.js";
import { urlPosition } from "../../../ui/frontend/state/token_selection.js";
import { drawViews } from "../../../ui/frontend/views/export/figures.js";
import { tablesOf } from "../../../ui/frontend/views/export/tables.js";
import { createRows } from "../../../ui/frontend/views/rows.js";
import { toggledEdits } from "../edits/edit_actions.js";
import { runOf } from "../export/shown_run.js";
import { askFloats } from "../server.js";
import { activeAnalysis, answerPosition, layerElement, markWaiting, showLayersMessage } from "./layer_panel.js";

/** @import { Pick, Picks, ViewRow } from "../../../ui/frontend/views/types.js" */
/** @import { AnalysisAnswer, AnalysisRow, ExplorePage, ShownDrawing, Tab } from "../types.js" */

const ISOLATES = /[\u2068\u2069]/g; // around tokens in a sentence

const memory = remembered((/** @type {ExplorePage} */ _page) => ({
  /** Kept from answer to answer. */
  shown: { isOpen: false, controls: /** @type {Map<string, HTMLElement>} */ (new Map()) },
  /** The titles of the rows when a part was clicked: a row that this opens is scrolled to. */
  before: /** @type {string[] | null} */ (null),
}));

export default /** @type {Tab} */ ({ draw: drawAnalysis, exported: exportAnalysis });

/** @param {ExplorePage} page */
function drawAnalysis(page) {
  const row = activeAnalysis(page);
  const place = layerElement(page, "analysis-views");
  if (place.dataset.shown !== row.name) {
    place.replaceChildren();
    memory(page).shown.controls.clear();
    say(page, "");
  }
  place.dataset.shown = row.name;
  const details = detailsOf(page, row);
  const { server } = page;
  const found = row.is_long
    ? server.get("long_analysis", details, row.pause)
    : server.get("analysis", details, row.pause);
  markWaiting(place, !found);
  if (!found) return;
  if (found.meta.error) return showLayersMessage(page, found.meta.error);
  const surroundings = { width: place.clientWidth || innerWidth, picks: picksOf(page) };
  const rows = rowsOf(found.meta);
  updateChildren(place, ...createRows(rows, surroundings, memory(page).shown));
  scrollToOpened(page, rows, place);
  say(page, firstSentence(rows));
}

/** @param {ExplorePage} page @param {ViewRow[]} rows @param {HTMLElement} place */
function scrollToOpened(page, rows, place) {
  const { before } = memory(page);
  const opened = before ? rows.findIndex(({ title }) => title && !before.includes(title)) : -1;
  memory(page).before = null;
  if (opened >= 0) place.children[opened]?.scrollIntoView({ block: "nearest" });
}

/** Says a sentence to a screen reader, once. @param {ExplorePage} page @param {string} sentence */
function say(page, sentence) {
  const said = layerElement(page, "analysis-said");
  if (said.textContent !== sentence) said.textContent = sentence;
}

/** @param {ViewRow[]} rows */
function firstSentence(rows) {
  return rows.flatMap(({ views }) => views.flatMap((view) => (view.kind === "verdict" ? [view.text] : [])))[0] ?? "";
}

/** The request: of the choice only what the analysis reads, so that other changes ask for nothing. @param {ExplorePage} page @param {AnalysisRow} row */
function detailsOf(page, { name, reads }) {
  const chosen = chosenNow(page);
  return { analysis: name, choice: Object.fromEntries(reads.map((field) => [field, chosen[field]])) };
}

/** The choice, with the position and the attention that it stands for. @param {ExplorePage} page @returns {Record<string, unknown>} */
function chosenNow(page) {
  const attention = currentGroup(page)?.name ?? "";
  return { ...page.state.choice, query: answerPosition(page), attention };
}

/** @param {AnalysisAnswer} answer */
function rowsOf({ rows }) {
  return /** @type {ViewRow[]} */ (/** @type {unknown} */ (rows));
}

/** @param {Element} element */
function wordsOf({ textContent }) {
  return textContent ?? "";
}

/** @param {ExplorePage} page @returns {Picks} */
function picksOf(page) {
  const chosen = chosenNow(page);
  return {
    choose(pick) {
      memory(page).before = [...layerElement(page, "analysis-views").querySelectorAll("h3")].map(wordsOf);
      page.change(changeOf(page, pick));
    },
    isChosen: ({ toggle_edits = [], ...pick }) =>
      isListed(page, toggle_edits) &&
      Object.entries(pick).every(([field, value]) => String(chosen[field]) === String(value)),
  };
}

/** @param {ExplorePage} page @param {Pick[string]} edits */
function isListed({ state }, edits) {
  return Array.isArray(edits) && edits.every((edit) => state.choice.edits.includes(edit));
}

/** A pick as a change of the choice; another query unlocks the tokens. @param {ExplorePage} page @param {Pick} pick */
function changeOf(page, { toggle_edits, ...pick }) {
  return {
    ...pick,
    ...("query" in pick && { query: urlPosition(page, Number(pick.query)), pinned: [] }),
    ...(Array.isArray(toggle_edits) && { edits: toggledEdits(page, toggle_edits) }),
  };
}

/** @param {ExplorePage} page @returns {Promise<ShownDrawing>} */
async function exportAnalysis(page) {
  const row = activeAnalysis(page);
  const asked = { ...detailsOf(page, row), with_tables: true };
  const { meta } = await askFloats(page, row.is_long ? "long_analysis" : "analysis", asked);
  const rows = rowsOf(meta);
  const views = rows.flatMap((each) => each.views);
  const said = views.map((view) => (view.kind === "verdict" ? view.text : view.title));
  return {
    name: row.name.replaceAll("_", "-"),
    shown: [row.title, ...said.filter(Boolean)].join("; ").replace(ISOLATES, ""),
    sides: [runOf(page)],
    draw: drawViews(rows),
    tables: tablesOf(rows),
  };
}
