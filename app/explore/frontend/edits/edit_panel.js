// The panel in which changes are made, and the small menus that open where the thing to be changed is.

import { onPlotMove } from "../../../../model/rendering/static/heads/plot_events.js";
import { columnSums } from "../../../../model/rendering/static/state/head_matrix.js";
import { currentGrid, isSelected, selectHead } from "../../../../model/rendering/static/state/head_selection.js";
import { activeQueries, keyTokens, lineIndices, queryTokens } from "../../../../model/rendering/static/state/token_selection.js";
import { fillSelect } from "../../../../model/rendering/static/ui/charts.js";
import { createElement, inlineText } from "../../../../model/rendering/static/ui/dom.js";
import { createButton, editTargets, editText, hasEdits, headControl, labelledRow, positionControl, scopeControl, toggleEdits, visibilityControl } from "./edit_controls.js";
import { addEdits, drawEdits, onUndoKey } from "./edit_list.js";
import { wordNodes, wordText } from "./edit_text.js";

const EDITABLE_VALUES = [
  ["embedding", "stack"], ["positions", "stack"], ["residual", "layer"], ["after_self", "layer"],
  ["q", "attention"], ["k", "attention"], ["v", "attention"], ["scores", "attention"], ["weights", "attention"],
  ["mixed", "attention"], ["output", "attention"], ["hidden", "feedforward"], ["output", "feedforward"], ["final", "stack"],
];
const OPERATIONS = [["scale", "times"], ["set", "set to"], ["add", "plus"], ["mean", "averaged"]];

export function createEditPanel(self) {
  self.scope = "head";
  self.making = { query: null, key: null };
  self.menu = null;
  const pair = () => activePair(self);
  const tokens = ["query", "key"].map((name) => {
    const select = createElement("select", "token-choice");
    select.dataset.testid = `make-${name}`;
    select.setAttribute("aria-label", name === "query" ? "The token that looks" : "The token that is looked at");
    return select;
  });
  const look = visibilityControl(self, pair);
  const stands = createElement("select", "token-choice");
  stands.setAttribute("aria-label", "The token that is moved");
  stands.dataset.testid = "make-token";
  const stand = positionControl(self, () => currentGrid(self).queries, () => pair()[0]);
  const controls = [
    scopeControl(self),
    headControl(self),
    { element: labelledRow("Token", tokens[0], createElement("span", "", "looks at"), tokens[1], ...look.elements), update: look.update },
    { element: labelledRow("Token", stands, ...stand.elements), update: stand.update },
    valueControl(self),
  ];
  self.parts.edits.querySelector(".make").append(...controls.map(({ element }) => element));
  self.controls = controls;
  self.tokenChoices = [[tokens[0], "query"], [tokens[1], "key"], [stands, "query"]];
  listenToMenus(self);
}

/** The two tokens that the panel speaks of: chosen there, else the token at hand and the one before it. */
function activePair(self) {
  const [queries, keys] = [queryTokens(self).length, keyTokens(self).length];
  const query = self.making.query !== null && self.making.query < queries ? self.making.query : activeQueries(self)[0];
  const key = self.making.key !== null && self.making.key < keys ? self.making.key : Math.min(Math.max(query - 1, 0), keys - 1);
  return [query, key];
}

export function drawEditPanel(self) {
  const panel = self.parts.edits.querySelector(".make");
  panel.hidden = !self.answer || !currentGrid(self);
  if (panel.hidden) return;
  const pair = activePair(self);
  for (const [select, name] of self.tokenChoices) {
    const tokens = name === "query" ? queryTokens(self) : keyTokens(self);
    fillSelect(select, tokens.map((token, place) => [place, `${place} ${inlineText(token.piece)}`]), pair[name === "query" ? 0 : 1], (value) => {
      self.making[name] = Number(value);
      drawEdits(self);
    });
  }
  for (const { update } of self.controls) update();
}

