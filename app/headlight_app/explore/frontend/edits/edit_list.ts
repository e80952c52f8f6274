// The changes to the model, edits and replaced parts: a list to read, switch, undo and redo one by one, and copy as
// text.

import { activeElement, createButton, createElement, listenTo, updateChildren } from "../../../ui/frontend/dom/dom.ts";
import { find } from "../../../ui/frontend/dom/elements.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import { describeEdit, wordNodes, wordText } from "../../../ui/frontend/state/edit_words.ts";
import type { ExplorePage, PartDifference } from "../types.ts";
import { clearChanges, onUndoKey, redoEdit, removeEdit, takeBackPart, toggleEdit, undoEdit } from "./edit_actions.ts";
import { countChanges } from "./edit_history.ts";
import { updateMenu } from "./edit_menus.ts";
import { createEditPanel, drawEditPanel } from "./edit_panel.ts";
import { formatEditList, parseEditList } from "./edit_text.ts";

/** Whether the panel of edits is open, and in it the list as text. */
const memory = remembered(() => ({ panel: false, text: false }));

/** Attaches the listeners of the list, once. @returns ends it */
export function listenToEdits(page: ExplorePage): () => void {
  const { changes, undo, redo, edits } = page.view.elements;
  const open = memory(page);
  changes.onclick = () => {
    open.panel = !open.panel;
    drawEdits(page);
  };
  const close = (event: KeyboardEvent) => {
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
  return listenTo(document, { keydown: (event: KeyboardEvent) => onUndoKey(page, event) });
}

export function drawEdits(page: ExplorePage) {
  const { changes, undo, redo, latest, edits: panel } = page.view.elements;
  const { edits, disabled_edits, variant } = page.state.choice;
  const { history } = page.state;
  const open = memory(page);
  const count = countChanges({ edits, variant });
  (changes.firstChild as Text).data = count ? `${count} ${count === 1 ? "change" : "changes"}` : "No changes";
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

/** Rows that stay as they are keep their elements: a button that is replaced while it is pressed gets no click. */
function drawEditList(page: ExplorePage, list: HTMLElement) {
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

/** The last edit, or else the last replaced part that has no list in sight, in words. */
function latestWords(page: ExplorePage) {
  const edit = page.state.choice.edits.at(-1);
  if (edit) return wordNodes(describeEdit(page.state, edit));
  const inSight = page.state.catalogue.variants.fields.map((part): string => part.field);
  const part = replacedParts(page).findLast((each) => !inSight.includes(each.field));
  return part ? [`${part.title}: ${part.now}`] : [];
}

/** The replaced parts of the displayed answer that are still chosen. */
function replacedParts(page: ExplorePage) {
  const variant = { ...page.state.choice.variant } as Record<string, string>;
  return (page.state.latestAnswer?.differences ?? []).filter(({ field }) => variant[field]);
}

function partRow(page: ExplorePage, { field, title, was, now }: PartDifference) {
  const words = `${title}: ${now} instead of ${was}`;
  const description = createElement("span", "description", words);
  const drop = createButton("drop", "×", `part-drop-${field}`, () => takeBackPart(page, field));
  drop.ariaLabel = `Take back: ${words}`;
  return createElement("li", "", [createElement("i"), description, drop]);
}

function editRow(page: ExplorePage, edit: string, on: boolean) {
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
