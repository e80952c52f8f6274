// Display options of the selected heads: the controls in their panel.

import { fillSelect, setValue } from "../charts/charts.js";
import { optionsOf } from "../dom/dom.js";
import { find } from "../dom/elements.js";
import { createPopover } from "../dom/popover.js";
import { currentStyle } from "../plots/measurements.js";
import { currentColourRange } from "../state/colour_range.js";
import { currentQuantity } from "../state/head_matrix.js";
import { currentGroup, headName, layerHeads, parseHead, selectedHeads } from "../state/head_selection.js";
import { QUERY_KEY } from "../state/token_selection.js";
import { metricRows, metricsOf, metricsTrouble } from "./head_order.js";
import { pairTitle } from "./query_key_order.js";

/** @import { AttentionGroup, Page } from "../types.js" */
/** @import { Option } from "../charts/charts.js" */

/** @typedef {"quantity" | "sort" | "other_head" | "unit" | "segments" | "head_reduction" | "other_text" | "top_mass"} Field */

/** @param {HTMLElement} options */
function hideBoxes(options) {
  return [.../** @type {NodeListOf<HTMLInputElement>} */ (options.querySelectorAll("[data-hide]"))];
}

/** Attaches listeners to the controls, once. Each control names its choice. @param {Page} page */
export function listenToOptions(page) {
  const { root, optionsButton, options, grow, stage } = page.view.elements;
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
  const renormalize = find(options, "[data-renormalize]", HTMLInputElement);
  renormalize.onchange = () => page.change({ renormalize: renormalize.checked ? "1" : "" });
  find(options, ".reset").onclick = () =>
    page.change({ unit: "tokens", top_mass: 100, hide: "", renormalize: "", segments: "", head_reduction: "mean" });
  grow.onclick = () => {
    const large = page.state.choice.panel_size !== "large";
    page.change({ panel_size: large ? "large" : "panel" });
    if (large && currentStyle(page).type > 1) stage.closest(".panel")?.scrollIntoView(); // to fill a projector's screen
  };
  createPopover(optionsButton, options, () => find(options, "select, input").focus(), root);
}

/** Shows the choices, and only the controls that apply to them. @param {Page} page */
export function drawOptions(page) {
  const { choice } = page.state;
  const { elements } = page.view;
  const group = currentGroup(page);
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
  fill("quantity", optionsOf(page.state.catalogue.quantities), quantity.name);
  const ranges = optionsOf(page.state.catalogue.colour_ranges);
  for (const select of /** @type {NodeListOf<HTMLSelectElement>} */ (
    elements.root.querySelectorAll('[data-field="colour_range"]') // near each legend
  ))
    fillSelect(select, ranges, currentColourRange(page).name, (value) => page.change({ colour_range: value }));
  drawOrders(page, group);
  fill("other_head", headOptions(group), otherHead(page, group));
  for (const field of /** @type {Field[]} */ (["unit", "segments", "head_reduction", "other_text", "top_mass"]))
    setValue(control(field), choice[field]);
  find(elements.options, "output").textContent =
    choice.top_mass === 100 ? "all weights" : `the largest that make ${choice.top_mass} %`;
  for (const box of hideBoxes(elements.options)) box.checked = choice.hide.split("+").includes(box.dataset.hide ?? "");
  const renormalize = find(elements.options, "[data-renormalize]", HTMLInputElement);
  renormalize.checked = choice.renormalize === "1";
  renormalize.disabled = !choice.hide || quantity.scale !== "probability";
  for (const field of /** @type {Field[]} */ (["unit", "top_mass"])) control(field).disabled = !quantity.additive;
  show("segments", group.has_segments);
  show("head_reduction", choice.heads.length > 1);
  show("other_head", choice.quantity === "minus_head");
  show("other_text", choice.quantity === "minus_text");
  elements.grow.ariaPressed = String(choice.panel_size === "large");
  elements.optionsButton.classList.toggle("in-use", hasActiveOptions(page, group));
}

/**
 * Whether any option is active, so that the button can show this while its panel is closed.
 * @param {Page} page @param {AttentionGroup} group
 */
function hasActiveOptions(page, group) {
  const { unit, top_mass, hide, segments, heads, head_reduction } = page.state.choice;
  return (
    unit !== "tokens" ||
    top_mass < 100 ||
    Boolean(hide) ||
    (group.has_segments && Boolean(segments)) ||
    (heads.length > 1 && head_reduction !== "mean")
  );
}

/** The menu of orders; the title of one order contains the chosen tokens. @param {Page} page @param {AttentionGroup} group */
function drawOrders(page, group) {
  const select = find(page.view.elements.root, '[data-field="sort"]', HTMLSelectElement);
  const { head_orders } = page.state.catalogue;
  const values = metricsTrouble(page, group) ? {} : metricsOf(page, group);
  const rows = [...head_orders, ...metricRows(page).filter(({ name }) => !values || values[name])];
  fillSelect(select, optionsOf(rows), page.state.choice.sort, (sort) => page.change({ sort }));
  const named = [...select.options].find(({ value }) => value === QUERY_KEY);
  const title = pairTitle(page, group, head_orders.find(({ name }) => name === QUERY_KEY)?.title ?? "");
  if (named && named.text !== title) named.text = title;
}

/** @param {AttentionGroup} group */
function headOptions(group) {
  const all = Array.from({ length: group.layers }, (_, layer) => layerHeads(group, layer)).flat();
  return all.map(([layer, head]) => /** @type {Option} */ ([headName([layer, head]), `layer ${layer}, head ${head}`]));
}

/**
 * The head to subtract: the chosen one, or else the neighbour of the current head.
 * @param {Page} page @param {AttentionGroup} group
 */
function otherHead(page, group) {
  const [[layer, head]] = selectedHeads(page);
  const [otherLayer, otherHead] = parseHead(page.state.choice.other_head || `${layer}.${(head + 1) % group.heads}`);
  return otherLayer < group.layers && otherHead < group.heads
    ? headName([otherLayer, otherHead])
    : headName([layer, (head + 1) % group.heads]);
}
