// What is shown and by which rules: the controls of the chosen heads' panel.

import { currentQuantity } from "../state/head_matrix.js";
import { currentGrid, headName, layerHeads, parseHead, selectedHeads } from "../state/head_selection.js";
import { fillSelect, setValue } from "../ui/charts.js";
import { metricsOf } from "./head_grid.js";

const HIDEABLE = ["special", "first"];

/** Hooks the controls up, once. Each names the choice that it makes. */
export function listenToOptions(self) {
  const { root, optionsButton, options, grow } = self.parts;
  for (const control of root.querySelectorAll("[data-field]")) {
    const event = control.matches('input[type="text"], input[type="range"]') ? "oninput" : "onchange";
    control[event] = () => self.change({ [control.dataset.field]: control.type === "range" ? Number(control.value) : control.value });
  }
  for (const box of options.querySelectorAll("[data-hide]")) {
    box.onchange = () => self.change({ hide: HIDEABLE.filter((name) => options.querySelector(`[data-hide="${name}"]`).checked).join("+") });
  }
  options.querySelector("[data-rest]").onchange = (event) => self.change({ rest: event.target.checked ? "renormalised" : "as-is" });
  options.querySelector(".reset").onclick = () => self.change({ unit: "tokens", mass: 100, hide: "", rest: "as-is", pair: "", rule: "mean" });
  grow.onclick = () => self.change({ size: self.choice.size === "large" ? "panel" : "large" });
  optionsButton.onclick = () => showOptions(self, options.hidden);
  options.onkeydown = (event) => {
    if (event.key !== "Escape") return;
    showOptions(self, false);
    optionsButton.focus();
  };
  root.onpointerdown = (event) => {
    if (!options.hidden && !options.contains(event.target) && !optionsButton.contains(event.target)) showOptions(self, false);
  };
}

function showOptions(self, open) {
  self.parts.options.hidden = !open;
  self.parts.optionsButton.setAttribute("aria-expanded", String(open));
  if (open) self.parts.options.querySelector("select, input").focus();
}

/** Shows what is chosen, and only the controls that make sense for it. */
export function drawOptions(self) {
  const { parts, choice } = self;
  const grid = currentGrid(self);
  const kind = currentQuantity(self);
  const control = (field) => parts.root.querySelector(`[data-field="${field}"]`);
  const fill = (field, options, chosen) => fillSelect(control(field), options, chosen, (value) => self.change({ [field]: value }));
  fill("view", self.kinds.map(({ name, title }) => [name, title]), kind.name);
  fill("sort", [["layer", "by layer"], ...sortOptions(self, grid)], choice.sort);
  fill("versus", headOptions(grid), otherHead(self, grid));
  for (const field of ["unit", "pair", "rule", "other", "mass"]) setValue(control(field), choice[field]);
  parts.options.querySelector("output").textContent = choice.mass === 100 ? "all weights" : `the largest that make ${choice.mass} %`;
  for (const box of parts.options.querySelectorAll("[data-hide]")) box.checked = choice.hide.split("+").includes(box.dataset.hide);
  const rest = parts.options.querySelector("[data-rest]");
  rest.checked = choice.rest === "renormalised";
  rest.disabled = !choice.hide || kind.scale !== "share";
  for (const field of ["unit", "mass"]) control(field).disabled = !kind.additive;
  control("pair").closest("label").hidden = !grid.pairs;
  control("rule").closest("label").hidden = choice.heads.length < 2;
  control("versus").closest("label").hidden = choice.view !== "head";
  control("other").closest("label").hidden = choice.view !== "text";
  parts.grow.setAttribute("aria-pressed", String(choice.size === "large"));
  parts.optionsButton.classList.toggle("in-use", hasActiveOptions(self, grid));
}

/** Whether any rule is in force, so that the button can say so while its panel is closed. */
function hasActiveOptions(self, grid) {
  const { unit, mass, hide, pair, heads, rule } = self.choice;
  return unit !== "tokens" || mass < 100 || Boolean(hide) || (grid.pairs && Boolean(pair)) || (heads.length > 1 && rule !== "mean");
}

function sortOptions(self, grid) {
  const values = metricsOf(self, grid);
  return self.metrics.filter(({ name }) => !values || values[name]).map(({ name, short }) => [name, short]);
}

function headOptions(grid) {
  const all = Array.from({ length: grid.layers }, (_, layer) => layerHeads(grid, layer)).flat();
  return all.map(([layer, head]) => [headName([layer, head]), `layer ${layer}, head ${head}`]);
}

/** The head that is taken away: the chosen one, or the neighbour of the head that is looked at. */
function otherHead(self, grid) {
  const [[layer, head]] = selectedHeads(self);
  const [otherLayer, otherHead] = parseHead(self.choice.versus || `${layer}.${(head + 1) % grid.heads}`);
  return otherLayer < grid.layers && otherHead < grid.heads ? headName([otherLayer, otherHead]) : headName([layer, (head + 1) % grid.heads]);
}
