// Tables that are looked up by a name from outside.

/**
 * The entries without what every object inherits: `constructor` or `__proto__` is no key of the table.
 * @template {object} Entries @param {Entries} entries @returns {Entries}
 */
export function table(entries) {
  return Object.freeze(Object.assign(Object.create(null), entries));
}
