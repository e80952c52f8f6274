// The text form of edits, PATH[INDEX]=OPERATION:NUMBER, as in model/headlight/tracing/interventions.py.

import { Refused } from "../../engine/refused.ts";
import { quoted } from "../../quoted.ts";
import type { ModelFacts } from "../types.ts";
import { known } from "../words.ts";
import { hookPointOf } from "./paths.ts";

const EDIT = /^([a-z_0-9.*]+)(?:\[([0-9:, ]*)\])?=([a-z]+)(?::(.+))?$/;
const RANGE = /^\s*(?:(\d{1,9})|(\d{0,9}):(\d{0,9}))\s*$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** From the first to before the end, or to the last. */
export type Range = readonly [number, number | null];

export interface Intervention {
  readonly path: string;
  readonly index: readonly Range[];
  readonly operation: string;
  readonly number: number;
}

/** Throws a Refused with a sentence about the fault. */
export function parseEdit(text: string, facts: ModelFacts): Intervention {
  const syntax = facts.sentences.edit_syntax;
  const match = EDIT.exec(text.trim());
  if (!match) throw new Refused(`${quoted(text)} is not an edit. ${syntax}`);
  const [, path, index, operation, number] = match as unknown as [string, string, string?, string?, string?];
  const { axes } = known(facts.hook_points, "hook point", hookPointOf(path));
  const { takes_number } = known(facts.operations, "edit operation", operation as string);
  if (takes_number !== (number !== undefined)) {
    const needs = takes_number ? "needs a number" : "takes no number";
    throw new Refused(
      `${quoted(operation as string)} ${needs}, but ${quoted(text)} gives ${number ?? "none"}. ${syntax}`,
    );
  }
  const ranges = index ? index.split(",").map((part) => parseRange(part, text)) : [];
  if (ranges.length > axes.length)
    throw new Refused(
      `${quoted(text)} counts along ${ranges.length} axes; ${path} has ${axes.length}: ${axes.join(", ")}.`,
    );
  while (ranges.length && isAll(ranges.at(-1) as Range)) ranges.pop();
  return { path, index: ranges, operation: operation as string, number: number ? parseNumber(number, text, facts) : 0 };
}

function isAll([first, end]: Range) {
  return first === 0 && end === null;
}

function parseRange(part: string, text: string): Range {
  const match = RANGE.exec(part);
  if (!match)
    throw new Refused(
      `${quoted(part)} in ${quoted(text)} is not an index; write a number, a range such as 2:5, or ':'.`,
    );
  if (match[1]) return [Number(match[1]), Number(match[1]) + 1];
  const [first, end] = [Number(match[2]), match[3] ? Number(match[3]) : null];
  if (end !== null && end <= first)
    throw new Refused(`The range ${quoted(part)} in ${quoted(text)} is empty; 2:5 means 2, 3 and 4.`);
  return [first, end];
}

function parseNumber(word: string, text: string, { limits, sentences }: ModelFacts): number {
  const number = NUMBER.test(word.trim()) ? Number(word) : Number.NaN;
  const most = limits.edit_magnitude;
  if (!(Math.abs(number) <= most))
    throw new Refused(
      `${quoted(word)} in ${quoted(text)} is not a number between -${most} and ${most}. ${sentences.edit_syntax}`,
    );
  return number;
}

/** The text form of an edit, as sentences name it. */
export function editText({ path, index, operation, number }: Intervention, facts: ModelFacts): string {
  const shown = index.map(([first, end]) => (end === first + 1 ? `${first}` : `${first || ""}:${end ?? ""}`));
  const place = shown.length ? `[${shown.join(",")}]` : "";
  return `${path}${place}=${operation}${facts.operations[operation].takes_number ? `:${written(number)}` : ""}`;
}

/** A number as Python writes it: very small and very large ones as in 1e-05 and 1e+20. */
function written(number: number): string {
  const size = Math.abs(number);
  if (size === 0 || (size >= 1e-4 && size < 1e16)) return String(number);
  return number.toExponential().replace(/(?<=[+-])(?=\d$)/, "0");
}

/** Whether an edit applies to the value at a path; `*` stands for every layer. */
export function matches(edit: Intervention, path: string): boolean {
  const [own, other] = [edit.path.split("."), path.split(".")];
  return own.length === other.length && own.every((part, place) => part === other[place] || part === "*");
}

/** An edit with a name of TransformerLens in Headlight's form; others are as they are. */
export function nativeEdit(text: string, { transformer_lens }: ModelFacts): string {
  const match = /^\s*([^[=]+?)\s*(?:\[([^\]]*)\])?\s*=(.*)$/s.exec(text);
  if (!match || !(match[1].includes("hook_") || match[1].startsWith("blocks."))) return text;
  const [, name, index, operation] = match;
  if (!Object.hasOwn(transformer_lens, name)) {
    const names = Object.keys(transformer_lens).filter((each) => !/\d/.test(each)); // "*" for every layer
    throw new Refused(`No value is called ${quoted(name)}. Known: ${names.join(", ")}.`);
  }
  const [path, isSwapped] = transformer_lens[name];
  const places = index === undefined ? [] : index.split(",");
  const [position, head = ":", ...others] = places;
  const ordered = isSwapped && places.length ? [head, position, ...others] : places;
  return `${path}${ordered.length ? `[${ordered.join(",")}]` : ""}=${operation}`;
}
