// Changes to the list of edits: each is one change of the page's choice.

import { AS_TRAINED } from "./edit_history.js";

/** @import { ExplorePage } from "../types.js" */
/** @import { Changes } from "./edit_history.js" */

/** @param {ExplorePage} page @param {string[]} added */
export function addEdits(page, added) {
  const { edits, disabled_edits } = page.state.choice;
  /** @param {string[]} list */
  const others = (list) => list.filter((edit) => !added.includes(edit));
  page.change({ edits: [...others(edits), ...added], disabled_edits: others(disabled_edits) });
}

/** @param {ExplorePage} page @param {string} edit */
export function removeEdit(page, edit) {
  const { edits, disabled_edits } = page.state.choice;
  page.change({
    edits: edits.filter((other) => other !== edit),
    disabled_edits: disabled_edits.filter((other) => other !== edit),
  });
}

/**
 * Replaces all edits that match a test by one edit, or removes them.
 * @param {ExplorePage} page @param {(edit: string) => boolean} picks @param {string | null} edit
 */
export function replaceEdit(page, picks, edit) {
  const { edits } = page.state.choice;
  const place = edits.findIndex(picks);
  const rest = edits.filter((other) => !picks(other));
  if (edit) rest.splice(place < 0 ? rest.length : place, 0, edit);
  if (JSON.stringify(rest) !== JSON.stringify(edits)) page.change({ edits: rest });
}

/** Disables an edit without losing it, or enables it again. @param {ExplorePage} page @param {string} edit */
export function toggleEdit(page, edit) {
  const { edits, disabled_edits } = page.state.choice;
  if (edits.includes(edit))
    return page.change({ edits: edits.filter((other) => other !== edit), disabled_edits: [...disabled_edits, edit] });
  addEdits(page, [edit]);
}

/** The part before the "=": the values that an edit changes. @param {string} edit */
function editSubject(edit) {
  return edit.slice(0, edit.indexOf("="));
}

/** @param {ExplorePage} page @param {string[]} wanted */
export function toggleEdits(page, wanted) {
  page.change({ edits: toggledEdits(page, wanted) });
}

/**
 * The edits with the wanted ones, which replace others of the same values; without them if all are there already.
 * @param {ExplorePage} page @param {string[]} wanted
 */
export function toggledEdits(page, wanted) {
  const { edits } = page.state.choice;
  const there = wanted.every((edit) => edits.includes(edit));
  const subjects = wanted.map(editSubject);
  const others = edits.filter((edit) => !subjects.includes(editSubject(edit)));
  return there ? others : [...others, ...wanted];
}

/** @param {ExplorePage} page @param {string[]} wanted */
export function hasEdits(page, wanted) {
  return wanted.length > 0 && wanted.every((edit) => page.state.choice.edits.includes(edit));
}

/** @param {ExplorePage} page */
export function undoEdit(page) {
  page.state.history.undo(page.state.choice, (changes) => restoreChanges(page, changes));
}

/** @param {ExplorePage} page */
export function redoEdit(page) {
  page.state.history.redo(page.state.choice, (changes) => restoreChanges(page, changes));
}

/** Restores the model as trained. @param {ExplorePage} page */
export function clearChanges(page) {
  restoreChanges(page, { edits: [], disabled_edits: [], variant: AS_TRAINED });
}

/** @param {ExplorePage} page @param {string} part the field of a variant */
export function takeBackPart(page, part) {
  const { edits, disabled_edits, variant } = page.state.choice;
  restoreChanges(page, { edits, disabled_edits, variant: { ...variant, [part]: "" } });
}

/** Notifies the sidebar of changed parts at once. @param {ExplorePage} page @param {Changes} changes */
function restoreChanges(page, { variant, ...lists }) {
  const replaces = JSON.stringify(variant) !== JSON.stringify(page.state.choice.variant);
  page.change(replaces ? { ...lists, variant } : lists);
  if (replaces) page.reporter.flush();
}

/**
 * Ctrl+Z and Ctrl+Shift+Z (or Ctrl+Y) anywhere except in text fields.
 * @param {ExplorePage} page @param {KeyboardEvent} event
 */
export function onUndoKey(page, event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  const [target] = event.composedPath();
  if (
    target instanceof Element &&
    target.closest('textarea, [contenteditable="true"], input:not([type="range"], [type="checkbox"])')
  )
    return;
  const key = event.key.toLowerCase();
  if (key !== "z" && key !== "y") return;
  event.preventDefault();
  (key === "y" || event.shiftKey ? redoEdit : undoEdit)(page);
}
