// The mask of the displayed answer, to paint over.

import { parseMask } from "../../../ui/frontend/mask_spec.ts";
import { headCodes } from "../../../ui/frontend/state/head_matrix.ts";
import type { ExplorePage } from "../types.ts";

/**
 * The mask that an answer was computed with. `allowed`, one cell for each query and key, row by row, is 0 if the query
 * does not see the key; `painted` lists the inverted cells. Without tokens the text is too long to paint.
 */
export type ShownMask = { tokens: string[]; allowed: Uint8Array; painted: string };

/** The mask of the last answer: in self-attention, masked cells have the code 0. */
export function shownMask(page: ExplorePage) {
  const { latestAnswer } = page.state;
  const group = latestAnswer?.attention_groups.findLast(({ kind }) => kind === "self");
  if (!latestAnswer || !group) return null;
  const tokens = (group.queries === "source" && latestAnswer.source_tokens) || latestAnswer.tokens;
  const isWhole = !group.pending && group.pooled_shape.every((side) => side === tokens.length);
  const shown: ShownMask = {
    tokens: isWhole ? tokens.map(({ text }) => text) : [],
    allowed: isWhole ? headCodes(page, group, 0, 0) : new Uint8Array(),
    painted: paintedCells(latestAnswer.question.variant.masks),
  };
  return shown;
}

function paintedCells(masks: string) {
  const { kind, argument } = parseMask(masks);
  return kind === "painted" ? argument : "";
}
