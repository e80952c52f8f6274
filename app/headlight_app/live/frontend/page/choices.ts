// The choices of a live page: read from a link or a file, checked by the rules that Python writes, and filled up with
// those that the page opens with.

import type { ToldChoice } from "../../../explore/frontend/types.ts";
import type { State, Variant } from "../../../ui/frontend/contract.ts";
import { DEFAULT_STATE } from "../../../ui/frontend/contract.ts";
import { table } from "../../../ui/frontend/dom/table.ts";
import type { LiveData } from "./types.ts";

/** What a field admits, in JSON schema; patterns are those of JavaScript. */
export interface Rule {
  type?: "string" | "integer" | "array" | "null";
  enum?: string[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  items?: Rule;
  anyOf?: Rule[];
}

/** The rules of a state's fields, and of the parts of its variant. */
export interface Rules {
  state: Record<string, Rule>;
  variant: Record<string, Rule>;
}

export type Chosen = Partial<Omit<State, "variant">> & { variant?: Partial<Variant> };
type Opening = Pick<
  LiveData,
  "opening" | "opening_head" | "default_head" | "default_attention" | "settings" | "trained"
>;

/** The choices in the parameters of a link; unknown names and wrong values count as absent. */
export function readLink(parameters: string, rules: Rules): Chosen {
  const given = Object.fromEntries(new URLSearchParams(parameters));
  return { ...read(given, rules.state, decode), variant: read(given, rules.variant, decode) };
}

/** The choices that another source names, such as a file. */
export function fitting({ variant, ...given }: Record<string, unknown>, rules: Rules): Chosen {
  const parts = typeof variant === "object" ? (variant ?? {}) : {};
  return { ...read(given, rules.state), ...(variant === undefined ? {} : { variant: read(parts, rules.variant) }) };
}

function read(given: object, rules: Record<string, Rule>, decoded = (value: unknown, _: Rule) => value) {
  const known = table(rules);
  const found = Object.entries(given).flatMap(([name, written]) => {
    const rule = known[name];
    const value = rule && decoded(written, rule);
    return rule && fits(value, rule) ? [[name, value]] : [];
  });
  return Object.fromEntries(found);
}

/** A value of the rule's type from a parameter. */
function decode(written: unknown, rule: Rule): unknown {
  const text = String(written);
  if (rule.type === "integer") return /^-?\d+$/.test(text) ? Number(text) : null;
  if (rule.type !== "array") return text;
  const parts = text.split(";").filter(Boolean);
  if (rule.items?.type !== "integer") return parts;
  return [...new Set(parts.map((part) => decode(part, { type: "integer" }) as number))].sort(
    (one, other) => one - other,
  );
}

function fits(value: unknown, rule: Rule): boolean {
  if (rule.anyOf) return rule.anyOf.some((one) => fits(value, one));
  if (rule.type === "null") return value === null;
  if (rule.type === "integer") return Number.isInteger(value) && isWithin(value as number, rule);
  if (rule.type === "array") {
    const { maxItems = Number.POSITIVE_INFINITY, items = {} } = rule;
    return Array.isArray(value) && value.length <= maxItems && value.every((each) => fits(each, items));
  }
  if (typeof value !== "string" || value.length > (rule.maxLength ?? Number.POSITIVE_INFINITY)) return false;
  if (rule.enum && !rule.enum.includes(value)) return false;
  return value.isWellFormed() && (!rule.pattern || new RegExp(rule.pattern).test(value));
}

function isWithin(value: number, { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY }: Rule) {
  return value >= minimum && value <= maximum;
}

/** The choices that a page opens with, as `show_instrument` in Python. */
export function filled(chosen: Chosen, opening: Opening): ToldChoice {
  const replaced = Object.entries({ ...DEFAULT_STATE.variant, ...chosen.variant });
  // A part that is chosen as it was trained counts as not chosen.
  const variant = replaced.map(([field, name]) => [
    field,
    name === opening.trained[field as keyof Variant] ? "" : name,
  ]);
  const all = { ...DEFAULT_STATE, ...chosen, variant: Object.fromEntries(variant) as Variant };
  const isOpening = all.text === null && all.source === null;
  const unsaid = (isOpening && opening.opening_head) || opening.default_head;
  const [layer, head] = Math.max(all.layer, all.head) < 0 ? unsaid : [Math.max(all.layer, 0), Math.max(all.head, 0)];
  const told = {
    ...all,
    layer,
    head,
    text: all.text ?? opening.opening.text,
    source: all.source ?? opening.opening.source,
    attention: all.attention || opening.default_attention,
  };
  const others = Object.entries(told).filter(([name]) => !(name in opening.settings));
  return Object.fromEntries(others) as unknown as ToldChoice;
}
