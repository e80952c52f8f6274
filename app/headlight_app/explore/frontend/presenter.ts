// Presenter mode: large type and thick lines for a projector; rarely used parts move into one small menu, and what a
// change has changed is said below all heads.

import { closest } from "../../ui/frontend/dom/dom.ts";
import { find, findByTestId } from "../../ui/frontend/dom/elements.ts";
import { remembered } from "../../ui/frontend/dom/memory.ts";
import { createPopover } from "../../ui/frontend/dom/popover.ts";
import { clearLayout } from "../../ui/frontend/heads/heads_tab.ts";
import { togglePresenter } from "../../ui/frontend/presenter.ts";
import type { ExplorePage } from "./types.ts";

const IN_MENU = [".order", ".examples", ".parts-bar", ".changes-bar", ".export"];

/** A part, the placeholder at its own place, and where it is in presenter mode. */
type Moved = { part: HTMLElement; home: Comment; goal: HTMLElement };

const memory = remembered(() => ({ moved: [] as Moved[] }));

/** @returns ends it */
export function listenToPresenter(page: ExplorePage, place: ParentNode): () => void {
  const menu = findByTestId(place, "presenter-menu");
  const button = findByTestId(place, "presenter-menu-button");
  const move = (part: HTMLElement, goal: HTMLElement) => {
    const home = document.createComment("its place without presenter mode");
    part.before(home);
    return { part, home, goal };
  };
  memory(page).moved = IN_MENU.map((selector) => move(find(place, selector), menu));
  memory(page).moved.push(move(page.view.elements.hint, find(place, "section.heads"))); // there is room below the heads
  const { show, end } = createPopover(button, menu);
  menu.onclick = (event) => {
    if (closest(event, ".example")) show(false);
  };
  return end;
}

/** Applies presenter mode; drawings follow the class through `--type`. */
export function drawPresenter(page: ExplorePage) {
  const { root, boxes } = page.view.elements;
  const { choice } = page.state;
  const presenter = choice.presenter === "1";
  const before = root.className;
  root.classList.toggle("embedded", choice.embedded === "1");
  togglePresenter(root, presenter, boxes);
  if (root.className === before) return;
  for (const { part, home, goal } of memory(page).moved) {
    if (presenter) goal.append(part);
    else home.after(part);
  }
  clearLayout(page); // thumbnails are laid out again
}
