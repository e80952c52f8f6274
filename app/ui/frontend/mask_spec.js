// Masks as the address names them: a kind, and for some kinds an argument behind a colon: "causal+window:4", "custom:100/110/111".

/** @typedef {{ kind: string, argument: string }} MaskSpec */

/**
 * What stands behind a mask's colon, as its row in Python says.
 * @typedef {{ title: string, default: string, control: "number" | "matrix", limits: [number, number] }} MaskArgument
 */
/** @typedef {Partial<Record<string, MaskArgument>>} MaskArguments by the mask's kind */

/** @param {string} spec @returns {MaskSpec} */
export function parseMask(spec) {
  const colon = spec.indexOf(":");
  return colon < 0 ? { kind: spec, argument: "" } : { kind: spec.slice(0, colon), argument: spec.slice(colon + 1) };
}

/**
 * A mask of a kind that was just chosen, with the argument to begin with where it needs one.
 * @param {string} kind @param {MaskArguments} maskArguments
 */
export function defaultMask(kind, maskArguments) {
  const argument = maskArguments[kind];
  return argument ? `${kind}:${argument.default}` : kind;
}

/**
 * A mask of a kind by a matrix that somebody typed, rows on lines of their own or parted by /.
 * @param {string} kind @param {string} typed
 */
export function matrixMask(kind, typed) {
  const rows = typed.trim().split(/[\s/]+/);
  return `${kind}:${rows.join("/")}`;
}
