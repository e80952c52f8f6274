// The room of steps: one head, one query, one key, from the stream to what the head writes back to it.

import { clampHead, currentGrid } from "../../../../model/rendering/static/state/head_selection.js";
import { chooseQuery, keyTokens, queryPosition, queryTokens } from "../../../../model/rendering/static/state/token_selection.js";
import { barAtPointer, drawBars, extentOf, fillSelect, formatNumber, formulaNodes, tabStyle, tokenOptions } from "../../../../model/rendering/static/ui/charts.js";
import { createElement, formatPercent, inlineText, quotedToken, updateChildren } from "../../../../model/rendering/static/ui/dom.js";

export const WALKTHROUGH_TAB = { title: "Step by step", draw: drawWalkthrough };

function stepElements(self) {
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

function drawWalkthrough(self) {
  const grid = currentGrid(self);
  const parts = stepElements(self);
  if (!grid) return showMessage(parts, "This model has no layers, so there is no attention to walk through.");
  clampHead(self, grid);
  drawSelects(self, grid);
  const { layer, head, key } = self.choice;
  const attention = `${grid.stack}.${layer}.${grid.kind}`;
  const chosen = self.pointedKey ?? (key < keyTokens(self).length ? key : -1);
  const found = self.wanted("steps", { attention, head, query: queryPosition(self), key: chosen });
  if (!found) return; // what was painted stays until the numbers are here
  if (found.meta.error) return showMessage(parts, found.meta.error);
  showMessage(parts, "");
  self.walked = { ...found.meta, steps: splitValues(found), code: self.wanted("code", { attention })?.meta.code };
  fillSelect(parts.key, tokenOptions(keyTokens(self)), self.walked.key, (value) => self.change({ key: Number(value) }));
  drawStepList(self);
  drawStep(self);
  drawKeyWeights(self);
}

function showMessage(parts, sentence) {
  parts.silent.textContent = sentence;
  parts.silent.hidden = !sentence;
  parts.walk.hidden = Boolean(sentence);
}

function drawSelects(self, grid) {
  const { grids } = self.answer;
  const parts = stepElements(self);
  const upTo = (count) => Array.from({ length: count }, (_, index) => [index, index]);
  parts.attentions.hidden = grids.length < 2;
  fillSelect(parts.attention, grids.map(({ name, title }) => [name, title]), grid.name, (attention) => self.change({ attention, key: -1 }));
  fillSelect(parts.layer, upTo(grid.layers), self.choice.layer, (value) => self.change({ layer: Number(value) }));
  fillSelect(parts.head, upTo(grid.heads), self.choice.head, (value) => self.change({ head: Number(value) }));
  fillSelect(parts.query, tokenOptions(queryTokens(self)), queryPosition(self), (value) => chooseQuery(self, Number(value)));
}

/** Each step with its own numbers, cut out of the one long row that came. */
function splitValues({ meta, numbers }) {
  let start = 0;
  return meta.steps.map((step) => ({
    ...step,
    values: step.values.map((value) => ({ ...value, numbers: numbers.subarray(start, (start += value.count)) })),
  }));
}

function activeStep(self) {
  const { steps } = self.walked;
  return Math.max(steps.findIndex((step) => step.name === self.choice.step), 0);
}

/** One step on, or back. */
function moveStep(self, by) {
  const { steps } = self.walked;
  const next = Math.min(Math.max(activeStep(self) + by, 0), steps.length - 1);
  if (next !== activeStep(self)) self.change({ step: steps[next].name });
}

function drawStepList(self) {
  const { stairs } = stepElements(self);
  const { steps } = self.walked;
  const open = activeStep(self);
  if (stairs.children.length !== steps.length) stairs.replaceChildren(...steps.map(() => createElement("button")));
  steps.forEach((step, index) => {
    const button = stairs.children[index];
    const last = step.values[step.values.length - 1];
    button.type = "button";
    button.setAttribute("role", "tab");
    button.dataset.testid = `stair-${step.name}`;
    button.setAttribute("aria-selected", String(index === open));
    button.tabIndex = index === open ? 0 : -1;
    button.replaceChildren(createElement("i", "", index + 1), createElement("span", "", step.title), createElement("b", "", last.axis === "key" ? formatNumber(last.numbers[self.walked.key], 3) : last.axis ? "" : formatNumber(last.numbers[0], 3)));
    button.onclick = () => self.change({ step: step.name });
    button.onkeydown = (event) => {
      const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      moveStep(self, by);
      stairs.children[activeStep(self)].focus();
    };
  });
  stairs.scrollLeft = stairs.children[open].offsetLeft - stairs.clientWidth / 2 + stairs.children[open].clientWidth / 2;
}

function drawStep(self) {
  const parts = stepElements(self);
  const open = activeStep(self);
  const step = self.walked.steps[open];
  parts.title.textContent = `${open + 1}. ${step.title}`;
  parts.meaning.textContent = step.meaning;
  parts.formula.replaceChildren(...step.formula.split(/,\s{3}/).map((part) => { const line = createElement("span", "equation"); line.append(...formulaNodes(part)); return line; }));
  if (step.edited) parts.formula.append(createElement("span", "edited", "Changed here by an edit: the model went on with the numbers shown."));
  parts.back.disabled = open === 0;
  parts.next.disabled = open === self.walked.steps.length - 1;
  parts.back.onclick = () => moveStep(self, -1);
  parts.next.onclick = () => moveStep(self, 1);
  parts.stair.onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by || event.target.closest("select, canvas, pre")) return;
    event.preventDefault();
    moveStep(self, by);
  };
  layoutValues(self, step);
  drawValues(self);
  parts.shapes.textContent = shapesText(step);
  drawCode(self, step);
}

