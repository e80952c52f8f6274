// Controls that make changes: of heads, of who sees whom, of where a token stands, of any value. The panel of changes
// shows all of them, the menus of a head, a cell and a token those that belong there. Each is { element, update() }.

const SCOPES = Object.freeze({
  head: { title: (self) => (chosenHeads(self).length > 1 ? `the ${chosenHeads(self).length} heads` : `layer ${self.choice.layer}, head ${self.choice.head}`) },
  layer: { title: (self) => `all of layer ${self.choice.layer}` },
  model: { title: () => "every layer" },
});

/** What a change is meant for: the path of an attention, and a head of it or nothing for all. */
function targetsOf(self) {
  const { stack, kind } = currentGrid(self);
  const path = (layer) => `${stack}.${layer}.${kind}`;
  if (self.scope === "model") return [{ path: path("*"), head: "" }];
  if (self.scope === "layer") return [{ path: path(self.choice.layer), head: "" }];
  return chosenHeads(self).map(([layer, head]) => ({ path: path(layer), head: String(head) }));
}

function headsOf(self) {
  const grid = currentGrid(self);
  if (self.scope === "head") return chosenHeads(self);
  if (self.scope === "layer") return layerHeads(grid, self.choice.layer);
  return Array.from({ length: grid.layers }, (_, layer) => layerHeads(grid, layer)).flat();
}

function editText(path, picked, operation) {
  const last = picked.findLastIndex((part) => part !== "" && part !== undefined);
  const index = picked.slice(0, last + 1).map((part) => (part === "" || part === undefined ? ":" : part));
  return `${path}${index.length ? `[${index.join(",")}]` : ""}=${operation}`;
}

/** What stands before the "=": edits of the same values. */
function subject(edit) {
  return edit.slice(0, edit.indexOf("="));
}

/** Makes all of some edits in place of others of the same values, or takes all back where all are there already. */
function toggleEdits(self, wanted) {
  const { edits } = self.choice;
  const there = wanted.every((edit) => edits.includes(edit));
  const subjects = wanted.map(subject);
  const others = edits.filter((edit) => !subjects.includes(subject(edit)));
  change(self, { edits: there ? others : [...others, ...wanted] });
}

function has(self, wanted) {
  return wanted.length > 0 && wanted.every((edit) => self.choice.edits.includes(edit));
}

function pressable(title, testid, about, press) {
  const button = make("button", "press", title);
  button.type = "button";
  button.dataset.testid = testid;
  button.title = about;
  button.onclick = press;
  return button;
}

function line(name, ...children) {
  const element = make("div", "line");
  const controls = make("div", "");
  controls.append(...children);
  element.append(make("span", "quiet", name), controls);
  return element;
}

/** For which heads the next controls are meant. */
function scopeControl(self) {
  const group = make("div", "choices");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "Which heads");
  const buttons = Object.keys(SCOPES).map((name) => {
    const button = pressable("", `scope-${name}`, "", () => {
      self.scope = name;
      drawEdits(self);
    });
    group.append(button);
    return [name, button];
  });
  const update = () => {
    for (const [name, button] of buttons) {
      button.textContent = SCOPES[name].title(self);
      button.setAttribute("aria-pressed", String(self.scope === name));
    }
  };
  return { element: line("In", group), update };
}

/** Off, evenly spread, hotter or colder, without the scale. */
function headControl(self) {
  const edits = (site, operation) => targetsOf(self).map(({ path, head }) => editText(`${path}.${site}`, [head], operation));
  const off = pressable("Off", "make-off", "These heads move nothing", () => toggleHeads(self, headsOf(self)));
  const even = pressable("Even", "make-even", "Every allowed token gets the same weight", () => toggleEdits(self, edits("weights", "uniform")));
  const plain = pressable("No 1/√d", "make-unscaled", "Scores are not divided by the root of d", () => toggleEdits(self, edits("scale", "set:1")));
  const heat = heatControl(self, () => targetsOf(self).map(({ path, head }) => editText(`${path}.scores`, [head], "")));
  const update = () => {
    off.setAttribute("aria-pressed", String(headsOf(self).every((one) => isOff(self, currentGrid(self), ...one))));
    even.setAttribute("aria-pressed", String(has(self, edits("weights", "uniform"))));
    plain.setAttribute("aria-pressed", String(has(self, edits("scale", "set:1"))));
    heat.update();
  };
  return { element: line("Heads", off, even, plain, heat.element), update };
}

