// The panel in which edits are made.

import { currentGrid } from "../../../../model/rendering/static/state/head_selection.js";
import { remembered } from "../../../../model/rendering/static/state/memory.js";
import { activeQueries, keyTokens, queryTokens } from "../../../../model/rendering/static/state/token_selection.js";
import { fillSelect } from "../../../../model/rendering/static/ui/charts.js";
import { createElement, inlineText } from "../../../../model/rendering/static/ui/dom.js";
import { find } from "../../../../model/rendering/static/ui/elements.js";
import { addEdits } from "./edit_actions.js";
import {
  createButton,
  editTargets,
  headControl,
  labelledRow,
  positionControl,
  scopeControl,
  visibilityControl,
} from "./edit_controls.js";
import { listenToMenus } from "./edit_menus.js";
import { editText } from "./edit_text.js";

/** @import { Option } from "../../../../model/rendering/static/ui/charts.js" */
/** @import { Control, EditTarget, ExplorePage } from "../types.js" */

/** A value of the network, and the part that it belongs to. @typedef {[site: string, part: "stack" | "layer" | "attention" | "feed_forward"]} EditableValue */

/** @type {EditableValue[]} */
const EDITABLE_VALUES = [
  ["embedding", "stack"],
  ["position_embedding", "stack"],
  ["residual", "layer"],
  ["residual_after_self", "layer"],
  ["q", "attention"],
  ["k", "attention"],
  ["v", "attention"],
  ["scores", "attention"],
  ["weights", "attention"],
  ["weighted_values", "attention"],
  ["output", "attention"],
  ["neurons", "feed_forward"],
  ["output", "feed_forward"],
  ["final_residual", "stack"],
];

const memory = remembered(() => ({
  query: /** @type {number | null} */ (null),
  key: /** @type {number | null} */ (null),
  controls: /** @type {Control[]} */ ([]),
  selects: /** @type {{ select: HTMLSelectElement, side: "query" | "key" }[]} */ ([]),
}));

/** @param {ExplorePage} page */
export function createEditPanel(page) {
  const pair = () => activePair(page);
  const tokens = ["query", "key"].map((name) => {
    const select = createElement("select", "token-choice");
    select.dataset.testid = `make-${name}`;
    select.setAttribute("aria-label", name === "query" ? "The token that looks" : "The token that is looked at");
    return select;
  });
  const look = visibilityControl(page, pair);
  const stands = createElement("select", "token-choice");
  stands.setAttribute("aria-label", "The token that is moved");
  stands.dataset.testid = "make-token";
  const stand = positionControl(
    page,
    () => currentGrid(page).queries,
    () => pair()[0],
  );
  const controls = [
    scopeControl(page),
    headControl(page),
    {
      element: labelledRow("Token", tokens[0], createElement("span", "", "looks at"), tokens[1], ...look.elements),
      update: look.update,
    },
    { element: labelledRow("Token", stands, ...stand.elements), update: stand.update },
    valueControl(page),
  ];
  find(page.view.elements.edits, ".make").append(...controls.map(({ element }) => element));
  memory(page).controls = controls;
  memory(page).selects = [
    { select: tokens[0], side: "query" },
    { select: tokens[1], side: "key" },
    { select: stands, side: "query" },
  ];
  listenToMenus(page);
}

/**
 * The two tokens that the panel speaks of: chosen there, else the token at hand and the one before it.
 * @param {ExplorePage} page
 * @returns {[query: number, key: number]}
 */
function activePair(page) {
  const [queries, keys] = [queryTokens(page).length, keyTokens(page).length];
  const chosen = memory(page);
  const query = chosen.query !== null && chosen.query < queries ? chosen.query : activeQueries(page)[0];
  const key = chosen.key !== null && chosen.key < keys ? chosen.key : Math.min(Math.max(query - 1, 0), keys - 1);
  return [query, key];
}

/** @param {ExplorePage} page */
export function drawEditPanel(page) {
  const panel = find(page.view.elements.edits, ".make");
  panel.hidden = !currentGrid(page);
  if (panel.hidden) return;
  const pair = activePair(page);
  for (const { select, side } of memory(page).selects) {
    const tokens = side === "query" ? queryTokens(page) : keyTokens(page);
    const options = tokens.map((token, place) => /** @type {Option} */ ([place, `${place} ${inlineText(token.text)}`]));
    fillSelect(select, options, pair[side === "query" ? 0 : 1], (value) => {
      memory(page)[side] = Number(value);
      page.view.drawEdits();
    });
  }
  for (const { update } of memory(page).controls) update();
}