function shapesText(step) {
  const told = step.shapes.map(({ site, axes, sizes }) => `${site}: ${axes.map((axis, index) => `${axis.replaceAll("_", " ")} ${sizes[index]}`).join(" × ")}`);
  return told.length ? `Shape of the whole value: ${told.join(";  ")}` : "Made from the values above; it has no name of its own in the trace.";
}

function drawCode(self, step) {
  const { code, numbers } = stepElements(self);
  const pieces = self.walked.code?.[step.name] || [];
  code.replaceChildren(...pieces.flatMap((piece) => [createElement("p", "where", piece.where), createElement("pre", "", piece.code)]));
  for (const lines of code.querySelectorAll("pre")) lines.tabIndex = 0;
  const rows = step.values.map((value) => { const row = createElement("p"); row.append(...formulaNodes(value.sign), createElement("span", "", ` = ${Array.from(value.numbers, (number) => formatNumber(number)).join("  ")}`)); return row; });
  updateChildren(numbers, ...rows);
}

/** One line for each value: its sign, its bars (or the number alone), and how far it reaches. */
function layoutValues(self, step) {
  const { values } = stepElements(self);
  const rows = step.values.map((value) => {
    const row = createElement("div", value.axis ? "value" : "value single");
    const sign = createElement("span", "sign");
    sign.append(...formulaNodes(value.sign));
    if (!value.axis) {
      row.append(sign, createElement("output", "", formatNumber(value.numbers[0])));
      return row;
    }
    const { low, high } = extentOf([value.numbers]);
    const canvas = createElement("canvas");
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${value.sign.replace(/[_{}]/g, "")}: ${value.count} numbers from ${formatNumber(low)} to ${formatNumber(high)}`);
    const frame = createElement("div", "bars-of");
    frame.append(canvas);
    row.append(sign, frame);
    canvas.onmousemove = (event) => pointValue(self, value.axis, barAtPointer(canvas, event, value.count));
    canvas.onmouseleave = () => pointValue(self, value.axis, -1);
    canvas.onclick = () => value.axis === "key" && self.pointedValue?.index >= 0 && self.change({ key: self.pointedValue.index });
    canvas.onkeydown = (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      pointValue(self, value.axis, Math.min(Math.max((self.pointedValue?.index ?? -1) + by, 0), value.count - 1));
    };
    return row;
  });
  updateChildren(values, ...rows);
}

/** The pointer is at one number of a row: the same place is marked in all rows that count along the same axis. */
function pointValue(self, axis, index) {
  self.pointedValue = index < 0 ? null : { axis, index };
  drawValues(self);
}

function activeIndex(self, axis) {
  if (self.pointedValue?.axis === axis) return self.pointedValue.index;
  return axis === "key" ? self.walked.key : -1;
}

function drawValues(self) {
  const { values, reading } = stepElements(self);
  const step = self.walked.steps[activeStep(self)];
  const style = tabStyle(self);
  const rows = step.values.filter((value) => value.axis);
  const vectors = rows.filter((value) => value.axis !== "key");
  const shared = extentOf(vectors.map((value) => value.numbers));
  const last = rows.findLast((value) => value.axis === "key");
  const labels = keyTokens(self).map((token) => inlineText(token.piece));
  step.values.forEach((value, place) => {
    const canvas = values.children[place].querySelector("canvas");
    if (!canvas) return;
    const along = value.axis === "key";
    drawBars(canvas, value.numbers, {
      style, hot: activeIndex(self, value.axis), height: value === last ? 124 : 54, reach: along ? extentOf([value.numbers]) : shared,
      labels: value === last ? labels : null,
    });
  });
  reading.replaceChildren(...valuesReadout(self, rows, shared));
}

function valuesReadout(self, rows, shared) {
  if (!rows.length) return [];
  const axis = self.pointedValue?.axis ?? (rows[0].axis === "key" ? "key" : null);
  const hot = axis === null ? -1 : activeIndex(self, axis);
  if (hot < 0) return [`All bars share one scale, from ${formatNumber(shared.low)} to ${formatNumber(shared.high)}. Point at a bar to read it.`];
  const words = axis === "key" ? quotedToken(keyTokens(self)[hot]) : [`channel ${hot}`];
  const told = rows.filter((value) => value.axis === axis).flatMap((value) => [" · ", ...formulaNodes(value.sign), ` ${formatNumber(value.numbers[hot])}`]);
  return ["at ", ...words, ...told];
}

/** All keys with their weights: the pointer tries a key, a click keeps it. */
function drawKeyWeights(self) {
  const { keys } = stepElements(self);
  const weights = self.walked.steps.find((step) => step.name === "weigh").values[1].numbers;
  const tokens = keyTokens(self);
  drawBars(keys, weights, {
    style: tabStyle(self), height: 124, hot: self.walked.key, reach: { low: 0, high: Math.max(...weights, 0.01) },
    labels: tokens.map((token) => inlineText(token.piece)),
  });
  const most = weights.indexOf(Math.max(...weights));
  keys.setAttribute("aria-label", `Weights of ${weights.length} keys; the largest is ${formatPercent(weights[most])}, of ${inlineText(tokens[most].piece)}`);
  keys.onmousemove = (event) => previewKey(self, barAtPointer(keys, event, weights.length));
  keys.onmouseleave = () => previewKey(self, -1);
  keys.onclick = (event) => selectKey(self, barAtPointer(keys, event, weights.length));
  keys.onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    selectKey(self, Math.min(Math.max(self.walked.key + by, 0), weights.length - 1));
  };
}

function previewKey(self, key) {
  const before = self.pointedKey;
  self.pointedKey = key < 0 ? undefined : key;
  if (self.pointedKey !== before) drawWalkthrough(self);
}

function selectKey(self, key) {
  self.pointedKey = undefined;
  if (key >= 0) self.change({ key });
}