/** Any value by its site: of the layers in scope, at one token or all. */
function valueControl(self) {
  const [site, operation, token] = ["site", "operation", "place"].map((name) => {
    const select = createElement("select", "");
    select.dataset.testid = `make-${name}`;
    select.setAttribute("aria-label", { site: "Value", operation: "What becomes of it", place: "At which token" }[name]);
    return select;
  });
  const number = createElement("input", "factor");
  Object.assign(number, { type: "number", step: "any", value: 0 });
  number.setAttribute("aria-label", "Number");
  number.dataset.testid = "make-number";
  const add = createButton("Add", "make-value", "", () => addEdits(self, written()));
  const chosen = { site: EDITABLE_VALUES.length - 2, operation: "scale", place: "" };
  const written = () => {
    const operation = chosen.operation === "mean" ? "mean" : `${chosen.operation}:${Number(number.value) || 0}`;
    return valueEdits(self, EDITABLE_VALUES[chosen.site], chosen.place).map((text) => text + operation);
  };
  const update = () => {
    const pick = (name) => (value) => {
      chosen[name] = name === "site" ? Number(value) : value;
      update();
    };
    fillSelect(site, EDITABLE_VALUES.map(([name, part], place) => [place, valueTitle(self, name, part)]), chosen.site, pick("site"));
    fillSelect(operation, OPERATIONS, chosen.operation, pick("operation"));
    const tokens = queryTokens(self).map((each, place) => [place, `at ${place} ${inlineText(each.piece)}`]);
    fillSelect(token, [["", "at every token"], ...tokens], Number(chosen.place) < tokens.length ? chosen.place : "", pick("place"));
    number.hidden = chosen.operation === "mean";
    add.title = written().join("\n");
  };
  return { element: labelledRow("Value", site, operation, number, token, add), update };
}

function valueTitle(self, site, part) {
  const { title } = self.sites[site];
  return { attention: `Attention: ${title.toLowerCase()}`, feedforward: `Feed-forward: ${title.toLowerCase()}` }[part] || title;
}

/** Edits of a site without their operation: in the heads or layers that are in scope. */
function valueEdits(self, value, token) {
  return [...new Set(editTargets(self).map((target) => valueEdit(self, value, token, target)))];
}

function valueEdit(self, [site, part], token, { path, head }) {
  const [stack, layer] = path.split(".");
  const full = { stack: `${stack}.${site}`, layer: `${stack}.${layer}.${site}`, attention: `${path}.${site}`, feedforward: `${stack}.${layer}.feedforward.${site}` }[part];
  const picked = self.sites[site].axes.map((axis) => (axis === "head" ? head : axis === "pos" || axis === "query" ? token : ""));
  return editText(full, picked, "");
}

// Menus: of a head, of a cell (one query, one key), of a token.

function listenToMenus(self) {
  const { stage, grid, tokens, sourceTokens, off } = self.parts;
  stage.oncontextmenu = (event) => {
    onPlotMove(self, event);
    openMenu(self, event, cellMenu(self));
  };
  stage.addEventListener("keydown", (event) => isMenuKey(event) && openMenu(self, event, cellMenu(self)));
  const thumb = (event) => {
    const cell = event.target.closest(".thumb");
    if (cell && !isSelected(self, Number(cell.dataset.layer), Number(cell.dataset.head))) selectHead(self, Number(cell.dataset.layer), Number(cell.dataset.head));
    return headMenu(self);
  };
  grid.oncontextmenu = (event) => openMenu(self, event, thumb(event));
  grid.addEventListener("keydown", (event) => isMenuKey(event) && openMenu(self, event, thumb(event)));
  for (const strip of [tokens, sourceTokens]) {
    const at = (event) => event.target.closest(".chip");
    const menu = (event) => tokenMenu(self, strip === tokens ? "text" : "source", Number(at(event).dataset.position));
    strip.oncontextmenu = (event) => at(event) && openMenu(self, event, menu(event));
    strip.addEventListener("keydown", (event) => isMenuKey(event) && at(event) && openMenu(self, event, menu(event)));
  }
  const about = "Change what these heads do (right-click on a head, a cell or a token, or the key e)";
  off.before(createButton("Change", "change-head", about, (event) => openMenu(self, event, headMenu(self))));
}