/**
 * What can be done with a value.
 * @param {ExplorePage} page @param {number} site its place among EDITABLE_VALUES
 */
function possibleOperations(page, site) {
  const [name] = EDITABLE_VALUES[site];
  return page.state.catalogue.operations.filter(({ hook_points }) => !hook_points.length || hook_points.includes(name));
}

/** @param {ExplorePage} page @param {{ site: number, operation: string }} chosen */
function chosenOperation(page, { site, operation }) {
  const possible = possibleOperations(page, site);
  return possible.find(({ name }) => name === operation) ?? possible[0];
}

/**
 * Any value by its site: of the layers in scope, at one token or all.
 * @param {ExplorePage} page
 * @returns {Control}
 */
function valueControl(page) {
  const titles = { site: "Value", operation: "What becomes of it", place: "At which token" };
  const [site, operation, token] = Object.entries(titles).map(([name, title]) => {
    const select = createElement("select", "");
    select.dataset.testid = `make-${name}`;
    select.setAttribute("aria-label", title);
    return select;
  });
  const number = createElement("input", "factor");
  Object.assign(number, { type: "number", step: "any", value: 0 });
  number.setAttribute("aria-label", "Number");
  number.dataset.testid = "make-number";
  const add = createButton("Add", "make-value", "", () => addEdits(page, written()));
  const chosen = { site: EDITABLE_VALUES.length - 2, operation: "scale", place: "" };
  const written = () => {
    const { name, takes_number } = chosenOperation(page, chosen);
    const operation = takes_number ? `${name}:${Number(number.value) || 0}` : name;
    return valueEdits(page, EDITABLE_VALUES[chosen.site], chosen.place).map((text) => text + operation);
  };
  const update = () => {
    /** @param {Partial<typeof chosen>} patch */
    const pick = (patch) => {
      Object.assign(chosen, patch);
      update();
    };
    fillSelect(
      site,
      EDITABLE_VALUES.map(([name, part], place) => /** @type {Option} */ ([place, valueTitle(page, name, part)])),
      chosen.site,
      (value) => pick({ site: Number(value) }),
    );
    const operations = possibleOperations(page, chosen.site).map(
      ({ name, title }) => /** @type {Option} */ ([name, title]),
    );
    fillSelect(operation, operations, chosenOperation(page, chosen).name, (value) => pick({ operation: value }));
    const tokens = queryTokens(page).map(
      (each, place) => /** @type {Option} */ ([place, `at ${place} ${inlineText(each.text)}`]),
    );
    fillSelect(
      token,
      [["", "at every token"], ...tokens],
      Number(chosen.place) < tokens.length ? chosen.place : "",
      (value) => pick({ place: value }),
    );
    number.hidden = !chosenOperation(page, chosen).takes_number;
    add.title = written().join("\n");
  };
  return { element: labelledRow("Value", site, operation, number, token, add), update };
}

/** @param {ExplorePage} page @param {string} site @param {string} part */
function valueTitle(page, site, part) {
  const { title } = page.state.catalogue.hook_points[site];
  if (part === "attention") return `Attention: ${title.toLowerCase()}`;
  return part === "feed_forward" ? `Feed-forward: ${title.toLowerCase()}` : title;
}

/**
 * Edits of a site without their operation: in the heads or layers that are in scope.
 * @param {ExplorePage} page @param {EditableValue} value @param {string} token
 */
function valueEdits(page, value, token) {
  return [...new Set(editTargets(page).map((target) => valueEdit(page, value, token, target)))];
}

/** @param {ExplorePage} page @param {EditableValue} pair @param {string} token @param {EditTarget} options */
function valueEdit(page, [site, part], token, { path, head }) {
  const [stack, layer] = path.split(".");
  const full = {
    stack: `${stack}.${site}`,
    layer: `${stack}.${layer}.${site}`,
    attention: `${path}.${site}`,
    feed_forward: `${stack}.${layer}.feed_forward.${site}`,
  }[part];
  const picked = page.state.catalogue.hook_points[site].axes.map((axis) =>
    axis === "head" ? head : axis === "pos" || axis === "query" ? token : "",
  );
  return editText(full, picked, "");
}