/** The temperature of the softmax, on a scale of octaves: scores divided by it. `starts` are edits without an operation. */
function heatControl(self, starts) {
  const slider = make("input", "heat");
  Object.assign(slider, { type: "range", min: -3, max: 3, step: 0.25 });
  slider.dataset.testid = "make-heat";
  slider.setAttribute("aria-label", "Temperature of the softmax");
  const told = make("output", "");
  const mine = (edit) => starts().some((start) => edit.startsWith(`${start}scale:`));
  slider.oninput = () => {
    const made = Number(slider.value) ? starts().map((start) => `${start}scale:${Number((2 ** -slider.value).toPrecision(4))}`) : [];
    self.history.stroke ||= "begins";
    change(self, { edits: [...self.choice.edits.filter((edit) => !mine(edit)), ...made] });
  };
  slider.onchange = () => (self.history.stroke = "");
  const update = () => {
    const found = self.choice.edits.find(mine);
    const heat = found ? 1 / Number(found.split("scale:")[1]) : 1;
    slider.value = Math.log2(heat > 0 ? heat : 1);
    slider.disabled = ["hard", "linear"].includes(self.choice.kernel);
    told.textContent = slider.disabled ? "the softmax has one" : `× ${figure(heat)}`;
    slider.setAttribute("aria-valuetext", told.textContent);
  };
  const label = make("label", "heat");
  label.append("temperature ", slider, told);
  return { element: label, update };
}

/** Whether a query sees a key: in the mask, or by weight. `pair` says which two tokens are meant. */
function lookControl(self, pair) {
  const edits = (site, operation) => targetsOf(self).map(({ path, head }) => editText(`${path}.${site}`, [head, ...pair()], operation));
  const hide = pressable("", "make-hidden", "", () => toggleEdits(self, edits("mask", isClosed() ? "set:1" : "set:0")));
  const none = pressable("Weight 0", "make-weightless", "The other weights of the row stay as they are", () => toggleEdits(self, edits("weights", "set:0")));
  /** Whether something else than a change of this very cell forbids it. */
  const isClosed = () => has(self, edits("mask", "set:1")) || (!has(self, edits("mask", "set:0")) && !isAllowed(self, ...pair()));
  const update = () => {
    const closed = isClosed();
    const made = has(self, edits("mask", closed ? "set:1" : "set:0"));
    hide.textContent = closed ? "Let it see" : "Hide";
    hide.title = closed ? "The mask forbids this cell; allow it" : "The mask forbids this cell; the row's other tokens share its weight";
    hide.setAttribute("aria-pressed", String(made));
    none.setAttribute("aria-pressed", String(has(self, edits("weights", "set:0"))));
    none.disabled = closed && !made;
  };
  return { elements: [hide, none], update };
}

/** Whether the mask lets any head in scope see a cell, read from the pictures on the screen. */
function isAllowed(self, query, key) {
  const grid = currentGrid(self);
  const [rows, columns] = grid.cells;
  const row = Math.min(Math.floor((query * rows) / grid.rows), rows - 1);
  const column = Math.min(Math.floor((key * columns) / grid.columns), columns - 1);
  return headsOf(self).some(([layer, head]) => codesOf(self, grid, layer, head)[row * columns + column] !== 0);
}

/** Where a token stands for the position scheme. */
function standControl(self, which, place) {
  const stack = () => (which() === "source" ? "encoder" : self.answer.grids[0].stack);
  const start = () => `${stack()}.at[${place()}]=`;
  const box = make("input", "stand");
  Object.assign(box, { type: "number", step: 1 });
  box.dataset.testid = "make-stand";
  box.setAttribute("aria-label", "Position of the token");
  const mine = (edit) => edit.startsWith(start());
  box.oninput = () => {
    if (box.value === "" || !Number.isFinite(Number(box.value))) return;
    replaceEdit(self, mine, Number(box.value) === place() ? null : `${start()}set:${Number(box.value)}`);
  };
  const update = () => {
    const found = self.choice.edits.find((edit) => edit.startsWith(`${start()}set:`));
    const stands = found ? found.split("set:")[1] : String(place());
    if (box.getRootNode().activeElement !== box) box.value = stands;
  };
  return { elements: [make("span", "", "stands at position"), box], update };
}
