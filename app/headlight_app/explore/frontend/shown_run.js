// The displayed run, as exports describe their origin.

import { currentGroup, selectedHeads } from "../../ui/frontend/state/head_selection.js";

/** @import { ExplorePage, ShownSide } from "./types.js" */

/** The origin of an export that is not about heads. @param {ExplorePage} page @returns {ShownSide} */
export function runOf(page) {
  const { question, tokens, source_tokens } = page.state.answer;
  return { question, tokens, source_tokens };
}

/** The origin of an export of the displayed heads. @param {ExplorePage} page @returns {ShownSide} */
export function shownSide(page) {
  const group = currentGroup(page);
  return { ...runOf(page), attention_group: group?.name ?? "", heads: group ? selectedHeads(page) : [] };
}
