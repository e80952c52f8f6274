// Context menus of a head, a cell and a token.

import { activeElement, closest, createElement } from "../../../ui/frontend/dom/dom.js";
import { find } from "../../../ui/frontend/dom/elements.js";
import { remembered } from "../../../ui/frontend/dom/memory.js";
import { onPlotMove } from "../../../ui/frontend/heads/plot_events.js";
import { wordNodes, wordText } from "../../../ui/frontend/state/edit_words.js";
import { columnSums, shownMatrix } from "../../../ui/frontend/state/head_matrix.js";
import { isSelected, selectHead } from "../../../ui/frontend/state/head_selection.js";
import { activeQueries, keyTokens, lineIndices, queryTokens } from "../../../ui/frontend/state/token_selection.js";
import { hasEdits, onUndoKey, toggleEdits } from "./edit_actions.js";
import {
  createButton,
  headControl,
  labelledRow,
  positionControl,
  scopeControl,
  visibilityControl,
} from "./edit_controls.js";

/** @import { Control, ExplorePage, Menu, Side, Words } from "../types.js" */

/** The open menu. */
const memory = remembered(() => ({ controls: /** @type {Control[]} */ ([]), close: () => {} }));

/** Shows the active edits in the open menu. @param {ExplorePage} page */
export function updateMenu(page) {
  for (const { update } of memory(page).controls) update();
}

/** @param {ExplorePage} page */
export function listenToMenus(page) {
  const { stage, grid, tokens, sourceTokens, off } = page.view.elements;
  stage.oncontextmenu = (event) => {
    onPlotMove(page, event);
    openMenu(page, event, cellMenu(page));
  };
  stage.addEventListener("keydown", (event) => isMenuKey(event) && openMenu(page, event, cellMenu(page)));
  /** @param {Event} event */
  const thumb = (event) => {
    const cell = closest(event, ".thumb");
    const [layer, head] = [Number(cell?.dataset.layer), Number(cell?.dataset.head)];
    if (cell && !isSelected(page, layer, head)) selectHead(page, layer, head);
    return headMenu(page);
  };
  grid.oncontextmenu = (event) => openMenu(page, event, thumb(event));
  grid.addEventListener("keydown", (event) => isMenuKey(event) && openMenu(page, event, thumb(event)));
  for (const strip of [tokens, sourceTokens]) {
    /** @param {MouseEvent | KeyboardEvent} event */
    const open = (event) => {
      const chip = closest(event, ".chip");
      if (chip)
        openMenu(page, event, tokenMenu(page, strip === tokens ? "text" : "source", Number(chip.dataset.position)));
    };
    strip.oncontextmenu = open;
    strip.addEventListener("keydown", (event) => isMenuKey(event) && open(event));
  }
  const about = "Change what these heads do (right-click on a head, a cell or a token, or the key e)";
  off.before(createButton("Change", "change-head", about, (event) => openMenu(page, event, headMenu(page))));
}

/** @param {KeyboardEvent} event */
function isMenuKey(event) {
  return event.key === "e" && !event.ctrlKey && !event.metaKey && !event.altKey && !closest(event, "select, input");
}

/** @param {ExplorePage} page @returns {Menu} */
function headMenu(page) {
  return { title: ["Change"], controls: [scopeControl(page), headControl(page)] };
}

/**
 * The cell under the pointer; else the current token and the token that it attends to most.
 * @param {ExplorePage} page
 */
function cellMenu(page) {
  const [query] = activeQueries(page);
  const key = page.state.pointer?.key ?? mostAttendedKey(page, query);
  const visibility = visibilityControl(page, () => [query, key]);
  /** @type {Words} */
  const title = [{ token: queryTokens(page)[query] }, " looks at ", { token: keyTokens(page)[key] }];
  return {
    title,
    controls: [scopeControl(page), { element: labelledRow("Cell", ...visibility.elements), update: visibility.update }],
  };
}

