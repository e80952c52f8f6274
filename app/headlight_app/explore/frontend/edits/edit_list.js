// The changes to the model, edits and replaced parts: a list to read, switch, undo and redo one by one, and copy as
// text.

import { activeElement, createButton, createElement, listenTo, updateChildren } from "../../../ui/frontend/dom/dom.js";
import { find } from "../../../ui/frontend/dom/elements.js";
import { remembered } from "../../../ui/frontend/dom/memory.js";
import { describeEdit, wordNodes, wordText } from "../../../ui/frontend/state/edit_words.js";
import { clearChanges, onUndoKey, redoEdit, removeEdit, takeBackPart, toggleEdit, undoEdit } from "./edit_actions.js";
import { countChanges } from "./edit_history.js";
import { updateMenu } from "./edit_menus.js";
import { createEditPanel, drawEditPanel } from "./edit_panel.js";
import { formatEditList, parseEditList } from "./edit_text.js";

/** @import { ExplorePage, PartDifference } from "../types.js" */

/** Whether the panel of edits is open, and in it the list as text. */
const memory = remembered(() => ({ panel: false, text: false }));

/** Attaches the listeners of the list, once. @param {ExplorePage} page @returns {() => void} ends it */
export function listenToEdits(page) {
  const { changes, undo, redo, edits } = page.view.elements;
  const open = memory(page);
  changes.onclick = () => {
    open.panel = !open.panel;
    drawEdits(page);
  };
  /** @param {KeyboardEvent} event */
  const close = (event) => {
    if (event.key !== "Escape" || !open.panel) return;
    event.stopPropagation();
    open.panel = false;
    drawEdits(page);
    changes.focus();
  };
  for (const place of [changes.parentElement, edits]) place?.addEventListener("keydown", close);
  undo.onclick = () => undoEdit(page);
  redo.onclick = () => redoEdit(page);
  find(edits, ".as-text").onclick = () => {
    open.text = !open.text;
    drawEdits(page);
  };
  find(edits, ".clear").onclick = () => clearChanges(page);
  const box = find(edits, "textarea", HTMLTextAreaElement);
  const takeOver = () => page.change(parseEditList(box.value));
  box.onchange = takeOver;
  box.onkeydown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) takeOver();
  };
  createEditPanel(page);
  return listenTo(document, { keydown: (/** @type {KeyboardEvent} */ event) => onUndoKey(page, event) });
}

/** @param {ExplorePage} page */
export function drawEdits(page) {
  const { changes, undo, redo, latest, edits: panel } = page.view.elements;
  const { edits, disabled_edits, variant } = page.state.choice;
  const { history } = page.state;
  const open = memory(page);
  const count = countChanges({ edits, variant });
  /** @type {Text} */ (changes.firstChild).data = count
    ? `${count} ${count === 1 ? "change" : "changes"}`
    : "No changes";
  changes.classList.toggle("some", count > 0);
  changes.ariaExpanded = String(open.panel);
  undo.disabled = !history.canUndo({ edits, disabled_edits, variant });
  redo.disabled = !history.canRedo;
  undo.hidden = redo.hidden = undo.disabled && redo.disabled;
  latest.replaceChildren(...(open.panel ? [] : latestWords(page)));
  updateMenu(page);
  panel.hidden = !open.panel;
  if (!open.panel) return;
  const list = find(panel, "ol");
  drawEditList(page, list);
  find(panel, ".none").hidden = count + disabled_edits.length > 0;
  const [asText, box] = [find(panel, ".as-text"), find(panel, "textarea", HTMLTextAreaElement)];
  find(panel, ".clear").hidden = !(count + disabled_edits.length);
  asText.ariaPressed = String(open.text);
  box.hidden = !open.text;
  list.hidden = open.text;
  if (activeElement(box) !== box) box.value = formatEditList(page.state.choice);
  drawEditPanel(page);
}

/**
 * Rows that stay as they are keep their elements: a button that is replaced while it is pressed gets no click.
 * @param {ExplorePage} page @param {HTMLElement} list
 */
function drawEditList(page, list) {
  const { edits, disabled_edits } = page.state.choice;
  const rows = [
    ...replacedParts(page).map((part) => partRow(page, part)),
    ...edits.map((edit) => editRow(page, edit, true)),
    ...disabled_edits.map((edit) => editRow(page, edit, false)),
  ];
  const drawn = new Set(list.children);
  const kept = rows.map((row) => {
    const equal = [...drawn].find((each) => each.isEqualNode(row)) ?? row;
    drawn.delete(equal); // a link may list a change twice
    return equal;
  });
  updateChildren(list, ...kept);
}

/** The last edit, or else the last replaced part, in words. @param {ExplorePage} page */
function latestWords(page) {
  const edit = page.state.choice.edits.at(-1);
  if (edit) return wordNodes(describeEdit(page.state, edit));
  const part = replacedParts(page).at(-1);
  return part ? [`${part.title}: ${part.now}`] : [];
}

/** The replaced parts of the displayed answer that are still chosen. @param {ExplorePage} page */
function replacedParts(page) {
  const variant = /** @type {Record<string, string>} */ ({ ...page.state.choice.variant });
  return (page.state.latestAnswer?.differences ?? []).filter(({ field }) => variant[field]);
}

/** @param {ExplorePage} page @param {PartDifference} part */
function partRow(page, { field, title, was, now }) {
  const words = `${title}: ${now} instead of ${was}`;
  const description = createElement("span", "description", words);
  const drop = createButton("drop", "×", `part-drop-${field}`, () => takeBackPart(page, field));
  drop.ariaLabel = `Take back: ${words}`;
  return createElement("li", "", [createElement("i"), description, drop]);
}

/** @param {ExplorePage} page @param {string} edit @param {boolean} on */
function editRow(page, edit, on) {
  const words = describeEdit(page.state, edit);
  const row = createElement("li", on ? "" : "aside");
  row.classList.toggle("wrong", on && Boolean(page.state.problem) && page.state.problem.includes(edit));
  const toggle = createElement("button", "switch", [createElement("i")], { role: "switch", ariaChecked: String(on) });
  toggle.ariaLabel = wordText(words);
  toggle.title = on ? "Disable, and keep it in the list" : "Enable again";
  toggle.dataset.testid = `edit-switch-${edit}`;
  toggle.onclick = () => toggleEdit(page, edit);
  const description = createElement("span", "description", wordNodes(words), { title: edit });
  const drop = createButton("drop", "×", `edit-drop-${edit}`, () => removeEdit(page, edit));
  drop.ariaLabel = `Take back: ${wordText(words)}`;
  row.append(toggle, description, drop);
  return row;
}
