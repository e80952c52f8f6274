// The mask of the answer on the page, for the sidebar to paint on.

import { headCodes } from "../../../model/rendering/static/state/head_matrix.js";
import { parseMask } from "../../ui/frontend/mask_spec.js";

/** @import { ShownMask } from "../../ui/frontend/mask_events.js" */
/** @import { ExplorePage } from "./types.js" */

/** The mask of the last answer: the heads of a self-attention have no code where it forbids. @param {ExplorePage} page */
export function shownMask(page) {
  const { latestAnswer } = page.state;
  const grid = latestAnswer?.attention_groups.findLast(({ kind }) => kind === "self");
  if (!latestAnswer || !grid) return null;
  const tokens = (grid.queries === "source" && latestAnswer.source_tokens) || latestAnswer.tokens;
  const isWhole = !grid.pending && grid.pooled_shape.every((side) => side === tokens.length);
  /** @type {ShownMask} */
  const shown = {
    tokens: isWhole ? tokens.map(({ text }) => text) : [],
    allowed: isWhole ? headCodes(page, grid, 0, 0) : new Uint8Array(),
    painted: paintedCells(latestAnswer.question.masks),
  };
  return shown;
}

/** @param {string} masks */
function paintedCells(masks) {
  const { kind, argument } = parseMask(masks);
  return kind === "painted" ? argument : "";
}
