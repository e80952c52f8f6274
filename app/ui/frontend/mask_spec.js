// Masks as the address names them: a kind, and for some kinds an argument behind a colon: "causal+window:4", "custom:100/110/111".

/** @typedef {{ kind: string, argument: string }} MaskSpec */

/**
 * @param {string} spec
 * @returns {MaskSpec}
 */
export function parseMask(spec) {
  const colon = spec.indexOf(":");
  return colon < 0 ? { kind: spec, argument: "" } : { kind: spec.slice(0, colon), argument: spec.slice(colon + 1) };
}

/** @param {string} kind */
export function hasWindow(kind) {
  return kind.endsWith("window");
}

/**
 * A mask of a kind that was just chosen, with the argument to begin with.
 * @param {string} kind
 * @param {{ width: number, matrix: string }} defaults window width in tokens; a row for each query, parted by /
 */
export function defaultMask(kind, { width, matrix }) {
  if (kind === "custom") return `custom:${matrix}`;
  return hasWindow(kind) ? `${kind}:${width}` : kind;
}

/**
 * A matrix that somebody typed, rows on lines of their own or parted by /.
 * @param {string} typed
 */
export function customMask(typed) {
  return `custom:${typed
    .trim()
    .split(/[\s/]+/)
    .join("/")}`;
}
