// Tables that are looked up by a name from outside.

/** The entries without what every object inherits: `constructor` or `__proto__` is no key of the table. */
export function table<Entries extends object>(entries: Entries): Entries {
  return Object.freeze(Object.assign(Object.create(null), entries));
}
