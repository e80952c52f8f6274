// Display options of the selected heads: the controls in their panel.

import type { Option } from "../charts/charts.ts";
import { fillSelect, setValue } from "../charts/charts.ts";
import { optionsOf } from "../dom/dom.ts";
import { find } from "../dom/elements.ts";
import { createPopover } from "../dom/popover.ts";
import { currentStyle } from "../plots/measurements.ts";
import { currentColourRange } from "../state/colour_range.ts";
import { currentQuantity } from "../state/head_matrix.ts";
import { currentGroup, headName, layerHeads, parseHead, selectedHeads } from "../state/head_selection.ts";
import { QUERY_KEY } from "../state/token_selection.ts";
import type { AttentionGroup, Page } from "../types.ts";
import { metricRows, metricsOf, metricsTrouble } from "./head_order.ts";
import { pairTitle } from "./query_key_order.ts";

type Field = "quantity" | "sort" | "other_head" | "unit" | "segments" | "head_reduction" | "other_text" | "top_mass";

function hideBoxes(options: HTMLElement) {
  return [...(options.querySelectorAll("[data-hide]") as NodeListOf<HTMLInputElement>)];
}

/** Attaches listeners to the controls, once. Each control names its choice. */
export function listenToOptions(page: Page) {
  const { root, optionsButton, options, grow, stage } = page.view.elements;
  for (const control of root.querySelectorAll("[data-field]") as NodeListOf<HTMLInputElement | HTMLSelectElement>) {
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

/** Shows the choices, and only the controls that apply to them. */
export function drawOptions(page: Page) {
  const { choice } = page.state;
  const { elements } = page.view;
  const group = currentGroup(page);
  const quantity = currentQuantity(page);
  const control = (field: Field) =>
    find(elements.root, `[data-field="${field}"]`) as HTMLInputElement | HTMLSelectElement;
  const fill = (field: Field, options: Option[], chosen: string) => {
    fillSelect(find(elements.root, `[data-field="${field}"]`, HTMLSelectElement), options, chosen, (value) =>
      page.change({ [field]: value }),
    );
  };
  const show = (field: Field, shown: boolean) => {
    const label = control(field).closest("label");
    if (label) label.hidden = !shown;
  };
  fill("quantity", optionsOf(page.state.catalogue.quantities), quantity.name);
  const ranges = optionsOf(page.state.catalogue.colour_ranges);
  for (const select of elements.root.querySelectorAll('[data-field="colour_range"]') as NodeListOf<HTMLSelectElement>) // near each legend
    fillSelect(select, ranges, currentColourRange(page).name, (value) => page.change({ colour_range: value }));
  drawOrders(page, group);
  fill("other_head", headOptions(group), otherHead(page, group));
  for (const field of ["unit", "segments", "head_reduction", "other_text", "top_mass"] as Field[])
    setValue(control(field), choice[field]);
  find(elements.options, "output").textContent =
    choice.top_mass === 100 ? "all weights" : `the largest that make ${choice.top_mass} %`;
  for (const box of hideBoxes(elements.options)) box.checked = choice.hide.split("+").includes(box.dataset.hide ?? "");
  const renormalize = find(elements.options, "[data-renormalize]", HTMLInputElement);
  renormalize.checked = choice.renormalize === "1";
  renormalize.disabled = !choice.hide || quantity.scale !== "probability";
  for (const field of ["unit", "top_mass"] as Field[]) control(field).disabled = !quantity.additive;
  show("segments", group.has_segments);
  show("head_reduction", choice.heads.length > 1);
  show("other_head", choice.quantity === "minus_head");
  show("other_text", choice.quantity === "minus_text");
  elements.grow.ariaPressed = String(choice.panel_size === "large");
  elements.optionsButton.classList.toggle("in-use", hasActiveOptions(page, group));
}

/** Whether any option is active, so that the button can show this while its panel is closed. */
function hasActiveOptions(page: Page, group: AttentionGroup) {
  const { unit, top_mass, hide, segments, heads, head_reduction } = page.state.choice;
  return (
    unit !== "tokens" ||
    top_mass < 100 ||
    Boolean(hide) ||
    (group.has_segments && Boolean(segments)) ||
    (heads.length > 1 && head_reduction !== "mean")
  );
}

/** The menu of orders; the title of one order contains the chosen tokens. */
function drawOrders(page: Page, group: AttentionGroup) {
  const select = find(page.view.elements.root, '[data-field="sort"]', HTMLSelectElement);
  const { head_orders } = page.state.catalogue;
  const values = metricsTrouble(page, group) ? {} : metricsOf(page, group);
  const rows = [...head_orders, ...metricRows(page).filter(({ name }) => !values || values[name])];
  fillSelect(select, optionsOf(rows), page.state.choice.sort, (sort) => page.change({ sort }));
  const named = [...select.options].find(({ value }) => value === QUERY_KEY);
  const title = pairTitle(page, group, head_orders.find(({ name }) => name === QUERY_KEY)?.title ?? "");
  if (named && named.text !== title) named.text = title;
}

function headOptions(group: AttentionGroup) {
  const all = Array.from({ length: group.layers }, (_, layer) => layerHeads(group, layer)).flat();
  return all.map(([layer, head]) => [headName([layer, head]), `layer ${layer}, head ${head}`] as Option);
}

/** The head to subtract: the chosen one, or else the neighbour of the current head. */
function otherHead(page: Page, group: AttentionGroup) {
  const [[layer, head]] = selectedHeads(page);
  const [otherLayer, otherHead] = parseHead(page.state.choice.other_head || `${layer}.${(head + 1) % group.heads}`);
  return otherLayer < group.layers && otherHead < group.heads
    ? headName([otherLayer, otherHead])
    : headName([layer, (head + 1) % group.heads]);
}
