// Masks as written in the address: a kind, and for some kinds an argument after a colon: "causal+window:4". Painted
// cells, a query and a key each, invert the masks before them: "causal+painted:3-1.4-1".

/** `base`: the masks below the painted cells. */
type MaskSpec = { kind: string; argument: string; base: string };

/** The argument of a mask, as described by its row in Python. */
type MaskArgument = { title: string; default: string; control: "number" | "cells"; limits: [number, number] };
export type MaskArguments = Partial<Record<string, MaskArgument>>; // by the mask's kind

const PAINTED = "painted";

export function parseMask(spec: string): MaskSpec {
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
 * A mask of a kind that was just chosen, with its default argument if it needs one.
 * @param before the current mask, to paint over
 */
export function defaultMask(kind: string, maskArguments: MaskArguments, before: string) {
  const argument = maskArguments[kind];
  if (argument?.control === "cells") return paintedMask(before, "");
  return argument ? `${kind}:${argument.default}` : kind;
}

/** Masks with cells painted over them. */
export function paintedMask(base: string, cells: string) {
  return `${base === "none" || !base ? "" : `${base}+`}${PAINTED}:${cells}`;
}
