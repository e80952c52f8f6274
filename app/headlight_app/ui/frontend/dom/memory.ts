// Private data of a module for an object, such as the page that it draws.

/** @param begin creates the initial value */
export function remembered<Owner extends object, Value>(begin: (owner: Owner) => Value): (owner: Owner) => Value {
  const known: WeakMap<Owner, { value: Value }> = new WeakMap();
  return (owner) => {
    const found = known.get(owner) ?? { value: begin(owner) };
    known.set(owner, found);
    return found.value;
  };
}
