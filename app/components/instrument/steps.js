// The room of steps: one head, one query, one key, from the stream to what the head writes back to it.

const ROOM_STEPS = { title: "Step by step", draw: drawSteps };

function stepsParts(self) {
  const room = self.rooms.steps;
  const named = (name) => room.querySelector(`[data-testid="${name}"]`);
  self.stepsParts ??= {
    attentions: room.querySelector('[data-part="attentions"]'), attention: named("steps-attention"), layer: named("steps-layer"),
    head: named("steps-head"), query: named("steps-query"), key: named("steps-key"), silent: named("steps-silent"), walk: named("steps-walk"),
    stairs: named("stairs"), stair: named("stair"), title: named("stair-title"), back: named("step-back"), next: named("step-next"),
    meaning: named("stair-meaning"), formula: named("stair-formula"), values: named("stair-values"), reading: named("stair-reading"), shapes: named("stair-shapes"),
    code: named("stair-code"), numbers: named("stair-numbers"), keys: named("steps-keys"),
  };
  return self.stepsParts;
}

function drawSteps(self) {
  const grid = currentGrid(self);
  const parts = stepsParts(self);
  if (!grid) return saySteps(parts, "This model has no layers, so there is no attention to walk through.");
  clampHead(self, grid);
  fillPhrase(self, grid);
  const { layer, head, key } = self.choice;
  const attention = `${grid.stack}.${layer}.${grid.kind}`;
  const chosen = self.pointedKey ?? (key < keyTokens(self).length ? key : -1);
  const found = wanted(self, "steps", { attention, head, query: queryPosition(self), key: chosen });
  if (!found) return; // what was painted stays until the numbers are here
  if (found.meta.error) return saySteps(parts, found.meta.error);
  saySteps(parts, "");
  self.walked = { ...found.meta, steps: cutValues(found), code: wanted(self, "code", { attention })?.meta.code };
  fillSelect(parts.key, tokenOptions(keyTokens(self)), self.walked.key, (value) => change(self, { key: Number(value) }));
  drawStairs(self);
  drawStair(self);
  drawLooked(self);
}

function saySteps(parts, sentence) {
  parts.silent.textContent = sentence;
  parts.silent.hidden = !sentence;
  parts.walk.hidden = Boolean(sentence);
}

function fillPhrase(self, grid) {
  const { grids } = self.answer;
  const parts = stepsParts(self);
  const upTo = (count) => Array.from({ length: count }, (_, index) => [index, index]);
  parts.attentions.hidden = grids.length < 2;
  fillSelect(parts.attention, grids.map(({ name, title }) => [name, title]), grid.name, (attention) => change(self, { attention, key: -1 }));
  fillSelect(parts.layer, upTo(grid.layers), self.choice.layer, (value) => change(self, { layer: Number(value) }));
  fillSelect(parts.head, upTo(grid.heads), self.choice.head, (value) => change(self, { head: Number(value) }));
  fillSelect(parts.query, tokenOptions(queryTokens(self)), queryPosition(self), (value) => chooseQuery(self, Number(value)));
}

/** Each step with its own numbers, cut out of the one long row that came. */
function cutValues({ meta, numbers }) {
  let start = 0;
  return meta.steps.map((step) => ({
    ...step,
    values: step.values.map((value) => ({ ...value, numbers: numbers.subarray(start, (start += value.count)) })),
  }));
}

function openStep(self) {
  const { steps } = self.walked;
  return Math.max(steps.findIndex((step) => step.name === self.choice.step), 0);
}

/** One step on, or back. */
function turnStep(self, by) {
  const { steps } = self.walked;
  const next = Math.min(Math.max(openStep(self) + by, 0), steps.length - 1);
  if (next !== openStep(self)) change(self, { step: steps[next].name });
}

function drawStairs(self) {
  const { stairs } = stepsParts(self);
  const { steps } = self.walked;
  const open = openStep(self);
  if (stairs.children.length !== steps.length) stairs.replaceChildren(...steps.map(() => make("button")));
  steps.forEach((step, index) => {
    const button = stairs.children[index];
    const last = step.values[step.values.length - 1];
    button.type = "button";
    button.setAttribute("role", "tab");
    button.dataset.testid = `stair-${step.name}`;
    button.setAttribute("aria-selected", String(index === open));
    button.tabIndex = index === open ? 0 : -1;
    button.replaceChildren(make("i", "", index + 1), make("span", "", step.title), make("b", "", last.axis === "key" ? digits(last.numbers[self.walked.key], 3) : last.axis ? "" : digits(last.numbers[0], 3)));
    button.onclick = () => change(self, { step: step.name });
    button.onkeydown = (event) => {
      const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      turnStep(self, by);
      stairs.children[openStep(self)].focus();
    };
  });
  stairs.scrollLeft = stairs.children[open].offsetLeft - stairs.clientWidth / 2 + stairs.children[open].clientWidth / 2;
}

function drawStair(self) {
  const parts = stepsParts(self);
  const open = openStep(self);
  const step = self.walked.steps[open];
  parts.title.textContent = `${open + 1}. ${step.title}`;
  parts.meaning.textContent = step.meaning;
  parts.formula.replaceChildren(...step.formula.split(/,\s{3}/).map((part) => { const line = make("span", "equation"); line.append(...formula(part)); return line; }));
  if (step.edited) parts.formula.append(make("span", "edited", "Changed here by an edit: the model went on with the numbers shown."));
  parts.back.disabled = open === 0;
  parts.next.disabled = open === self.walked.steps.length - 1;
  parts.back.onclick = () => turnStep(self, -1);
  parts.next.onclick = () => turnStep(self, 1);
  parts.stair.onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by || event.target.closest("select, canvas, pre")) return;
    event.preventDefault();
    turnStep(self, by);
  };
  layValues(self, step);
  paintValues(self);
  parts.shapes.textContent = shapesOf(step);
  drawCode(self, step);
}

