// Masks: which query may attend to which key, as in model/headlight/nn/masks.py.

import { Refused } from "../engine/refused.ts";
import { quoted } from "../quoted.ts";
import type { ModelFacts } from "./types.ts";
import { known } from "./words.ts";

const NO_MASK = "none";
const CELLS = /^(\d{1,9}-\d{1,9}(\.\d{1,9}-\d{1,9})*)?$/;

/** Whether a query may attend to a key in a text of some length; a mask that `inverts` inverts those before it there. */
export interface Mask {
  /** Its name, and its argument after a colon. */
  readonly text: string;
  readonly inverts: boolean;
  readonly cells: (length: number) => (query: number, key: number) => boolean;
}

type Cells = Mask["cells"];

/** What each mask's argument makes of it. */
const CELLS_OF: ReadonlyMap<string, (argument: string) => Cells> = new Map<string, (argument: string) => Cells>([
  ["causal", () => () => (query, key) => key <= query],
  ["window", (text) => within("window", "a width", text, (width) => (query, key) => Math.abs(query - key) < width)],
  [
    "chunks",
    (text) =>
      within("chunks", "a length", text, (size) => (query, key) => Math.floor(query / size) === Math.floor(key / size)),
  ],
  ["padding", () => () => () => true],
  ["custom", custom],
  ["painted", painted],
]);

/** `causal+window:8` as masks; `none` or an empty text is no mask. */
export function parseMasks(text: string, { masks }: ModelFacts): Mask[] {
  const parts = text.split("+").map((part) => part.trim());
  return parts.filter((part) => part && part !== NO_MASK).map((part) => parseMask(part, masks));
}

function parseMask(text: string, masks: ModelFacts["masks"]): Mask {
  const colon = text.indexOf(":");
  const [name, argument] = colon < 0 ? [text, ""] : [text.slice(0, colon), text.slice(colon + 1)];
  const { control, inverts } = known(masks, "mask", name);
  if (!control && argument)
    throw new Refused(`The mask ${quoted(name)} takes no argument, but ${quoted(text)} gives one.`);
  const cells = CELLS_OF.get(name)?.(argument);
  if (!cells) throw new Refused(`A page without a server does not know the mask ${quoted(name)}.`);
  return { text, inverts, cells };
}

/** The cells that masks allow together, row by row, as 0 and 1. */
export function allowedCells(masks: readonly Mask[], length: number): Float32Array {
  const found = new Float32Array(length * length).fill(1);
  for (const { inverts, cells } of masks) {
    const isIn = cells(length);
    for (let query = 0; query < length; query++)
      for (let key = 0; key < length; key++) {
        const at = query * length + key;
        const cell = isIn(query, key);
        found[at] = Number(inverts ? Boolean(found[at]) !== cell : found[at] && cell);
      }
  }
  return found;
}

/** The title of masks: `Causal + sliding window (4)`. */
export function masksTitle(parts: readonly string[], { masks }: ModelFacts): string {
  const titles = parts.map((part) => {
    const [name, argument = ""] = part.split(/:(.*)/s);
    const { title, control } = known(masks, "mask", name);
    return control === "number" ? `${title} (${argument})` : title;
  });
  const together = titles.join(" + ");
  return together[0] + together.slice(1).toLowerCase();
}

/** The masks as a config has them: their texts, without those that mean nothing. */
export function masksText(masks: readonly Mask[]): string {
  return masks.map(({ text }) => text).join("+") || NO_MASK;
}

/** Masks for a text that has grown: a new token attends to all before it and itself, and no earlier token to it. */
export function extended(text: string, oldLength: number, length: number): string {
  return text.replace(/custom:([01/]+)/g, (mask, argument: string) => {
    const rows = argument.split("/");
    if (rows.length !== oldLength) return mask;
    const more = Array.from({ length: length - oldLength }, (_, place) => oldLength + place + 1);
    const all = [
      ...rows.map((row) => row.padEnd(row.length + more.length, "0")),
      ...more.map((ones) => "1".repeat(ones).padEnd(length, "0")),
    ];
    return `custom:${all.join("/")}`;
  });
}

function within(
  name: string,
  what: string,
  text: string,
  isIn: (size: number) => (query: number, key: number) => boolean,
): Cells {
  if (!/^\d{1,9}$/.test(text) || Number(text) === 0)
    throw new Refused(`The mask '${name}:${text}' needs ${what} of at least one token, as in '${name}:8'.`);
  return () => isIn(Number(text));
}

function custom(text: string): Cells {
  const rows = text.split("/");
  if (!/^[01/]+$/.test(text) || rows.some((row) => row.length !== rows.length))
    throw new Refused("A custom mask is a square of 0 and 1 with '/' between its rows, as in 'custom:100/110/111'.");
  return (length) => {
    if (length !== rows.length)
      throw new Refused(
        `The custom mask is ${rows.length} x ${rows.length}, but the text has ${length} tokens; both must be the same.`,
      );
    return (query, key) => rows[query][key] === "1";
  };
}

function painted(text: string): Cells {
  if (!CELLS.test(text))
    throw new Refused(
      `Each painted cell is a query and a key, as in 'painted:3-1.4-1', not ${quoted(text.slice(0, 40))}.`,
    );
  const cells = new Set(
    text
      .split(".")
      .filter(Boolean)
      .map((cell) => cell.split("-").map(Number).join("-")),
  );
  return () => (query, key) => cells.has(`${query}-${key}`);
}
