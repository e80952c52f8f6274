// What is shown and by which rules: the controls of the chosen heads' panel.

const HIDEABLE = ["special", "first"];

/** Hooks the controls up, once. Each names the choice that it makes. */
function bindOptions(self) {
  const { root, optionsButton, options, grow } = self.parts;
  for (const control of root.querySelectorAll("[data-field]")) {
    const event = control.matches('input[type="text"], input[type="range"]') ? "oninput" : "onchange";
    control[event] = () => change(self, { [control.dataset.field]: control.type === "range" ? Number(control.value) : control.value });
  }
  for (const box of options.querySelectorAll("[data-hide]")) {
    box.onchange = () => change(self, { hide: HIDEABLE.filter((name) => options.querySelector(`[data-hide="${name}"]`).checked).join("+") });
  }
  options.querySelector("[data-rest]").onchange = (event) => change(self, { rest: event.target.checked ? "renormalised" : "as-is" });
  options.querySelector(".reset").onclick = () => change(self, { unit: "tokens", mass: 100, hide: "", rest: "as-is", pair: "", rule: "mean" });
  grow.onclick = () => change(self, { size: self.choice.size === "large" ? "panel" : "large" });
  optionsButton.onclick = () => openOptions(self, options.hidden);
  options.onkeydown = (event) => {
    if (event.key !== "Escape") return;
    openOptions(self, false);
    optionsButton.focus();
  };
  root.onpointerdown = (event) => {
    if (!options.hidden && !options.contains(event.target) && !optionsButton.contains(event.target)) openOptions(self, false);
  };
}

function openOptions(self, open) {
  self.parts.options.hidden = !open;
  self.parts.optionsButton.setAttribute("aria-expanded", String(open));
  if (open) self.parts.options.querySelector("select, input").focus();
}

/** Shows what is chosen, and only the controls that make sense for it. */
function drawOptions(self) {
  const { parts, choice } = self;
  const grid = currentGrid(self);
  const kind = kindOf(self);
  const control = (field) => parts.root.querySelector(`[data-field="${field}"]`);
  const fill = (field, options, chosen) => fillSelect(control(field), options, chosen, (value) => change(self, { [field]: value }));
  fill("view", self.kinds.map(({ name, title }) => [name, title]), kind.name);
  fill("sort", [["layer", "by layer"], ...sortable(self, grid)], choice.sort);
  fill("versus", headOptions(grid), versusOf(self, grid));
  for (const field of ["unit", "pair", "rule", "other", "mass"]) choosing(control(field), choice[field]);
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
  parts.optionsButton.classList.toggle("in-use", isRuled(self, grid));
}

/** Whether any rule is in force, so that the button can say so while its panel is closed. */
function isRuled(self, grid) {
  const { unit, mass, hide, pair, heads, rule } = self.choice;
  return unit !== "tokens" || mass < 100 || Boolean(hide) || (grid.pairs && Boolean(pair)) || (heads.length > 1 && rule !== "mean");
}

function sortable(self, grid) {
  const values = metricsOf(self, grid);
  return self.metrics.filter(({ name }) => !values || values[name]).map(({ name, short }) => [name, short]);
}

function headOptions(grid) {
  const all = Array.from({ length: grid.layers }, (_, layer) => layerHeads(grid, layer)).flat();
  return all.map(([layer, head]) => [headName([layer, head]), `layer ${layer}, head ${head}`]);
}

/** The head that is taken away: the chosen one, or the neighbour of the head that is looked at. */
function versusOf(self, grid) {
  const [[layer, head]] = chosenHeads(self);
  const [otherLayer, otherHead] = headOf(self.choice.versus || `${layer}.${(head + 1) % grid.heads}`);
  return otherLayer < grid.layers && otherHead < grid.heads ? headName([otherLayer, otherHead]) : headName([layer, (head + 1) % grid.heads]);
}
