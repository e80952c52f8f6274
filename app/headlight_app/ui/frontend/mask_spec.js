// Masks as the address names them: a kind, and for some kinds an argument behind a colon: "causal+window:4". Cells that a
// person has painted, a query and a key each, turn round what the masks before them say: "causal+painted:3-1.4-1".

/** `base` are the masks that are painted over. @typedef {{ kind: string, argument: string, base: string }} MaskSpec */

/**
 * The argument behind a mask's colon, by its row in Python.
 * @typedef {{ title: string, default: string, control: "number" | "cells", limits: [number, number] }} MaskArgument
 */
/** @typedef {Partial<Record<string, MaskArgument>>} MaskArguments by the mask's kind */

const PAINTED = "painted";

/** @param {string} spec @returns {MaskSpec} */
export function parseMask(spec) {
  const parts = spec.split("+");
  const cells = parts.find((part) => part.startsWith(`${PAINTED}:`));
  if (cells !== undefined) {
    const base = parts.filter((part) => part !== cells).join("+");
    return { kind: PAINTED, argument: cells.slice(PAINTED.length + 1), base };
  }
  const colon = spec.indexOf(":");
  return colon < 0
    ? { kind: spec, argument: "", base: "" }
    : { kind: spec.slice(0, colon), argument: spec.slice(colon + 1), base: "" };
}

/**
 * A mask of a kind that was just chosen, with the argument to begin with where it needs one.
 * @param {string} kind @param {MaskArguments} maskArguments @param {string} before the mask that is on, which is painted
 */
export function defaultMask(kind, maskArguments, before) {
  const argument = maskArguments[kind];
  if (argument?.control === "cells") return paintedMask(before, "");
  return argument ? `${kind}:${argument.default}` : kind;
}

/** Masks with cells painted over them. @param {string} base @param {string} cells */
export function paintedMask(base, cells) {
  return `${base === "none" || !base ? "" : `${base}+`}${PAINTED}:${cells}`;
}
