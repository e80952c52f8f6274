// What is explained beside the open panel: why the likeliest answer leads, and why the chosen head looks at a token.

import { updateChildren } from "../../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../../ui/frontend/dom/elements.js";
import { currentGroup } from "../../../ui/frontend/state/head_selection.js";
import { chosenKey } from "../../../ui/frontend/state/token_selection.js";
import { createRows } from "../../../ui/frontend/views/rows.js";
import { picksOf } from "../analysis/analysis_choice.js";
import { drawingOf, rowsOf } from "../analysis/analysis_views.js";
import { askFloats } from "../server.js";

/** @import { ExplorePage, ShownDrawing } from "../types.js" */

const [WHY_PAUSE, LEDGER_PAUSE] = [900, 300]; // milliseconds without another choice

/** Whether a request is for an explanation. @param {object} details */
export function isExplanation(details) {
  return "analysis" in details && ["why", "ledger"].includes(String(details.analysis));
}

/** @param {ExplorePage} page */
export function drawExplanations(page) {
  draw(page, "why", whyChoice(page), WHY_PAUSE);
  draw(page, "ledger", ledgerChoice(page), LEDGER_PAUSE);
}

/**
 * The earlier rows stay, faded, until the new ones have arrived.
 * @param {ExplorePage} page @param {string} name @param {Record<string, unknown> | null} choice null: nothing
 * @param {number} pause
 */
function draw(page, name, choice, pause) {
  const place = findByTestId(page.view.elements.board, name);
  const found = choice && page.server.get("analysis", { analysis: name, choice }, pause);
  place.ariaBusy = String(Boolean(choice) && !found);
  if (!choice || found) {
    const rows = found && !found.meta.error ? rowsOf(found.meta) : [];
    const surroundings = { width: place.clientWidth, picks: picksOf(page) };
    updateChildren(place, ...createRows(rows, surroundings, { isOpen: false }));
  }
  place.hidden = !place.childElementCount;
}

/** Null for a prediction of the whole text, which is not explained here, and for a lone candidate. @param {ExplorePage} page */
function whyChoice(page) {
  const [prediction] = page.state.answer.predictions;
  const isKnown = prediction?.candidates.length > 1 && prediction.token_text !== null;
  return isKnown ? { query: page.state.choice.query } : null;
}

/** The clicked weight of one head. @param {ExplorePage} page */
function ledgerChoice(page) {
  const { pinned, layer, head, heads } = page.state.choice;
  const key = chosenKey(page);
  if (pinned.length !== 1 || key === null || heads.length > 1) return null;
  return { attention: currentGroup(page).name, layer, head, pinned, key };
}

/**
 * The ledger as a figure and as numbers; null if no weight is clicked.
 * @param {ExplorePage} page @returns {Promise<ShownDrawing | null>}
 */
export async function ledgerDrawing(page) {
  const choice = ledgerChoice(page);
  if (!choice) return null;
  const { meta } = await askFloats(page, "analysis", { analysis: "ledger", choice, with_tables: true });
  return drawingOf(page, "ledger", rowsOf(meta));
}