/** @param {ExplorePage} page @param {number} query */
function mostAttendedKey(page, query) {
  const matrix = shownMatrix(page);
  if (!matrix) return 0;
  const sums = columnSums(matrix, lineIndices(matrix.rowOf, [query]));
  const best = sums.reduce((one, value, place) => (value > (sums[one] ?? -Infinity) ? place : one), 0);
  return matrix.columns.tokens[best]?.[0] ?? 0;
}

/** @param {ExplorePage} page @param {Side} which @param {number} place @returns {Menu} */
function tokenMenu(page, which, place) {
  const tokens = (which === "source" && page.state.answer.source_tokens) || page.state.answer.tokens;
  const stand = positionControl(
    page,
    () => which,
    () => place,
  );
  const stack = which === "source" ? "encoder" : page.state.answer.attention_groups[0].stack;
  const unseen = [`${stack}.*.self.mask[:,:,${place}]=set:0`];
  const hide = createButton("Hide from every token", "make-unseen", "No token can see it, in any layer", () =>
    toggleEdits(page, unseen),
  );
  const update = () => {
    stand.update();
    hide.ariaPressed = String(hasEdits(page, unseen));
  };
  const body = createElement("div", "stacked", [createElement("div", "standing", stand.elements), hide]);
  return { title: [`Token ${place} `, { token: tokens[place] }], controls: [{ element: body, update }] };
}

/**
 * Opens a menu at the event's place; Escape or a click elsewhere closes it.
 * @param {ExplorePage} page @param {MouseEvent | KeyboardEvent} event @param {Menu} options
 */
function openMenu(page, event, { title, controls }) {
  event.preventDefault();
  closeMenu(page);
  const shown = [createElement("h3", "", wordNodes(title)), ...controls.map(({ element }) => element)];
  const named = { role: "dialog", ariaLabel: wordText(title), testid: "menu" };
  const menu = createElement("div", "menu", shown, { ...named, popover: "manual" });
  page.view.elements.root.append(menu);
  const back = activeElement(page.view.elements.root);
  /** @param {PointerEvent} pressed */
  const outside = (pressed) => {
    if (!pressed.composedPath().includes(menu)) closeMenu(page);
  };
  menu.onkeydown = (pressed) => {
    pressed.stopPropagation();
    if (pressed.key === "Escape") closeMenu(page);
    else onUndoKey(page, pressed);
  };
  Object.assign(memory(page), { controls, close: () => removeMenu(menu, outside, back) });
  document.addEventListener("pointerdown", outside);
  for (const { update } of controls) update();
  menu.showPopover();
  placeMenu(menu, event);
  find(menu, "button, input, select").focus();
}

/** @param {HTMLElement} menu @param {(event: PointerEvent) => void} outside @param {HTMLElement | null} back */
function removeMenu(menu, outside, back) {
  document.removeEventListener("pointerdown", outside);
  const inside = menu.contains(activeElement(menu));
  menu.remove();
  if (inside) back?.focus();
}

/** @param {ExplorePage} page */
function closeMenu(page) {
  const { close } = memory(page);
  Object.assign(memory(page), { controls: [], close: () => {} });
  close();
}

/**
 * Places the menu beside the pointer or below the focused element, inside the window.
 * @param {HTMLElement} menu @param {MouseEvent | KeyboardEvent} event
 */
function placeMenu(menu, event) {
  const frame = /** @type {Element} */ (event.target).getBoundingClientRect();
  const small = frame.height < 100;
  const byPointer = event instanceof MouseEvent && event.type === "contextmenu" && !small;
  const below = small
    ? [frame.right - menu.offsetWidth, frame.bottom + 6]
    : [frame.left + frame.width / 3, frame.top + 160];
  const [left, top] = byPointer ? [event.clientX + 12, event.clientY + 12] : below;
  menu.style.left = `${Math.max(Math.min(left, window.innerWidth - menu.offsetWidth - 8), 8)}px`;
  menu.style.top = `${Math.max(Math.min(top, window.innerHeight - menu.offsetHeight - 8), 8)}px`;
}