function isMenuKey(event) {
  return event.key === "e" && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest("select, input");
}

function headMenu(self) {
  return { title: ["Change"], controls: [scopeControl(self), headControl(self)] };
}

/** The cell under the pointer; else the token at hand and the one that it looks at most. */
function cellMenu(self) {
  const [query] = activeQueries(self);
  const key = self.hovered?.key ?? mostAttendedKey(self, query);
  const look = visibilityControl(self, () => [query, key]);
  const title = [{ token: queryTokens(self)[query] }, " looks at ", { token: keyTokens(self)[key] }];
  return { title, controls: [scopeControl(self), { element: labelledRow("Cell", ...look.elements), update: look.update }] };
}

function mostAttendedKey(self, query) {
  const sums = columnSums(self.shown, lineIndices(self.shown.rowOf, [query]));
  const best = sums.reduce((one, value, place) => (value > (sums[one] ?? -Infinity) ? place : one), 0);
  return self.shown.columns.tokens[best]?.[0] ?? 0;
}

function tokenMenu(self, which, place) {
  const tokens = which === "source" ? self.answer.sourceTokens : self.answer.tokens;
  const stand = positionControl(self, () => which, () => place);
  const stack = which === "source" ? "encoder" : self.answer.grids[0].stack;
  const unseen = [`${stack}.*.self.mask[:,:,${place}]=set:0`];
  const hide = createButton("Hide from every token", "make-unseen", "No token can see it, in any layer", () => toggleEdits(self, unseen));
  const update = () => {
    stand.update();
    hide.setAttribute("aria-pressed", String(hasEdits(self, unseen)));
  };
  const [body, standing] = [createElement("div", "stacked"), createElement("div", "standing")];
  standing.append(...stand.elements);
  body.append(standing, hide);
  return { title: [`Token ${place} `, { token: tokens[place] }], controls: [{ element: body, update }] };
}

/** Opens a menu where the event was; Escape, or a click elsewhere, closes it. */
function openMenu(self, event, { title, controls }) {
  event.preventDefault();
  closeMenu(self);
  const menu = createElement("div", "menu");
  menu.setAttribute("role", "dialog");
  menu.setAttribute("aria-label", wordText(title));
  menu.dataset.testid = "menu";
  menu.popover = "manual";
  const name = createElement("h3", "");
  name.append(...wordNodes(title));
  menu.append(name, ...controls.map(({ element }) => element));
  self.parts.root.append(menu);
  const back = self.parts.root.getRootNode().activeElement;
  const outside = (pressed) => pressed.composedPath().includes(menu) || closeMenu(self);
  menu.onkeydown = (pressed) => {
    pressed.stopPropagation();
    if (pressed.key === "Escape") closeMenu(self);
    else onUndoKey(self, pressed);
  };
  self.menu = { controls, close: () => removeMenu(menu, outside, back) };
  document.addEventListener("pointerdown", outside);
  for (const { update } of controls) update();
  menu.showPopover();
  placeMenu(menu, event);
  menu.querySelector("button, input, select").focus();
}

function removeMenu(menu, outside, back) {
  document.removeEventListener("pointerdown", outside);
  const inside = menu.contains(menu.getRootNode().activeElement);
  menu.remove();
  if (inside) back?.focus?.();
}

function closeMenu(self) {
  const { menu } = self;
  self.menu = null;
  menu?.close();
}

/** Beside the pointer, or below what has the focus; always on the screen. */
function placeMenu(menu, event) {
  const frame = event.target.getBoundingClientRect();
  const small = frame.height < 100;
  const byPointer = event.type === "contextmenu" && !small;
  const below = small ? [frame.right - menu.offsetWidth, frame.bottom + 6] : [frame.left + frame.width / 3, frame.top + 160];
  const [left, top] = byPointer ? [event.clientX + 12, event.clientY + 12] : below;
  menu.style.left = `${Math.max(Math.min(left, window.innerWidth - menu.offsetWidth - 8), 8)}px`;
  menu.style.top = `${Math.max(Math.min(top, window.innerHeight - menu.offsetHeight - 8), 8)}px`;
}
