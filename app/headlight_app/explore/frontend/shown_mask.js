// The mask of the displayed answer, for painting in the sidebar.

import { parseMask } from "../../ui/frontend/mask_spec.js";
import { headCodes } from "../../ui/frontend/state/head_matrix.js";

/** @import { ShownMask } from "../../ui/frontend/mask_events.js" */
/** @import { ExplorePage } from "./types.js" */

/** The mask of the last answer: in self-attention, masked cells have the code 0. @param {ExplorePage} page */
export function shownMask(page) {
  const { latestAnswer } = page.state;
  const group = latestAnswer?.attention_groups.findLast(({ kind }) => kind === "self");
  if (!latestAnswer || !group) return null;
  const tokens = (group.queries === "source" && latestAnswer.source_tokens) || latestAnswer.tokens;
  const isWhole = !group.pending && group.pooled_shape.every((side) => side === tokens.length);
  /** @type {ShownMask} */
  const shown = {
    tokens: isWhole ? tokens.map(({ text }) => text) : [],
    allowed: isWhole ? headCodes(page, group, 0, 0) : new Uint8Array(),
    painted: paintedCells(latestAnswer.question.variant.masks),
  };
  return shown;
}

/** @param {string} masks */
function paintedCells(masks) {
  const { kind, argument } = parseMask(masks);
  return kind === "painted" ? argument : "";
}
