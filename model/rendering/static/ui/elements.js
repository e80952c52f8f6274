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

/**
 * @template {HTMLElement} [T=HTMLElement] @param {ParentNode} root @param {string} name its data-testid
 * @param {new () => T} [type] @returns {T}
 */
export function findByTestId(root, name, type) {
  return find(root, `[data-testid="${name}"]`, type);
}
