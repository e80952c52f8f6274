// Private data of a module for an object, such as the page that it draws.

/**
 * @template {object} Owner, Value @param {(owner: Owner) => Value} begin creates the initial value
 * @returns {(owner: Owner) => Value}
 */
export function remembered(begin) {
  /** @type {WeakMap<Owner, { value: Value }>} */
  const known = new WeakMap();
  return (owner) => {
    const found = known.get(owner) ?? { value: begin(owner) };
    known.set(owner, found);
    return found.value;
  };
}
