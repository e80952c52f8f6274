// The changes to the model: a list that can be read, switched, undone and redone one by one, and taken along as text.

import { createElement, updateChildren } from "../../../../model/rendering/static/ui/dom.js";
import { createEditPanel, drawEditPanel } from "./edit_panel.js";
import { describeEdit, wordNodes, wordText } from "./edit_text.js";

/** Remembers the list as it was, before it changes; one stroke of a slider is one change. */
export function recordEdits(self, before, patch) {
  if (!("edits" in patch || "paused" in patch) || self.history.moving) return;
  if (self.history.stroke !== "goes on") self.history.past.push({ edits: before.edits, paused: before.paused });
  if (self.history.stroke) self.history.stroke = "goes on";
  self.history.future = [];
}

export function clearHistory(self) {
  self.history = { past: [], future: [], moving: false, stroke: "" };
}

/** Back by one change. What came with the address has no past: there the last edit is taken back. */
function undoEdit(self) {
  const { edits, paused } = self.choice;
  const { past, future } = self.history;
  if (!past.length && !edits.length) return;
  future.push({ edits, paused });
  restoreEdits(self, past.pop() || { edits: edits.slice(0, -1), paused });
}

function redoEdit(self) {
  const { edits, paused } = self.choice;
  const { past, future } = self.history;
  if (!future.length) return;
  past.push({ edits, paused });
  restoreEdits(self, future.pop());
}

function restoreEdits(self, list) {
  self.history.moving = true;
  self.change(list);
  self.history.moving = false;
}

export function addEdits(self, added) {
  const { edits, paused } = self.choice;
  const others = (list) => list.filter((edit) => !added.includes(edit));
  self.change({ edits: [...others(edits), ...added], paused: others(paused) });
}

function removeEdit(self, edit) {
  const { edits, paused } = self.choice;
  self.change({ edits: edits.filter((other) => other !== edit), paused: paused.filter((other) => other !== edit) });
}

/** In place of every edit that the test picks one other, or none. */
export function replaceEdit(self, picks, edit) {
  const { edits } = self.choice;
  const place = edits.findIndex(picks);
  const rest = edits.filter((other) => !picks(other));
  if (edit) rest.splice(place < 0 ? rest.length : place, 0, edit);
  if (JSON.stringify(rest) !== JSON.stringify(edits)) self.change({ edits: rest });
}

/** Puts an edit aside without losing it, or takes it up again. */
function toggleEdit(self, edit) {
  const { edits, paused } = self.choice;
  if (edits.includes(edit)) return self.change({ edits: edits.filter((other) => other !== edit), paused: [...paused, edit] });
  addEdits(self, [edit]);
}

/** Ctrl+Z and Ctrl+Shift+Z (or Ctrl+Y) anywhere but where somebody writes. */
export function onUndoKey(self, event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || !self.choice) return;
  const [target] = event.composedPath();
  if (target.closest?.('textarea, [contenteditable="true"], input:not([type="range"], [type="checkbox"])')) return;
  const key = event.key.toLowerCase();
  if (key !== "z" && key !== "y") return;
  event.preventDefault();
  (key === "y" || event.shiftKey ? redoEdit : undoEdit)(self);
}

/** Hooks the list up, once. */
export function listenToEdits(self) {
  const { changes, undo, redo, edits } = self.parts;
  clearHistory(self);
  self.open = { edits: false, text: false };
  changes.onclick = () => {
    self.open.edits = !self.open.edits;
    drawEdits(self);
  };
  undo.onclick = () => undoEdit(self);
  redo.onclick = () => redoEdit(self);
  edits.querySelector(".as-text").onclick = () => {
    self.open.text = !self.open.text;
    drawEdits(self);
  };
  edits.querySelector(".clear").onclick = () => self.change({ edits: [], paused: [] });
  const box = edits.querySelector("textarea");
  box.onchange = () => self.change(parseEditList(box.value));
  box.onkeydown = (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && box.onchange();
  const keys = (event) => onUndoKey(self, event);
  document.addEventListener("keydown", keys);
  self.leave = () => document.removeEventListener("keydown", keys);
  createEditPanel(self);
}

/** One edit a line; behind a # those that are put aside. */
function parseEditList(text) {
  const lines = [...new Set(text.split(/[\n;]/).map((line) => line.trim()).filter(Boolean))];
  const aside = lines.filter((line) => line.startsWith("#")).map((line) => line.slice(1).trim());
  return { edits: lines.filter((line) => !line.startsWith("#")), paused: aside.filter(Boolean) };
}

function formatEditList({ edits, paused }) {
  return [...edits, ...paused.map((edit) => `# ${edit}`)].join("\n");
}

export function drawEdits(self) {
  const { changes, undo, redo, latest, edits: panel } = self.parts;
  const { edits, paused } = self.choice;
  const { open, history } = self;
  const count = edits.length;
  changes.firstChild.textContent = count ? `${count} ${count === 1 ? "change" : "changes"}` : "No changes";
  changes.classList.toggle("some", count > 0);
  changes.setAttribute("aria-expanded", String(open.edits));
  undo.disabled = !history.past.length && !count;
  redo.disabled = !history.future.length;
  undo.hidden = redo.hidden = undo.disabled && redo.disabled;
  latest.replaceChildren(...(count && !open.edits ? wordNodes(describeEdit(self, edits.at(-1))) : []));
  for (const { update } of self.menu?.controls || []) update();
  panel.hidden = !open.edits;
  if (!open.edits) return;
  drawEditList(self, panel.querySelector("ol"));
  panel.querySelector(".none").hidden = count + paused.length > 0;
  const [asText, box] = [panel.querySelector(".as-text"), panel.querySelector("textarea")];
  panel.querySelector(".clear").hidden = !(count + paused.length);
  asText.setAttribute("aria-pressed", String(open.text));
  box.hidden = !open.text;
  panel.querySelector("ol").hidden = open.text;
  if (box.getRootNode().activeElement !== box) box.value = formatEditList(self.choice);
  drawEditPanel(self);
}

function drawEditList(self, list) {
  const { edits, paused } = self.choice;
  updateChildren(list, ...edits.map((edit) => editRow(self, edit, true)), ...paused.map((edit) => editRow(self, edit, false)));
}

function editRow(self, edit, on) {
  const words = describeEdit(self, edit);
  const row = createElement("li", on ? "" : "aside");
  row.classList.toggle("wrong", on && Boolean(self.problem) && self.problem.includes(edit));
  const toggle = createElement("button", "switch");
  toggle.type = "button";
  toggle.append(createElement("i"));
  toggle.setAttribute("role", "switch");
  toggle.setAttribute("aria-checked", String(on));
  toggle.setAttribute("aria-label", wordText(words));
  toggle.title = on ? "Put aside, without losing it" : "Take up again";
  toggle.dataset.testid = `edit-switch-${edit}`;
  toggle.onclick = () => toggleEdit(self, edit);
  const told = createElement("span", "told");
  told.append(...wordNodes(words));
  told.title = edit;
  const drop = createElement("button", "drop", "×");
  drop.type = "button";
  drop.setAttribute("aria-label", `Take back: ${wordText(words)}`);
  drop.dataset.testid = `edit-drop-${edit}`;
  drop.onclick = () => removeEdit(self, edit);
  row.append(toggle, told, drop);
  return row;
}
