// Claims one below the other: what is said, what is right, and the screens that show it.

import { createElement } from "../../../ui/frontend/dom/dom.js";

/** @import { ClaimsPicture } from "../types.d.ts" */
/** @import { LinkTo } from "../links.js" */

/** @param {ClaimsPicture} picture @param {LinkTo} linkTo */
export function createClaims({ claims }, linkTo) {
  const list = createElement("ul", "claim-list");
  list.append(
    ...claims.map(({ said, right, links }) => {
      const item = createElement("li");
      const ways = createElement("p", "ways");
      ways.append(...links.map(linkTo));
      item.append(createElement("p", "said", `“${said}”`), createElement("p", "", right), ways);
      return item;
    }),
  );
  return list;
}
