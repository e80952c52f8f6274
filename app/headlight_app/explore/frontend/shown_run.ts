// The displayed run, as exports describe their origin.

import { currentGroup, selectedHeads } from "../../ui/frontend/state/head_selection.ts";
import type { ExplorePage, ShownSide } from "./types.ts";

/** The origin of an export that is not about heads. */
export function runOf(page: ExplorePage): ShownSide {
  const { question, tokens, source_tokens } = page.state.answer;
  return { question, tokens, source_tokens };
}

/** The origin of an export of the displayed heads. */
export function shownSide(page: ExplorePage): ShownSide {
  const group = currentGroup(page);
  return { ...runOf(page), attention_group: group?.name ?? "", heads: group ? selectedHeads(page) : [] };
}
