// The elements of a component's HTML, found once when it is mounted.

/**
 * @template {HTMLElement} [T=HTMLElement] @param {ParentNode} root @param {string} selector
 * @param {new () => T} [type] what the element has to be @returns {T}
 */
export function find(root, selector, type) {
  const found = root.querySelector(selector);
  if (!(found instanceof (type ?? HTMLElement)))
    throw new Error(`The component's HTML has no ${type?.name ?? "element"} ${selector}.`);
  return /** @type {T} */ (found);
}

/** Finds elements by their data-testid, each of its type. @param {ParentNode} root */
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
 * @template {HTMLElement} [T=HTMLElement] @param {ParentNode} root @param {string} name its data-testid
 * @param {new () => T} [type] @returns {T}
 */
export function findByTestId(root, name, type) {
  return find(root, `[data-testid="${name}"]`, type);
}
