// The panel for making edits.

import type { Option } from "../../../ui/frontend/charts/charts.ts";
import { fillSelect } from "../../../ui/frontend/charts/charts.ts";
import { activeElement, createElement, inlineText, optionsOf } from "../../../ui/frontend/dom/dom.ts";
import { find } from "../../../ui/frontend/dom/elements.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import { currentGroup } from "../../../ui/frontend/state/head_selection.ts";
import { activeQueries, keyTokens, queryTokens } from "../../../ui/frontend/state/token_selection.ts";
import type { Control, EditTarget, ExplorePage, HookPointRow } from "../types.ts";
import { addEdits } from "./edit_actions.ts";
import {
  createButton,
  editTargets,
  headControl,
  labelledRow,
  positionControl,
  scopeControl,
  visibilityControl,
} from "./edit_controls.ts";
import { listenToMenus } from "./edit_menus.ts";
import { editText, isPatch } from "./edit_text.ts";

/** The operation that takes a value from the run of another text: an edit of the form `...=from:B`. */
const PATCH = { name: "from:B", title: "is taken from another text", takes_number: false };

/** A value of the network, and its kind of module. */
type EditableValue = { name: string; title: string; module: HookPointRow["edited_in"][number]; axes: string[] };

const memory = remembered(() => ({
  query: null as number | null,
  key: null as number | null,
  controls: [] as Control[],
  selects: [] as { select: HTMLSelectElement; side: "query" | "key" }[],
}));

export function createEditPanel(page: ExplorePage) {
  const pair = () => activePair(page);
  const tokens = ["query", "key"].map((name) => {
    const select = createElement("select", "token-choice", [], { testid: `make-${name}` });
    select.ariaLabel = name === "query" ? "The token that looks" : "The token that is looked at";
    return select;
  });
  const visibility = visibilityControl(page, pair);
  const stands = createElement("select", "token-choice", [], { ariaLabel: "The token that is moved" });
  stands.dataset.testid = "make-token";
  const stand = positionControl(
    page,
    () => currentGroup(page).queries,
    () => pair()[0],
  );
  const controls = [
    scopeControl(page),
    headControl(page),
    {
      element: labelledRow(
        "Token",
        tokens[0],
        createElement("span", "", "looks at"),
        tokens[1],
        ...visibility.elements,
      ),
      update: visibility.update,
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

/** The two tokens of the panel: chosen there, else the current token and the previous one. */
function activePair(page: ExplorePage): [query: number, key: number] {
  const [queries, keys] = [queryTokens(page).length, keyTokens(page).length];
  const chosen = memory(page);
  const query = chosen.query !== null && chosen.query < queries ? chosen.query : activeQueries(page)[0];
  const key = chosen.key !== null && chosen.key < keys ? chosen.key : Math.min(Math.max(query - 1, 0), keys - 1);
  return [query, key];
}

export function drawEditPanel(page: ExplorePage) {
  const panel = find(page.view.elements.edits, ".make");
  panel.hidden = !currentGroup(page);
  if (panel.hidden) return;
  const pair = activePair(page);
  for (const { select, side } of memory(page).selects) {
    const tokens = side === "query" ? queryTokens(page) : keyTokens(page);
    const options = tokens.map((token, place) => [place, `${place} ${inlineText(token.text)}`] as Option);
    fillSelect(select, options, pair[side === "query" ? 0 : 1], (value) => {
      memory(page)[side] = Number(value);
      page.view.drawEdits();
    });
  }
  for (const { update } of memory(page).controls) update();
}

/** The editable values of the hook points, for the modules of this model. */
function editableValues(page: ExplorePage): EditableValue[] {
  const { hook_points, has_feed_forward } = page.state.catalogue;
  return Object.entries(hook_points).flatMap(([name, { axes, title, edited_in }]) =>
    edited_in
      .filter((module) => module !== "feed_forward" || has_feed_forward)
      .map((module) => ({ name, title: valueTitle(title, module), module, axes })),
  );
}

function possibleOperations(page: ExplorePage, { name }: EditableValue) {
  const own = page.state.catalogue.operations.filter(
    ({ hook_points }) => !hook_points.length || hook_points.includes(name),
  );
  return page.server.patches ? [...own, PATCH] : own;
}

function chosenOperation(page: ExplorePage, value: EditableValue, operation: string) {
  const possible = possibleOperations(page, value);
  return possible.find(({ name }) => name === operation) ?? possible[0];
}

/** A control for any hook point value: of the layers in scope, at one token or all. */
function valueControl(page: ExplorePage): Control {
  const titles = { "hook-point": "Value", operation: "What to do with it", place: "At which token" };
  const [hookPoint, operation, token] = Object.entries(titles).map(([name, title]) =>
    createElement("select", "", [], { testid: `make-${name}`, ariaLabel: title }),
  );
  const number = createElement("input", "factor", [], { type: "number", step: "any", value: "0", ariaLabel: "Number" });
  number.dataset.testid = "make-number";
  const other = createElement("input", "", [], { type: "text", testid: "make-patch-from" });
  other.onchange = () => page.change({ patch_from: other.value });
  const from = createElement("label", "patch-from", ["the other text", other]);
  const add = createButton("Add", "make-value", "", () => addEdits(page, written()));
  const values = editableValues(page);
  const chosen = { value: values[values.length - 1], operation: "scale", place: "" };
  const written = () => {
    const { name, takes_number } = chosenOperation(page, chosen.value, chosen.operation);
    const operation = takes_number ? `${name}:${Number(number.value) || 0}` : name;
    const starts = editTargets(page).map((target) => valueEdit(chosen.value, chosen.place, target));
    return [...new Set(starts)].map((text) => text + operation);
  };
  const update = () => {
    const pick = (patch: Partial<typeof chosen>) => {
      Object.assign(chosen, patch);
      update();
    };
    fillSelect(
      hookPoint,
      values.map(({ title }, place) => [place, title] as Option),
      values.indexOf(chosen.value),
      (place) => pick({ value: values[Number(place)] }),
    );
    const operations = optionsOf(possibleOperations(page, chosen.value));
    const current = chosenOperation(page, chosen.value, chosen.operation);
    fillSelect(operation, operations, current.name, (name) => pick({ operation: name }));
    const tokens = queryTokens(page).map((each, place) => [place, `at ${place} ${inlineText(each.text)}`] as Option);
    fillSelect(
      token,
      [["", "at every token"], ...tokens],
      Number(chosen.place) < tokens.length ? chosen.place : "",
      (value) => pick({ place: value }),
    );
    number.hidden = !current.takes_number;
    from.hidden = current !== PATCH && !page.state.choice.edits.some(isPatch);
    if (activeElement(other) !== other) other.value = page.state.choice.patch_from;
    add.title = written().join("\n");
  };
  return { element: labelledRow("Value", hookPoint, operation, number, token, add, from), update };
}

function valueTitle(title: string, module: EditableValue["module"]) {
  if (module === "attention") return `Attention: ${title.toLowerCase()}`;
  return module === "feed_forward" ? `Feed-forward: ${title.toLowerCase()}` : title;
}

function valueEdit({ name, module, axes }: EditableValue, token: string, { path, head }: EditTarget) {
  const [stack, layer] = path.split(".");
  const full = {
    stack: `${stack}.${name}`,
    layer: `${stack}.${layer}.${name}`,
    attention: `${path}.${name}`,
    feed_forward: `${stack}.${layer}.feed_forward.${name}`,
  }[module];
  const picked = axes.map((axis) => (axis === "head" ? head : axis === "pos" || axis === "query" ? token : ""));
  return editText(full, picked, "");
}
