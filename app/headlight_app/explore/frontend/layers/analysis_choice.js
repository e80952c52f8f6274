// What an analysis reads of the page's choice, and what a click on one of its views changes.

import { currentGroup } from "../../../ui/frontend/state/head_selection.js";
import { urlPosition } from "../../../ui/frontend/state/token_selection.js";
import { toggledEdits } from "../edits/edit_actions.js";
import { isPatch } from "../edits/edit_text.js";
import { answerPosition } from "./layer_panel.js";

/** @import { Pick, Picks } from "../../../ui/frontend/views/types.js" */
/** @import { AnalysisRow, ExplorePage } from "../types.js" */

/**
 * The request: of the choice only what the analysis reads, so that other changes ask for nothing. The controls name the
 * chosen head whether it is read or not.
 * @param {ExplorePage} page @param {AnalysisRow} row @param {{ ofControls: boolean }} [part]
 */
export function detailsOf(page, { name, reads, reads_head_of }, { ofControls } = { ofControls: false }) {
  const chosen = chosenNow(page);
  const isRead = reads_head_of.includes(page.state.choice.patch) || (ofControls && reads_head_of.length);
  const head = isRead ? ["layer", "head"] : [];
  const choice = Object.fromEntries([...reads, ...head].map((field) => [field, chosen[field]]));
  return { analysis: name, choice };
}

/** The question of the steps. @param {ExplorePage} page @param {AnalysisRow} row */
export function askedQuestion(page, { of_unpatched }, edits = page.state.answer.question.edits) {
  const question = { ...page.state.answer.question, edits };
  if (!of_unpatched) return question;
  return { ...question, edits: question.edits.filter((edit) => !isPatch(edit)), patch_from: "" };
}

/** The choice, with the position and the attention that it stands for. @param {ExplorePage} page @returns {Record<string, unknown>} */
function chosenNow(page) {
  const attention = currentGroup(page)?.name ?? "";
  return { ...page.state.choice, query: answerPosition(page), attention };
}

/** @param {ExplorePage} page @returns {Picks} */
export function picksOf(page) {
  const chosen = chosenNow(page);
  return {
    choose: (pick) => page.change(changeOf(page, pick)),
    isChosen: ({ toggle_edits = [], ...pick }) =>
      isListed(page, toggle_edits) &&
      Object.entries(pick).every(([field, value]) => String(chosen[field]) === String(value)),
  };
}

/** @param {ExplorePage} page @param {string[]} edits */
function isListed({ state }, edits) {
  return edits.every((edit) => state.choice.edits.includes(edit));
}

/** A pick as a change of the choice; another query unlocks the tokens, and its answer is the likeliest. @param {ExplorePage} page @param {Pick} pick */
function changeOf(page, { toggle_edits, ...pick }) {
  return {
    ...pick,
    ...("query" in pick && { query: urlPosition(page, Number(pick.query)), pinned: [], target_token: -1 }),
    ...(toggle_edits && { edits: toggledEdits(page, toggle_edits) }),
  };
}
