// A list of common claims; a click on one opens the correction, with links to the screens that show it.

import { createElement } from "../dom/dom.js";

/** @import { ClaimsView, LinkTo } from "./types.js" */

/** @param {ClaimsView} view @param {LinkTo} [linkTo] on a page that has links to screens */
export function createClaims({ claims }, linkTo) {
  return createElement("ul", "claim-list", [
    ...claims.map(({ said, right, links }) => {
      const card = createElement("details");
      const ways = createElement("p", "ways", linkTo ? links.map(linkTo) : []);
      card.append(createElement("summary", "", `“${said}”`), createElement("p", "", right), ways);
      return createElement("li", "", [card]);
    }),
  ]);
}
