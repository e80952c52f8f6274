// The elements of a component's HTML, found once when it is mounted.

import type { CamelCase } from "../types.ts";

/** @param type required type of the element */
export function find<T extends HTMLElement = HTMLElement>(root: ParentNode, selector: string, type?: new () => T): T {
  const found = root.querySelector(selector);
  if (!(found instanceof (type ?? HTMLElement)))
    throw new Error(`The component's HTML has no ${type?.name ?? "element"} ${selector}.`);
  return found as T;
}

/** Functions that find elements by their data-testid, one for each type. */
export function elementsOf(root: ParentNode) {
  return {
    named: (name: string) => findByTestId(root, name),
    button: (name: string) => findByTestId(root, name, HTMLButtonElement),
    canvas: (name: string) => findByTestId(root, name, HTMLCanvasElement),
    input: (name: string) => findByTestId(root, name, HTMLInputElement),
    select: (name: string) => findByTestId(root, name, HTMLSelectElement),
    box: (name: string) => findByTestId(root, name, HTMLTextAreaElement),
  };
}

/**
 * Finds elements of one type by their data-testids, each under its name in camel case.
 * @param prefix of each data-testid
 */
export function findAll<Name extends string, T extends HTMLElement = HTMLElement>(
  root: ParentNode,
  names: Name[],
  type?: new () => T,
  prefix: string = "",
) {
  const found = names.map((name) => [
    name.replace(/-./g, ([, letter]) => letter.toUpperCase()),
    findByTestId(root, prefix + name, type),
  ]);
  return Object.fromEntries(found) as Record<CamelCase<Name>, T>;
}

/** Closes a dialog on a click beside it, and keeps letters typed there from acting as shortcuts. */
export function listenToSheet(sheet: HTMLDialogElement) {
  sheet.onclick = (event) => {
    if (event.target === sheet) sheet.close(); // outside the dialog's content
  };
  sheet.onkeydown = (event) => event.stopPropagation();
}

/** @param name its data-testid */
export function findByTestId<T extends HTMLElement = HTMLElement>(
  root: ParentNode,
  name: string,
  type?: new () => T,
): T {
  return find(root, `[data-testid="${name}"]`, type);
}
