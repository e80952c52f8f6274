// Claims one below the other: what is said, and on a click what is right, and the screens that show it.

import { createElement } from "../../../ui/frontend/dom/dom.js";

/** @import { ClaimsPicture } from "../types.d.ts" */
/** @import { LinkTo } from "../links.js" */

/** @param {ClaimsPicture} picture @param {LinkTo} linkTo */
export function createClaims({ claims }, linkTo) {
  const list = createElement("ul", "claim-list");
  list.append(
    ...claims.map(({ said, right, links }) => {
      const item = createElement("li");
      const card = createElement("details");
      const ways = createElement("p", "ways");
      ways.append(...links.map(linkTo));
      card.append(createElement("summary", "", `“${said}”`), createElement("p", "", right), ways);
      item.append(card);
      return item;
    }),
  );
  return list;
}
