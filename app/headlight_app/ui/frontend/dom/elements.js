// The elements of a component's HTML, found once when it is mounted.

/** @import { CamelCase } from "../types.js" */

/**
 * @template {HTMLElement} [T=HTMLElement] @param {ParentNode} root @param {string} selector
 * @param {new () => T} [type] required type of the element @returns {T}
 */
export function find(root, selector, type) {
  const found = root.querySelector(selector);
  if (!(found instanceof (type ?? HTMLElement)))
    throw new Error(`The component's HTML has no ${type?.name ?? "element"} ${selector}.`);
  return /** @type {T} */ (found);
}

/** Functions that find elements by their data-testid, one for each type. @param {ParentNode} root */
export function elementsOf(root) {
  return {
    named: (/** @type {string} */ name) => findByTestId(root, name),
    button: (/** @type {string} */ name) => findByTestId(root, name, HTMLButtonElement),
    canvas: (/** @type {string} */ name) => findByTestId(root, name, HTMLCanvasElement),
    input: (/** @type {string} */ name) => findByTestId(root, name, HTMLInputElement),
    select: (/** @type {string} */ name) => findByTestId(root, name, HTMLSelectElement),
    box: (/** @type {string} */ name) => findByTestId(root, name, HTMLTextAreaElement),
  };
}

/**
 * Finds elements of one type by their data-testids, each under its name in camel case.
 * @template {string} Name @template {HTMLElement} [T=HTMLElement] @param {ParentNode} root @param {Name[]} names
 * @param {new () => T} [type] @param {string} [prefix] of each data-testid
 */
export function findAll(root, names, type, prefix = "") {
  const found = names.map((name) => [
    name.replace(/-./g, ([, letter]) => letter.toUpperCase()),
    findByTestId(root, prefix + name, type),
  ]);
  return /** @type {Record<CamelCase<Name>, T>} */ (Object.fromEntries(found));
}

/** Closes a dialog on a click beside it, and keeps letters typed there from acting as shortcuts. @param {HTMLDialogElement} sheet */
export function listenToSheet(sheet) {
  sheet.onclick = (event) => {
    if (event.target === sheet) sheet.close(); // outside the dialog's content
  };
  sheet.onkeydown = (event) => event.stopPropagation();
}

/**
 * @template {HTMLElement} [T=HTMLElement] @param {ParentNode} root @param {string} name its data-testid
 * @param {new () => T} [type] @returns {T}
 */
export function findByTestId(root, name, type) {
  return find(root, `[data-testid="${name}"]`, type);
}
