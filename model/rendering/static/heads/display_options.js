// What is shown of the selected heads, and by which rules: the controls of their panel.

import { currentQuantity } from "../state/head_matrix.js";
import { currentGrid, headName, layerHeads, parseHead, selectedHeads } from "../state/head_selection.js";
import { fillSelect, setValue } from "../ui/charts.js";
import { find } from "../ui/elements.js";
import { metricsOf } from "./head_grid.js";

/** @import { Grid, Page } from "../types.js" */
/** @import { Option } from "../ui/charts.js" */

/** @typedef {"view" | "sort" | "versus" | "unit" | "pair" | "rule" | "other" | "mass"} Field */

/** @param {HTMLElement} options */
function hideBoxes(options) {
  return [.../** @type {NodeListOf<HTMLInputElement>} */ (options.querySelectorAll("[data-hide]"))];
}

/**
 * Hooks the controls up, once. Each names the choice that it makes.
 * @param {Page} page
 */
export function listenToOptions(page) {
  const { root, optionsButton, options, grow } = page.view.elements;
  for (const control of /** @type {NodeListOf<HTMLInputElement | HTMLSelectElement>} */ (
    root.querySelectorAll("[data-field]")
  )) {
    const event = control.matches('input[type="text"], input[type="range"]') ? "oninput" : "onchange";
    const value = () => (control.type === "range" ? Number(control.value) : control.value);
    control[event] = () => page.change({ [control.dataset.field ?? ""]: value() });
  }
  for (const box of hideBoxes(options)) {
    box.onchange = () =>
      page.change({
        hide: hideBoxes(options)
          .filter(({ checked }) => checked)
          .map(({ dataset }) => dataset.hide)
          .join("+"),
      });
  }
  const rest = find(options, "[data-rest]", HTMLInputElement);
  rest.onchange = () => page.change({ rest: rest.checked ? "renormalised" : "as-is" });
  find(options, ".reset").onclick = () =>
    page.change({ unit: "tokens", mass: 100, hide: "", rest: "as-is", pair: "", rule: "mean" });
  grow.onclick = () => page.change({ size: page.state.choice.size === "large" ? "panel" : "large" });
  optionsButton.onclick = () => showOptions(page, Boolean(options.hidden));
  options.onkeydown = (event) => {
    if (event.key !== "Escape") return;
    showOptions(page, false);
    optionsButton.focus();
  };
  root.onpointerdown = (event) => {
    const inside = [options, optionsButton].some((element) => event.composedPath().includes(element));
    if (!options.hidden && !inside) showOptions(page, false);
  };
}

/** @param {Page} page @param {boolean} open */
function showOptions(page, open) {
  page.view.elements.options.hidden = !open;
  page.view.elements.optionsButton.setAttribute("aria-expanded", String(open));
  if (open) find(page.view.elements.options, "select, input").focus();
}

/**
 * Shows what is chosen, and only the controls that make sense for it.
 * @param {Page} page
 */
export function drawOptions(page) {
  const { choice } = page.state;
  const { elements } = page.view;
  const grid = currentGrid(page);
  const quantity = currentQuantity(page);
  /** @param {Field} field */
  const control = (field) =>
    /** @type {HTMLInputElement | HTMLSelectElement} */ (find(elements.root, `[data-field="${field}"]`));
  /** @param {Field} field @param {Option[]} options @param {string} chosen */
  const fill = (field, options, chosen) => {
    fillSelect(find(elements.root, `[data-field="${field}"]`, HTMLSelectElement), options, chosen, (value) =>
      page.change({ [field]: value }),
    );
  };
  /** @param {Field} field @param {boolean} shown */
  const show = (field, shown) => {
    const label = control(field).closest("label");
    if (label) label.hidden = !shown;
  };
  fill(
    "view",
    page.state.catalogue.kinds.map(({ name, title }) => [name, title]),
    quantity.name,
  );
  fill("sort", [["layer", "by layer"], ...sortOptions(page, grid)], choice.sort);
  fill("versus", headOptions(grid), otherHead(page, grid));
  for (const field of /** @type {Field[]} */ (["unit", "pair", "rule", "other", "mass"]))
    setValue(control(field), choice[field]);
  find(elements.options, "output").textContent =
    choice.mass === 100 ? "all weights" : `the largest that make ${choice.mass} %`;
  for (const box of hideBoxes(elements.options)) box.checked = choice.hide.split("+").includes(box.dataset.hide ?? "");
  const rest = find(elements.options, "[data-rest]", HTMLInputElement);
  rest.checked = choice.rest === "renormalised";
  rest.disabled = !choice.hide || quantity.scale !== "share";
  for (const field of /** @type {Field[]} */ (["unit", "mass"])) control(field).disabled = !quantity.additive;
  show("pair", grid.pairs);
  show("rule", choice.heads.length > 1);
  show("versus", choice.view === "head");
  show("other", choice.view === "text");
  elements.grow.setAttribute("aria-pressed", String(choice.size === "large"));
  elements.optionsButton.classList.toggle("in-use", hasActiveOptions(page, grid));
}

/**
 * Whether any rule is in force, so that the button can say so while its panel is closed.
 * @param {Page} page @param {Grid} grid
 */
function hasActiveOptions(page, grid) {
  const { unit, mass, hide, pair, heads, rule } = page.state.choice;
  return (
    unit !== "tokens" ||
    mass < 100 ||
    Boolean(hide) ||
    (grid.pairs && Boolean(pair)) ||
    (heads.length > 1 && rule !== "mean")
  );
}

/** @param {Page} page @param {Grid} grid */
function sortOptions(page, grid) {
  const values = metricsOf(page, grid);
  return page.state.catalogue.metrics
    .filter(({ name }) => !values || values[name])
    .map(({ name, short }) => /** @type {Option} */ ([name, short]));
}

/** @param {Grid} grid */
function headOptions(grid) {
  const all = Array.from({ length: grid.layers }, (_, layer) => layerHeads(grid, layer)).flat();
  return all.map(([layer, head]) => /** @type {Option} */ ([headName([layer, head]), `layer ${layer}, head ${head}`]));
}

/**
 * The head that is taken away: the chosen one, or the neighbour of the head that is looked at.
 * @param {Page} page @param {Grid} grid
 */
function otherHead(page, grid) {
  const [[layer, head]] = selectedHeads(page);
  const [otherLayer, otherHead] = parseHead(page.state.choice.versus || `${layer}.${(head + 1) % grid.heads}`);
  return otherLayer < grid.layers && otherHead < grid.heads
    ? headName([otherLayer, otherHead])
    : headName([layer, (head + 1) % grid.heads]);
}
