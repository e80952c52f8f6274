// What a module remembers of an object, such as a page that it draws, out of everybody else's reach.

/**
 * @template {object} Owner, Value @param {(owner: Owner) => Value} begin what is remembered at first
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
