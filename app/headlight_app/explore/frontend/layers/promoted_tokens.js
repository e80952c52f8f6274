// Promoted or suppressed tokens, with the amounts added to their logits.

import { formatSigned } from "../../../ui/frontend/charts/charts.js";
import { createElement, quotedToken } from "../../../ui/frontend/dom/dom.js";

/** @import { PromotedToken } from "../types.js" */

/** @param {PromotedToken[]} tokens */
export function createPromotedCell(tokens) {
  const entries = tokens.flatMap(({ text, logit }, place) => {
    const entry = createElement("span", "", [
      quotedToken({ text }),
      createElement("small", "", ` ${formatSigned(logit)}`),
    ]);
    return place ? [" ", entry] : [entry];
  });
  return createElement("td", "", entries);
}
