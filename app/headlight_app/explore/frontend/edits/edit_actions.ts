// Changes to the list of edits: each is one change of the page's choice.

import { AS_TRAINED } from "../../../ui/frontend/contract.ts";
import type { ExplorePage } from "../types.ts";
import type { Changes } from "./edit_history.ts";

export function addEdits(page: ExplorePage, added: string[]) {
  const { edits, disabled_edits } = page.state.choice;
  const others = (list: string[]) => list.filter((edit) => !added.includes(edit));
  page.change({ edits: [...others(edits), ...added], disabled_edits: others(disabled_edits) });
}

export function removeEdit(page: ExplorePage, edit: string) {
  const { edits, disabled_edits } = page.state.choice;
  page.change({
    edits: edits.filter((other) => other !== edit),
    disabled_edits: disabled_edits.filter((other) => other !== edit),
  });
}

/** Replaces all edits that match a test by one edit, or removes them. */
export function replaceEdit(page: ExplorePage, picks: (edit: string) => boolean, edit: string | null) {
  const { edits } = page.state.choice;
  const place = edits.findIndex(picks);
  const rest = edits.filter((other) => !picks(other));
  if (edit) rest.splice(place < 0 ? rest.length : place, 0, edit);
  if (JSON.stringify(rest) !== JSON.stringify(edits)) page.change({ edits: rest });
}

/** Disables an edit without losing it, or enables it again. */
export function toggleEdit(page: ExplorePage, edit: string) {
  const { edits, disabled_edits } = page.state.choice;
  if (edits.includes(edit))
    return page.change({ edits: edits.filter((other) => other !== edit), disabled_edits: [...disabled_edits, edit] });
  addEdits(page, [edit]);
}

/** The part before the "=": the values that an edit changes. */
function editSubject(edit: string) {
  return edit.slice(0, edit.indexOf("="));
}

export function toggleEdits(page: ExplorePage, wanted: string[]) {
  page.change({ edits: toggledEdits(page, wanted) });
}

/** The edits with the wanted ones, which replace others of the same values; without them if all are there already. */
export function toggledEdits(page: ExplorePage, wanted: string[]) {
  const { edits } = page.state.choice;
  const there = wanted.every((edit) => edits.includes(edit));
  const subjects = wanted.map(editSubject);
  const others = edits.filter((edit) => !subjects.includes(editSubject(edit)));
  return there ? others : [...others, ...wanted];
}

export function hasEdits(page: ExplorePage, wanted: string[]) {
  return wanted.length > 0 && wanted.every((edit) => page.state.choice.edits.includes(edit));
}

export function undoEdit(page: ExplorePage) {
  page.state.history.undo(page.state.choice, (changes) => restoreChanges(page, changes));
}

export function redoEdit(page: ExplorePage) {
  page.state.history.redo(page.state.choice, (changes) => restoreChanges(page, changes));
}

/** Restores the model as trained. */
export function clearChanges(page: ExplorePage) {
  restoreChanges(page, { edits: [], disabled_edits: [], variant: AS_TRAINED });
}

/** @param part the field of a variant */
export function takeBackPart(page: ExplorePage, part: string) {
  const { edits, disabled_edits, variant } = page.state.choice;
  restoreChanges(page, { edits, disabled_edits, variant: { ...variant, [part]: "" } });
}

/** Notifies the sidebar of changed parts at once. */
function restoreChanges(page: ExplorePage, { variant, ...lists }: Changes) {
  const replaces = JSON.stringify(variant) !== JSON.stringify(page.state.choice.variant);
  page.change(replaces ? { ...lists, variant } : lists);
  if (replaces) page.reporter.flush();
}

/** Ctrl+Z and Ctrl+Shift+Z (or Ctrl+Y) anywhere except in text fields. */
export function onUndoKey(page: ExplorePage, event: KeyboardEvent) {
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
