// What an analysis reads of the page's choice, and what a click on one of its views changes.

import { currentGroup } from "../../../ui/frontend/state/head_selection.ts";
import { lockedQuery, queryPosition, urlPosition } from "../../../ui/frontend/state/token_selection.ts";
import type { Pick, Picks } from "../../../ui/frontend/views/types.ts";
import { toggledEdits } from "../edits/edit_actions.ts";
import { isPatch } from "../edits/edit_text.ts";
import type { AnalysisRow, ExplorePage } from "../types.ts";

const OF_VARIANT = "variant."; // before the fields of the variant

/** The position of the chosen answer, always a position in the text, whatever attention is shown. */
export function answerPosition(page: ExplorePage) {
  return queryPosition(page, page.state.answer.tokens);
}

/**
 * The request: of the choice only what the analysis, or its long part, reads, so that other changes ask for nothing.
 * The controls name the chosen head whether it is read or not.
 */
export function detailsOf(
  page: ExplorePage,
  { name, reads, long_reads, reads_head_of }: AnalysisRow,
  { ofControls, isLong }: { ofControls?: boolean; isLong?: boolean } = {},
) {
  const chosen = chosenNow(page);
  const isRead = reads_head_of.includes(page.state.choice.patch) || (ofControls && reads_head_of.length);
  const head = isRead ? ["layer", "head"] : [];
  const choice = Object.fromEntries([...(isLong ? long_reads : reads), ...head].map((field) => [field, chosen[field]]));
  return { analysis: name, choice };
}

/** The question of the steps. */
export function askedQuestion(
  page: ExplorePage,
  { of_unpatched }: AnalysisRow,
  edits = page.state.answer.question.edits,
) {
  const question = { ...page.state.answer.question, edits };
  if (!of_unpatched) return question;
  return { ...question, edits: question.edits.filter((edit) => !isPatch(edit)), patch_from: "" };
}

/** The choice, with the position and the attention that it stands for. */
function chosenNow(page: ExplorePage): Record<string, unknown> {
  const attention = currentGroup(page)?.name ?? "";
  const { choice } = page.state;
  const variant = Object.entries(choice.variant).map(([name, value]) => [`variant.${name}`, value]);
  return { ...choice, ...Object.fromEntries(variant), query: answerPosition(page), attention };
}

export function picksOf(page: ExplorePage): Picks {
  const chosen = chosenNow(page);
  return {
    subject: () => JSON.stringify([page.state.choice.text, page.state.choice.source, page.state.choice.task]),
    choose(pick) {
      if ("text" in pick) page.state.writesTarget = false;
      page.change(changeOf(page, pick));
    },
    isChosen: ({ toggle_edits = [], ...pick }) =>
      isListed(page, toggle_edits) &&
      Object.entries(pick).every(([field, value]) => String(chosen[field]) === String(value)),
  };
}

function isListed({ state }: ExplorePage, edits: string[]) {
  return edits.every((edit) => state.choice.edits.includes(edit));
}

/**
 * A pick as a change of the choice. One that only locks a token unlocks it if it is picked again. Another query unlocks
 * the tokens, and its answer is the likeliest, as that of another text is.
 */
function changeOf(page: ExplorePage, { toggle_edits, ...pick }: Pick) {
  if (Array.isArray(pick.pinned) && Object.keys(pick).length === 1) return lockedQuery(page, Number(pick.pinned[0]));
  const variant = Object.entries(pick).filter(([field]) => field.startsWith(OF_VARIANT));
  const other = Object.entries(pick).filter(([field]) => !field.startsWith(OF_VARIANT));
  const changed = variant.map(([field, value]) => [field.slice(OF_VARIANT.length), value]);
  return {
    ...Object.fromEntries(other),
    ...("query" in pick && { query: urlPosition(page, Number(pick.query)), pinned: [], target_token: -1 }),
    ...("text" in pick && { query: -1, pinned: [], masked_positions: [], target_token: -1 }),
    ...(variant.length && { variant: { ...page.state.choice.variant, ...Object.fromEntries(changed) } }),
    ...(toggle_edits && { edits: toggledEdits(page, toggle_edits) }),
  };
}
