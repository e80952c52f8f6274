// The run whose answer stands on the page, as exports say where they are from.

import { currentGroup, selectedHeads } from "../../../ui/frontend/state/head_selection.js";

/** @import { ExplorePage, ShownSide } from "../types.js" */

/** For what is of no head. @param {ExplorePage} page @returns {ShownSide} */
export function runOf(page) {
  const { question, tokens, source_tokens } = page.state.answer;
  return { question, tokens, source_tokens };
}

/** With the heads that are shown. @param {ExplorePage} page @returns {ShownSide} */
export function shownSide(page) {
  const group = currentGroup(page);
  return { ...runOf(page), attention_group: group?.name ?? "", heads: group ? selectedHeads(page) : [] };
}