function shapesOf(step) {
  const told = step.shapes.map(({ site, axes, sizes }) => `${site}: ${axes.map((axis, index) => `${axis.replaceAll("_", " ")} ${sizes[index]}`).join(" × ")}`);
  return told.length ? `Shape of the whole value: ${told.join(";  ")}` : "Made from the values above; it has no name of its own in the trace.";
}

function drawCode(self, step) {
  const { code, numbers } = stepsParts(self);
  const pieces = self.walked.code?.[step.name] || [];
  code.replaceChildren(...pieces.flatMap((piece) => [make("p", "where", piece.where), make("pre", "", piece.code)]));
  for (const lines of code.querySelectorAll("pre")) lines.tabIndex = 0;
  const rows = step.values.map((value) => { const row = make("p"); row.append(...formula(value.sign), make("span", "", ` = ${Array.from(value.numbers, (number) => digits(number)).join("  ")}`)); return row; });
  refill(numbers, ...rows);
}

/** One line for each value: its sign, its bars (or the number alone), and how far it reaches. */
function layValues(self, step) {
  const { values } = stepsParts(self);
  const rows = step.values.map((value) => {
    const row = make("div", value.axis ? "value" : "value single");
    const sign = make("span", "sign");
    sign.append(...formula(value.sign));
    if (!value.axis) {
      row.append(sign, make("output", "", digits(value.numbers[0])));
      return row;
    }
    const { low, high } = reachOf([value.numbers]);
    const canvas = make("canvas");
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${value.sign.replace(/[_{}]/g, "")}: ${value.count} numbers from ${digits(low)} to ${digits(high)}`);
    const frame = make("div", "bars-of");
    frame.append(canvas);
    row.append(sign, frame);
    canvas.onmousemove = (event) => pointValue(self, value.axis, barUnder(canvas, event, value.count));
    canvas.onmouseleave = () => pointValue(self, value.axis, -1);
    canvas.onclick = () => value.axis === "key" && self.pointedValue?.index >= 0 && change(self, { key: self.pointedValue.index });
    canvas.onkeydown = (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      pointValue(self, value.axis, Math.min(Math.max((self.pointedValue?.index ?? -1) + by, 0), value.count - 1));
    };
    return row;
  });
  refill(values, ...rows);
}

/** The pointer is at one number of a row: the same place is marked in all rows that count along the same axis. */
function pointValue(self, axis, index) {
  self.pointedValue = index < 0 ? null : { axis, index };
  paintValues(self);
}

function hotOf(self, axis) {
  if (self.pointedValue?.axis === axis) return self.pointedValue.index;
  return axis === "key" ? self.walked.key : -1;
}

function paintValues(self) {
  const { values, reading } = stepsParts(self);
  const step = self.walked.steps[openStep(self)];
  const style = roomStyle(self);
  const rows = step.values.filter((value) => value.axis);
  const vectors = rows.filter((value) => value.axis !== "key");
  const shared = reachOf(vectors.map((value) => value.numbers));
  const last = rows.findLast((value) => value.axis === "key");
  const labels = keyTokens(self).map((token) => spoken(token.piece));
  step.values.forEach((value, place) => {
    const canvas = values.children[place].querySelector("canvas");
    if (!canvas) return;
    const along = value.axis === "key";
    paintBars(canvas, value.numbers, {
      style, hot: hotOf(self, value.axis), height: value === last ? 124 : 54, reach: along ? reachOf([value.numbers]) : shared,
      labels: value === last ? labels : null,
    });
  });
  reading.replaceChildren(...readValues(self, rows, shared));
}

function readValues(self, rows, shared) {
  if (!rows.length) return [];
  const axis = self.pointedValue?.axis ?? (rows[0].axis === "key" ? "key" : null);
  const hot = axis === null ? -1 : hotOf(self, axis);
  if (hot < 0) return [`All bars share one scale, from ${digits(shared.low)} to ${digits(shared.high)}. Point at a bar to read it.`];
  const words = axis === "key" ? quote(keyTokens(self)[hot]) : [`channel ${hot}`];
  const told = rows.filter((value) => value.axis === axis).flatMap((value) => [" · ", ...formula(value.sign), ` ${digits(value.numbers[hot])}`]);
  return ["at ", ...words, ...told];
}

/** All keys with their weights: the pointer tries a key, a click keeps it. */
function drawLooked(self) {
  const { keys } = stepsParts(self);
  const weights = self.walked.steps.find((step) => step.name === "weigh").values[1].numbers;
  const tokens = keyTokens(self);
  paintBars(keys, weights, {
    style: roomStyle(self), height: 124, hot: self.walked.key, reach: { low: 0, high: Math.max(...weights, 0.01) },
    labels: tokens.map((token) => spoken(token.piece)),
  });
  const most = weights.indexOf(Math.max(...weights));
  keys.setAttribute("aria-label", `Weights of ${weights.length} keys; the largest is ${percent(weights[most])}, of ${spoken(tokens[most].piece)}`);
  keys.onmousemove = (event) => tryKey(self, barUnder(keys, event, weights.length));
  keys.onmouseleave = () => tryKey(self, -1);
  keys.onclick = (event) => keepKey(self, barUnder(keys, event, weights.length));
  keys.onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    keepKey(self, Math.min(Math.max(self.walked.key + by, 0), weights.length - 1));
  };
}

function tryKey(self, key) {
  const before = self.pointedKey;
  self.pointedKey = key < 0 ? undefined : key;
  if (self.pointedKey !== before) drawSteps(self);
}

function keepKey(self, key) {
  self.pointedKey = undefined;
  if (key >= 0) change(self, { key });
}
