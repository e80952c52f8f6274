// Context menus of a head, a cell and a token.

import { activeElement, closest, createElement } from "../../../ui/frontend/dom/dom.ts";
import { find } from "../../../ui/frontend/dom/elements.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import { onPlotMove } from "../../../ui/frontend/heads/plot_events.ts";
import { wordNodes, wordText } from "../../../ui/frontend/state/edit_words.ts";
import { columnSums, shownMatrix } from "../../../ui/frontend/state/head_matrix.ts";
import { isSelected, selectHead } from "../../../ui/frontend/state/head_selection.ts";
import { activeQueries, keyTokens, lineIndices, queryTokens } from "../../../ui/frontend/state/token_selection.ts";
import type { Control, ExplorePage, Menu, Side, Words } from "../types.ts";
import { hasEdits, onUndoKey, toggleEdits } from "./edit_actions.ts";
import {
  createButton,
  headControl,
  labelledRow,
  positionControl,
  scopeControl,
  visibilityControl,
} from "./edit_controls.ts";

/** The open menu. */
const memory = remembered(() => ({ controls: [] as Control[], close: () => {} }));

/** Shows the active edits in the open menu. */
export function updateMenu(page: ExplorePage) {
  for (const { update } of memory(page).controls) update();
}

export function listenToMenus(page: ExplorePage) {
  const { stage, grid, tokens, sourceTokens, off } = page.view.elements;
  stage.oncontextmenu = (event) => {
    onPlotMove(page, event);
    openMenu(page, event, cellMenu(page));
  };
  stage.addEventListener("keydown", (event) => isMenuKey(event) && openMenu(page, event, cellMenu(page)));
  const thumb = (event: Event) => {
    const cell = closest(event, ".thumb");
    const [layer, head] = [Number(cell?.dataset.layer), Number(cell?.dataset.head)];
    if (cell && !isSelected(page, layer, head)) selectHead(page, layer, head);
    return headMenu(page);
  };
  grid.oncontextmenu = (event) => openMenu(page, event, thumb(event));
  grid.addEventListener("keydown", (event) => isMenuKey(event) && openMenu(page, event, thumb(event)));
  for (const strip of [tokens, sourceTokens]) {
    const open = (event: MouseEvent | KeyboardEvent) => {
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

function isMenuKey(event: KeyboardEvent) {
  return event.key === "e" && !event.ctrlKey && !event.metaKey && !event.altKey && !closest(event, "select, input");
}

function headMenu(page: ExplorePage): Menu {
  return { title: ["Change"], controls: [scopeControl(page), headControl(page)] };
}

/** The cell under the pointer; else the current token and the token that it attends to most. */
function cellMenu(page: ExplorePage) {
  const [query] = activeQueries(page);
  const key = page.state.pointer?.key ?? mostAttendedKey(page, query);
  const visibility = visibilityControl(page, () => [query, key]);
  const title: Words = [{ token: queryTokens(page)[query] }, " looks at ", { token: keyTokens(page)[key] }];
  return {
    title,
    controls: [scopeControl(page), { element: labelledRow("Cell", ...visibility.elements), update: visibility.update }],
  };
}

function mostAttendedKey(page: ExplorePage, query: number) {
  const matrix = shownMatrix(page);
  if (!matrix) return 0;
  const sums = columnSums(matrix, lineIndices(matrix.rowOf, [query]));
  const best = sums.reduce((one, value, place) => (value > (sums[one] ?? -Infinity) ? place : one), 0);
  return matrix.columns.tokens[best]?.[0] ?? 0;
}

function tokenMenu(page: ExplorePage, which: Side, place: number): Menu {
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

/** Opens a menu at the event's place; Escape or a click elsewhere closes it. */
function openMenu(page: ExplorePage, event: MouseEvent | KeyboardEvent, { title, controls }: Menu) {
  event.preventDefault();
  closeMenu(page);
  const shown = [createElement("h3", "", wordNodes(title)), ...controls.map(({ element }) => element)];
  const named = { role: "dialog", ariaLabel: wordText(title), testid: "menu" };
  const menu = createElement("div", "menu", shown, { ...named, popover: "manual" });
  page.view.elements.root.append(menu);
  const back = activeElement(page.view.elements.root);
  const outside = (pressed: PointerEvent) => {
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

function removeMenu(menu: HTMLElement, outside: (event: PointerEvent) => void, back: HTMLElement | null) {
  document.removeEventListener("pointerdown", outside);
  const inside = menu.contains(activeElement(menu));
  menu.remove();
  if (inside) back?.focus();
}

function closeMenu(page: ExplorePage) {
  const { close } = memory(page);
  Object.assign(memory(page), { controls: [], close: () => {} });
  close();
}

/** Places the menu beside the pointer or below the focused element, inside the window. */
function placeMenu(menu: HTMLElement, event: MouseEvent | KeyboardEvent) {
  const frame = (event.target as Element).getBoundingClientRect();
  const small = frame.height < 100;
  const byPointer = event instanceof MouseEvent && event.type === "contextmenu" && !small;
  const below = small
    ? [frame.right - menu.offsetWidth, frame.bottom + 6]
    : [frame.left + frame.width / 3, frame.top + 160];
  const [left, top] = byPointer ? [event.clientX + 12, event.clientY + 12] : below;
  menu.style.left = `${Math.max(Math.min(left, window.innerWidth - menu.offsetWidth - 8), 8)}px`;
  menu.style.top = `${Math.max(Math.min(top, window.innerHeight - menu.offsetHeight - 8), 8)}px`;
}
